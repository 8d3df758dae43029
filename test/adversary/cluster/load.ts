import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../../support/chance.ts';
import { askOnce, ConnectionLost } from '../../support/http.ts';
import { Clients, clientKey } from '../clients/clients.ts';
import type { Shares } from '../clients/mix.ts';
import type { ClusterNode } from './node.ts';

/** The requests of one account of a cluster, and how much it may spend this month. */
export interface LoadAccount {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  readonly requestsMax: number;
  readonly creditsMax: number;
}

/** A signed state of the log that a node showed. */
export interface SeenCheckpoint {
  readonly node: string;
  readonly size: number;
  /** Base64. */
  readonly root: string;
}

/** Time after which the client gives up a node that is paused or cut off, without knowing the outcome. */
const ANSWER_WITHIN_MS = 8_000;
const SETTLED_WITHIN_MS = 60_000;
const CHECKPOINT_EVERY_MS = 150;
const VIOLATIONS_MAX = 50;

/** The accounts and their requests. The steady one never runs dry: the service answers it between all faults. */
const ASKED = {
  steady: { small: 1 },
  plain: { small: 1 },
  pure: { 'pure small': 1 },
  /** Requests under idempotency keys, which are repeated on any node. */
  keyed: { once: 1 },
} as const satisfies Record<string, Shares>;
export type Accounts = Readonly<Record<keyof typeof ASKED, LoadAccount>>;

/** Clients that ask every node, and record everything that was acknowledged. */
export class Load {
  readonly clients: readonly { readonly account: LoadAccount; readonly clients: Clients }[];
  readonly checkpoints: SeenCheckpoint[] = [];
  /** Violations by nodes, in words, besides those that the clients saw. */
  readonly #violations: string[] = [];
  readonly #nodes: readonly ClusterNode[];
  readonly #largest = new Map<string, number>();
  #running: Promise<unknown>[] = [];
  #isStopping = false;

  constructor(nodes: readonly ClusterNode[], accounts: Accounts, chance: Chance) {
    this.#nodes = nodes;
    this.clients = Object.entries(ASKED).map(([kind, shares]) => {
      const account = accounts[kind as keyof Accounts];
      // A client asks one node, so that a hanging node does not hang them all; keys are repeated on any node.
      const place = (client: number) =>
        kind === 'keyed' ? chance.pick(nodes).port : nodes[client % nodes.length].port;
      const options = { shares, mayRunDry: true, lostAfterMs: ANSWER_WITHIN_MS };
      const keys = [clientKey({ key: account.key, key_id: account.keyId })];
      return { account, clients: new Clients(keys, chance.fork(kind), place, options) };
    });
  }

  get violations(): readonly string[] {
    return [...this.#violations, ...this.clients.flatMap(({ clients }) => clients.violations)];
  }

  get acknowledged(): number {
    return this.clients.reduce((sum, { clients }) => sum + clients.acknowledged.count, 0);
  }

  /** Time of the last answer with values. */
  get lastAnswerAtMs(): number {
    return Math.max(...this.clients.map(({ clients }) => clients.lastAnswerAtMs));
  }

  /** Refusals by code. */
  get refusals(): ReadonlyMap<string, number> {
    const all = new Map<string, number>();
    for (const { clients } of this.clients)
      for (const [code, count] of clients.refusals) all.set(code, (all.get(code) ?? 0) + count);
    return all;
  }

  /** The certificates that were acknowledged, in hex. */
  certificateIds(): string[] {
    return this.clients.flatMap(({ clients: { acknowledged } }) =>
      Array.from({ length: acknowledged.count }, (_, row) =>
        Buffer.from(acknowledged.certificateId(row)).toString('hex'),
      ),
    );
  }

  start(clientsEach: number): void {
    this.#isStopping = false;
    const mayGoOn = () => !this.#isStopping;
    this.#running = this.clients.map(({ clients }) => clients.askWhile(clientsEach, mayGoOn));
    this.#running.push(this.#watchLog());
  }

  /** Resolves when every request has its answer, or lost it. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
  }

  /** Repeats requests with unknown outcomes until they are known; on an account that has run dry they may never be. */
  async settle(): Promise<void> {
    await Promise.all(this.clients.map(({ clients }) => clients.settleRetries(SETTLED_WITHIN_MS)));
  }

  violate(...what: readonly string[]): void {
    this.#violations.push(...what.slice(0, VIOLATIONS_MAX - this.#violations.length));
  }

  /** Reads the newest checkpoint of each node repeatedly; it must never shrink on any of them. */
  async #watchLog(): Promise<void> {
    while (!this.#isStopping) {
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
            this.violate(`${name} showed a log of ${seen.size} leaves after one of ${largest}`);
          if (seen.size > largest) this.checkpoints.push(seen);
          this.#largest.set(`${name} ${port}`, Math.max(largest, seen.size));
        } catch (error) {
          if (!(error instanceof ConnectionLost)) throw error;
        }
      }
      await sleep(CHECKPOINT_EVERY_MS);
    }
  }
}
