import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256Hex } from '../../../src/crypto/digest.ts';
import type { Chance } from '../../support/chance.ts';
import { ConnectionLost, HttpConnection, type HttpReply, isUndecided } from '../../support/http.ts';
import { Acknowledged, type Answered, PureSeen } from './acknowledged.ts';
import { type Asked, Mix, type Shares, wireOf } from './mix.ts';

/** A key of the account. */
export interface ClientKey {
  readonly text: string;
  readonly id: string;
  /** True once the command that revokes the key was called: from then on the key may be refused. */
  isRevoking: boolean;
  /** When the command returned; a second later the key must be refused. */
  revokedAtMs: number | undefined;
}

/** Parses the key of an account as the commands print it. */
export function clientKey({ key, key_id }: { readonly key: string; readonly key_id: string }): ClientKey {
  return { text: key, id: key_id, isRevoking: false, revokedAtMs: undefined };
}

/** An answer that is kept whole, to be verified against its certificate. */
export interface Kept {
  readonly certificateId: string;
  readonly response: unknown;
  readonly atMs: number;
}

/** A request under an Idempotency-Key that is repeated: after its first answer, or to learn its outcome. */
interface Retry {
  readonly asked: Asked;
  readonly notBeforeMs: number;
  /** Digest of the first answer's body; undefined when the connection was lost before it came. */
  readonly bodySha256: string | undefined;
}

const CONNECTIONS_MAX = 256;
const TICK_MS = 4;
/**
 * Bodies up to this size are all parsed. Of longer ones every eighth is parsed, and only the end of the others is
 * read.
 */
const PARSED_BYTES = 8 * 1024;
const LONG_PARSED_EVERY = 8;
const TAIL_BYTES = 2_048;
/** One of this many answers is kept for verification. */
const KEPT_EVERY = 97;
const KEPT_MAX = 400;
const RETRY_AFTER_MS = 300;
/** Pause of a client that was refused or found nobody listening. */
const AWAY_MS = 20;
/** Length of the windows by which latencies are reported. */
export const WINDOW_S = 5;

/** Differences from the clients of one service that must answer. */
export interface ClientsOptions {
  /** With these shares of their own, clients request so little that every pure byte is remembered. */
  readonly shares?: Shares;
  /** True if requests may be refused because the account has used up its month. */
  readonly mayRunDry?: boolean;
  /** A request that takes longer is given up as if its connection had broken, because the service may be paused. */
  readonly lostAfterMs?: number;
}

/** Returns the port that a client is to use; undefined while nobody listens. */
type Place = (client: number) => number | undefined;

/** Clients of one account, who record everything that the service acknowledges. */
export class Clients {
  readonly acknowledged = new Acknowledged();
  /** Broken promises of the service, in words. */
  readonly violations: string[] = [];
  /** Answers that were not 200, by code. */
  readonly refusals = new Map<string, number>();
  readonly kept: Kept[] = [];
  /** Latencies of the small requests, from when they were due, in µs, by window since the start. */
  readonly windows = new Map<number, RecordableHistogram>();
  readonly keys: ClientKey[];
  /**
   * Count of requests that may have been answered: their connection broke, or the service reported an unknown outcome.
   */
  unknown = 0;
  /** Count of due requests that were not sent: the service was down, or all connections were busy. */
  notSent = 0;
  retried = 0;
  /** The longest time for which a revoked key was still accepted. */
  revokedServedMs = 0;
  lastAnswerAtMs = 0;
  readonly #chance: Chance;
  readonly #mix: Mix;
  readonly #pure: PureSeen;
  readonly #startedMs = performance.now();
  readonly #place: Place;
  readonly #options: ClientsOptions;
  readonly #idle = new Map<number, HttpConnection[]>();
  #retries: Retry[] = [];
  #flying = 0;
  #timer: NodeJS.Timeout | undefined;
  #answers = 0;

  constructor(keys: ClientKey[], chance: Chance, place: Place, options: ClientsOptions = {}) {
    this.keys = keys;
    this.#chance = chance;
    this.#place = place;
    this.#options = options;
    this.#mix = new Mix(chance.fork('mix'), options.shares);
    this.#pure = new PureSeen({ isSampled: options.shares === undefined });
  }

