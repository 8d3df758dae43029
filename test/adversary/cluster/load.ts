import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256Hex } from '../../../src/crypto/digest.ts';
import type { Chance } from '../../support/chance.ts';
import { askOnce, ConnectionLost, HttpClient, NobodyListens } from '../../support/http.ts';
import { PureSeen } from '../clients/acknowledged.ts';
import type { ClusterNode } from './node.ts';

/** What the clients of a cluster ask with, and how much each account may spend this month. */
export interface LoadAccount {
  readonly id: string;
  readonly key: string;
  readonly requestsMax: number;
  readonly creditsMax: number;
}

/** One answer that a client got in full. */
export interface Acknowledged {
  readonly certificateId: string;
  readonly requestId: string;
  readonly accountId: string;
  readonly credits: number;
}

/** A request under an Idempotency-Key, which is asked again until its outcome is known. */
interface KeyedRequest {
  readonly idempotencyKey: string;
  /** SHA-256 of the first answer. */
  first: string | undefined;
}

/** A signed state of the log that a node showed. */
export interface SeenCheckpoint {
  readonly node: string;
  readonly size: number;
  /** Base64. */
  readonly root: string;
}

/** A node that is paused or cut off answers nothing: the client goes away, and does not know what became of it. */
const ANSWER_WITHIN_MS = 8_000;
const PURE_BYTES = 24;
/** Pauses of a client whom no node answers. */
const AWAY_MS = 20;
const CHECKPOINT_EVERY_MS = 150;
const VIOLATIONS_MAX = 50;
/** Keys that are asked again and again. */
const KEYS_KEPT = 32;

export interface Accounts {
  /** Asks for quantum-seeded values, each request once, and never runs dry: the service answers it between all faults. */
  readonly steady: LoadAccount;
  /** Asks for quantum-seeded values, each request once. */
  readonly plain: LoadAccount;
  /** Asks for pure bytes, each request once. */
  readonly pure: LoadAccount;
  /** Asks under idempotency keys. */
  readonly keyed: LoadAccount;
}

/** Clients that ask every node, and keep books of all that was acknowledged. */
export class Load {
  readonly acknowledged: Acknowledged[] = [];
  readonly checkpoints: SeenCheckpoint[] = [];
  /** What no node may ever do, in words. */
  readonly violations: string[] = [];
  /** Answers by status and code. */
  readonly outcomes = new Map<string, number>();
  /** Idempotency keys whose answer is known. */
  keysAnswered = 0;
  /** Those that were given up, of which nobody knows. */
  keysUnknown = 0;
  /** Requests without a key whose connection was lost: they may have been charged. */
  unknown = 0;
  readonly #nodes: readonly ClusterNode[];
  readonly #accounts: Accounts;
  readonly #chance: Chance;
  readonly #pure = new PureSeen({ isSampled: false });
  readonly #largest = new Map<string, number>();
  /** The first that was seen of each size. */
  readonly #roots = new Map<number, SeenCheckpoint>();
  readonly #keyed: KeyedRequest[] = [];
  #running: Promise<unknown>[] = [];
  #isStopping = false;
  #isSettling = false;
  #lastAnswerAtMs = 0;
  #turn = 0;

  constructor(nodes: readonly ClusterNode[], accounts: Accounts, chance: Chance) {
    this.#nodes = nodes;
    this.#accounts = accounts;
    this.#chance = chance;
  }

  /** When the last answer with values came. */
  get lastAnswerAtMs(): number {
    return this.#lastAnswerAtMs;
  }

  start(clients: number): void {
    this.#isStopping = false;
    for (let client = 0; client < clients; client++) this.#running.push(this.#client(client));
    this.#running.push(this.#watchLog());
  }

  /** Resolves when everything that was asked has its answer, or lost it. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
    this.#running = [];
  }

  /** Asks again for what is not known yet, until it is. */
  async settle(withinMs: number): Promise<void> {
    this.#isSettling = true;
    const end = performance.now() + withinMs;
    const clients = new Map<ClusterNode, HttpClient>();
    while (this.#keyed.length > 0 && performance.now() < end) await this.#askKeyed(clients, true);
    for (const each of clients.values()) each.close();
    this.keysUnknown += this.#keyed.filter(({ first }) => first === undefined).length;
    this.#isSettling = false;
  }

  async #client(client: number): Promise<void> {
    const clients = new Map<ClusterNode, HttpClient>();
    const { steady, plain, pure } = this.#accounts;
    // Each client asks for one kind: pure bytes may have to be waited for.
    const kind = client % 4;
    // And asks one node, so that one that hangs does not hang them all. Keys are asked again of any node.
    const node = this.#nodes[Math.floor(client / 4) % this.#nodes.length];
    const ask = (account: LoadAccount, target: string) => this.#askOnce(clients, node, account, target);
    while (!this.#isStopping) {
      if (kind === 0) await this.#askKeyed(clients, false);
      else if (kind === 1) await ask(pure, `/v1/bytes?count=${PURE_BYTES}&entropy_mode=pure`);
      else {
        const account = kind === 2 ? plain : steady;
        await ask(account, '/v1/integers?count=3&min=1&max=6&entropy_mode=quantum-seeded');
      }
    }
    for (const each of clients.values()) each.close();
  }

  async #askOnce(
    clients: Map<ClusterNode, HttpClient>,
    node: ClusterNode,
    account: LoadAccount,
    target: string,
  ): Promise<void> {
    const reply = await this.#ask(clients, node, account, target);
    if (reply === 'lost') this.unknown++;
    else if (reply !== 'away' && reply.status === 200) this.#acknowledge(account, reply.body);
  }

  /** A new key, or one whose answer is to come again. */
  async #askKeyed(clients: Map<ClusterNode, HttpClient>, onlyOld: boolean): Promise<void> {
    const isNew = !onlyOld && this.#turn++ % 2 === 0;
    const request = isNew ? { idempotencyKey: randomUUID(), first: undefined } : this.#keyed.shift();
    if (request === undefined) return;
    const { keyed } = this.#accounts;
    const target = '/v1/integers?count=4&min=1&max=1000000&entropy_mode=quantum-seeded';
    const node = this.#chance.pick(this.#nodes);
    const reply = await this.#ask(clients, node, keyed, target, request.idempotencyKey);
    if (reply === 'away' || reply === 'lost' || reply.status !== 200) {
      const isRefusedForGood = reply !== 'away' && reply !== 'lost' && reply.status === 429;
      if (!(isNew && isRefusedForGood)) this.#keyed.push(request);
      return;
    }
    const digest = sha256Hex(reply.body);
    if (request.first === undefined) {
      request.first = digest;
      this.keysAnswered++;
      this.#acknowledge(keyed, reply.body);
      this.#keyed.push(request); // it is asked once more, of whichever node
    } else if (request.first !== digest) {
      this.#violate(`the key ${request.idempotencyKey} was answered twice, with different bodies`);
    } else if (!onlyOld && this.#keyed.length < KEYS_KEPT) {
      this.#keyed.push(request); // repetitions cost nothing: they are answered when the totals have run dry too
    }
  }

  async #ask(
    clients: Map<ClusterNode, HttpClient>,
    node: ClusterNode,
    { key }: LoadAccount,
    target: string,
    idempotencyKey?: string,
  ): Promise<{ status: number; body: Buffer } | 'away' | 'lost'> {
    if (node.port === undefined) {
      await sleep(AWAY_MS);
      return 'away';
    }
    const client = clients.get(node) ?? new HttpClient(node.port);
    clients.set(node, client);
    const headers: [string, string][] = [['authorization', `Bearer ${key}`]];
    if (idempotencyKey !== undefined) headers.push(['idempotency-key', idempotencyKey]);
    try {
      const reply = await client.send({ method: 'GET', target, headers }, { lostAfterMs: ANSWER_WITHIN_MS });
      const code = reply.status === 200 ? '' : ` ${/"code":"(\w+)"/.exec(reply.body.toString())?.[1]}`;
      const outcome = `${reply.status}${code}`;
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
      if (reply.status === 200) this.#lastAnswerAtMs = performance.now();
      else await sleep(AWAY_MS);
      if (reply.status >= 500 && reply.status !== 503) this.#violate(`${node.name} answered ${outcome}`);
      if (reply.status === 401 || reply.status === 403) this.#violate(`${node.name} answered ${outcome}`);
      return reply;
    } catch (error) {
      client.close();
      if (!(error instanceof ConnectionLost)) throw error;
      if (!(error instanceof NobodyListens)) return 'lost';
      await sleep(AWAY_MS);
      return 'away';
    }
  }

  #acknowledge({ id }: LoadAccount, body: Buffer): void {
    const answer = JSON.parse(body.toString('utf8')) as {
      data: { bytes?: string };
      metadata: { certificate_id: string; request_id: string };
      quantum_credits: { used: number };
    };
    const { certificate_id: certificateId, request_id: requestId } = answer.metadata;
    this.acknowledged.push({ certificateId, requestId, accountId: id, credits: answer.quantum_credits.used });
    const wrong = this.#pure.add(answer.data.bytes ?? '', requestId);
    if (wrong !== undefined) this.#violate(wrong);
  }

  /** Reads the newest checkpoint of each node again and again; it must never shrink on any of them. */
  async #watchLog(): Promise<void> {
    while (!this.#isStopping || this.#isSettling) {
      for (const { name, port } of this.#nodes) {
        if (port === undefined) continue;
        try {
          const request = { method: 'GET', target: '/log/checkpoint', headers: [] };
          const reply = await askOnce(port, request, { lostAfterMs: ANSWER_WITHIN_MS });
          if (reply.status !== 200) continue;
          const [, size, rootText] = reply.body.toString('utf8').split('\n');
          const seen = { node: name, size: Number(size), root: rootText };
          const largest = this.#largest.get(`${name} ${port}`) ?? 0;
          if (seen.size < largest)
            this.#violate(`${name} showed a log of ${seen.size} leaves after one of ${largest}`);
          if (seen.size > largest) this.#see(seen);
          this.#largest.set(`${name} ${port}`, Math.max(largest, seen.size));
        } catch (error) {
          if (!(error instanceof ConnectionLost)) throw error;
        }
      }
      await sleep(CHECKPOINT_EVERY_MS);
    }
  }

  /** Two nodes that show logs of one size show the same log. */
  #see(seen: SeenCheckpoint): void {
    this.checkpoints.push(seen);
    const before = this.#roots.get(seen.size);
    if (before === undefined) this.#roots.set(seen.size, seen);
    else if (before.root !== seen.root)
      this.#violate(`the log forked: ${before.node} and ${seen.node} showed two of ${seen.size} leaves`);
  }

  #violate(what: string): void {
    if (this.violations.length < VIOLATIONS_MAX) this.violations.push(what);
  }
}