  get nowS(): number {
    return (performance.now() - this.#startedMs) / 1_000;
  }

  get openRetries(): number {
    return this.#retries.length;
  }

  /** Sends requests at this rate, whatever is answered, until `stop`. */
  start(ratePerS: number): void {
    let dueMs = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      for (; dueMs <= now; dueMs += 1_000 / ratePerS) this.#due(dueMs);
    }, TICK_MS);
  }

  /** Resolves when every request is answered or lost. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#flying > 0) await sleep(5);
  }

  /** Repeats requests as soon as they are answered, on `connections` connections; returns the answers per second. */
  async capacity(connections: number, durationMs: number): Promise<number> {
    const untilMs = performance.now() + durationMs;
    const before = this.#answers;
    await this.askWhile(connections, () => performance.now() < untilMs);
    return ((this.#answers - before) * 1_000) / durationMs;
  }

  /**
   * Runs `connections` clients, each of which asks again as soon as it is answered, or after a pause when it found
   * nobody.
   */
  async askWhile(connections: number, mayGoOn: () => boolean): Promise<void> {
    const ask = async (client: number) => {
      while (mayGoOn()) if (!(await this.#next(performance.now(), client))) await sleep(AWAY_MS);
    };
    await Promise.all(Array.from({ length: connections }, (_, client) => ask(client)));
  }

  /** Repeats the requests that must be repeated until none is left or nothing is answered. */
  async settleRetries(deadlineMs: number): Promise<void> {
    const untilMs = performance.now() + deadlineMs;
    while (this.#retries.length > 0 && performance.now() < untilMs) {
      const retry = this.#dueRetry();
      if (retry !== undefined) void this.#ask(retry.asked, performance.now(), 0, retry);
      await sleep(AWAY_MS);
    }
    while (this.#flying > 0) await sleep(5);
  }

  violate(what: string): void {
    if (this.violations.length < 100) this.violations.push(`${this.nowS.toFixed(1)} s: ${what}`);
  }

  #due(dueMs: number): void {
    if (this.#place(0) === undefined || this.#flying >= CONNECTIONS_MAX) this.notSent++;
    else void this.#next(dueMs, 0);
  }

  /**
   * Sends a request that must be repeated, or a new one. Returns false when the service cannot be reached or refuses.
   */
  #next(dueMs: number, client: number): Promise<boolean> {
    if (this.#place(client) === undefined) return Promise.resolve(false);
    const retry = this.#dueRetry();
    return retry === undefined
      ? this.#ask(this.#mix.next(), dueMs, client)
      : this.#ask(retry.asked, performance.now(), client, retry);
  }

  #dueRetry(): Retry | undefined {
    const now = performance.now();
    const at = this.#retries.findIndex(({ notBeforeMs }) => notBeforeMs <= now);
    return at < 0 ? undefined : this.#retries.splice(at, 1)[0];
  }

  async #ask(asked: Asked, dueMs: number, client: number, retry?: Retry): Promise<boolean> {
    this.#flying++;
    const key = this.#chance.pick(this.keys);
    const port = this.#place(client);
    let connection: HttpConnection | undefined;
    try {
      connection = await this.#connection(port);
      const sentMs = performance.now();
      const { lostAfterMs } = this.#options;
      const reply = await connection.ask(
        wireOf(asked, key.text),
        lostAfterMs === undefined ? {} : { lostAfterMs },
      );
      if (!connection.isClosed) this.#idleAt(port!).push(connection);
      this.#answers++;
      if (asked.kind === 'small' && reply.status === 200) this.#observe(dueMs);
      this.#judge(asked, key, sentMs, reply, retry);
      return reply.status === 200;
    } catch (error) {
      connection?.leave();
      if (!(error instanceof ConnectionLost)) this.violate(`${asked.path}: ${(error as Error).message}`);
      this.#lost(asked, connection !== undefined, retry);
      return false;
    } finally {
      this.#flying--;
    }
  }

  async #connection(port: number | undefined): Promise<HttpConnection> {
    if (port === undefined) throw new ConnectionLost('the service is down');
    const idle = this.#idleAt(port);
    for (let kept = idle.pop(); kept !== undefined; kept = idle.pop()) if (!kept.isClosed) return kept;
    return HttpConnection.open(port);
  }

  #idleAt(port: number): HttpConnection[] {
    const idle = this.#idle.get(port) ?? [];
    this.#idle.set(port, idle);
    return idle;
  }

  #lost(asked: Asked, wasSent: boolean, retry: Retry | undefined): void {
    if (retry !== undefined) this.#retryLater(retry);
    else if (!wasSent) this.notSent++;
    else if ('member' in asked.expect) {
      this.unknown++;
      if (asked.idempotencyKey !== undefined) this.#retryLater({ asked, bodySha256: undefined });
    }
  }

  #retryLater(retry: Omit<Retry, 'notBeforeMs'>): void {
    this.#retries.push({ ...retry, notBeforeMs: performance.now() + RETRY_AFTER_MS });
  }

  #observe(dueMs: number): void {
    const window = Math.floor(this.nowS / WINDOW_S);
    const histogram = this.windows.get(window) ?? createHistogram({ highest: 2 ** 36, figures: 2 });
    this.windows.set(window, histogram);
    histogram.record(Math.max(1, Math.round((performance.now() - dueMs) * 1_000)));
  }

  #judge(asked: Asked, key: ClientKey, sentMs: number, reply: HttpReply, retry: Retry | undefined): void {
    if (reply.status === 200 && 'member' in asked.expect) {
      if (key.revokedAtMs !== undefined) {
        this.revokedServedMs = Math.max(this.revokedServedMs, sentMs - key.revokedAtMs);
      }
      if (retry?.bodySha256 !== undefined) this.#sameAgain(asked, reply, retry.bodySha256);
      else this.#acknowledge(asked, asked.expect.member, reply, retry);
      return;
    }
    const code = codeOf(reply);
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    if ('code' in asked.expect && asked.expect.code === code && asked.expect.status === reply.status) return;
    const isRevoked = reply.status === 401 && code === 'auth_invalid' && key.isRevoking;
    const isShed =
      reply.status === 503 && /\r\nretry-after: *[1-9]/i.test(reply.head) && code !== 'internal_error';
    const isRunning = retry !== undefined && code === 'idempotency_in_flight';
    const isDry = this.#options.mayRunDry === true && (reply.status === 429 || reply.status === 402);
    if (retry === undefined && isUndecided(reply.status, reply.body)) this.#lost(asked, true, retry);
    else if (retry !== undefined && (isRevoked || isShed || isRunning || isDry)) this.#retryLater(retry);
    else if (!isRevoked && !isShed && !isDry) {
      this.violate(`${asked.path} was answered ${reply.status} ${code}`);
    }
  }

  #sameAgain(asked: Asked, { body }: HttpReply, first: string): void {
    this.retried++;
    if (sha256Hex(body) !== first) this.violate(`${asked.idempotencyKey} was answered in another way`);
  }

  #acknowledge(asked: Asked, member: string, reply: HttpReply, retry: Retry | undefined): void {
    const { body } = reply;
    const isLong = body.length > PARSED_BYTES;
    const isParsed = !isLong || this.acknowledged.count % LONG_PARSED_EVERY === 0;
    const answered = answeredOf(asked, body);
    this.acknowledged.add(answered);
    this.lastAnswerAtMs = performance.now();
    if (retry !== undefined) {
      this.unknown--; // now it is known
      this.retried++;
    }
    if (isParsed) this.#read(asked, member, body, answered);
    if (asked.idempotencyKey !== undefined && retry === undefined && this.#chance.chance(0.5)) {
      this.#retryLater({ asked, bodySha256: sha256Hex(body) });
    }
  }

  #read(asked: Asked, member: string, body: Buffer, { certificateId, requestId, mode }: Answered): void {
    const response = JSON.parse(body.toString('utf8')) as { data: Record<string, unknown> };
    const values = response.data[member];
    const count = Array.isArray(values) ? values.length : (response.data['count'] ?? 1);
    if (count !== asked.values) this.violate(`${asked.path} gave ${count} values`);
    if (mode === 'pure' && typeof values === 'string') {
      const wrong = this.#pure.add(values, requestId);
      if (wrong !== undefined) this.violate(wrong);
    }
    if (this.acknowledged.count % KEPT_EVERY === 0 && this.kept.length < KEPT_MAX) {
      this.kept.push({ certificateId, response, atMs: performance.now() });
    }
  }
}

function codeOf({ body }: HttpReply): string {
  return /"code":"(\w+)"/.exec(body.toString('latin1', 0, 400))?.[1] ?? 'no code';
}

/** Parses the facts of an answer from its end, where the envelope follows the values. */
function answeredOf(asked: Asked, body: Buffer): Answered {
  const tail = body.toString('latin1', Math.max(0, body.length - TAIL_BYTES));
  const mode = /"entropy_mode":"([\w-]+)"/.exec(body.toString('latin1', 0, 400) + tail)?.[1];
  const certificateId = /"certificate_id":"(\w+)"/.exec(tail)?.[1];
  const requestId = /"request_id":"(req_\w+)"/.exec(tail)?.[1];
  const credits = /"used":(\d+)/.exec(tail)?.[1];
  if (certificateId === undefined || requestId === undefined || credits === undefined) {
    throw new Error(`no answer: ${tail.slice(-300)}`);
  }
  return {
    certificateId,
    requestId,
    mode: mode as Answered['mode'],
    values: asked.values,
    credits: Number(credits),
    isNumbered: asked.kind === 'numbered',
  };
}
