import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionLost, fetchWhole, HttpConnection } from '../../support/http.ts';
import type { TestServer } from '../../support/server.ts';
import { quantile } from '../../support/statistics.ts';

/** Floods beside requests of a paying account, whose rate and latency are measured. */

const PAYERS = 8;
const OTHERS = 32;
/** Count of answers in the log before the measurement, so that proofs are as long as in a service in use. */
const LOGGED = 3_000;

/**
 * A client that repeats its request as soon as it has the whole reply, and reconnects when it is cut. It counts its
 * answers by status and notes the time of each.
 */
class Client {
  readonly statuses = new Map<number, number>();
  readonly latenciesMs: number[] = [];
  readonly #port: number;
  readonly #next: () => string;
  #connection: HttpConnection;
  #isStopped = false;

  private constructor(port: number, next: () => string, connection: HttpConnection) {
    this.#port = port;
    this.#next = next;
    this.#connection = connection;
    this.#ask();
  }

  static async start(port: number, next: () => string): Promise<Client> {
    return new Client(port, next, await HttpConnection.open(port, { countsOnly: true }));
  }

  stop(): void {
    this.#isStopped = true;
    this.#connection.leave();
  }

  #ask(): void {
    const request = this.#next();
    const askedAtMs = performance.now();
    this.#connection.isHead = request.startsWith('HEAD ');
    this.#connection.request(request, (reply) => {
      if (this.#isStopped) return;
      if (reply instanceof ConnectionLost) return void this.#connect();
      this.statuses.set(reply.status, (this.statuses.get(reply.status) ?? 0) + 1);
      this.latenciesMs.push(performance.now() - askedAtMs);
      this.#ask();
    });
  }

  /** Reconnects; the count of answers shows when nobody listens. */
  async #connect(): Promise<void> {
    const connection = await HttpConnection.open(this.#port, { countsOnly: true }).catch(() => undefined);
    if (this.#isStopped) connection?.leave();
    if (this.#isStopped || connection === undefined) return;
    this.#connection = connection;
    this.#ask();
  }
}

function clients(count: number, port: number, next: () => string): Promise<Client[]> {
  return Promise.all(Array.from({ length: count }, () => Client.start(port, next)));
}

/** The parameters of floods. */
export interface FloodContext {
  /** Count of leaves in the log. */
  readonly size: number;
  readonly certificateId: string;
  /** Key of a free account that has used up its rate. */
  readonly spentKey: string;
  /** Key of a second account without limits, which is not measured. */
  readonly otherKey: string;
}

export interface Flood {
  readonly what: string;
  readonly request: (context: FloodContext) => string;
  /** The status of its answers, apart from 503; 200 by default. */
  readonly status?: number;
  /** Count of its requests that may be answered 200 nevertheless. */
  readonly servedMax?: number;
}

/** The least share of the rate that must remain, and the factor by which the 99th percentile may grow. */
export interface Shares {
  readonly rateMin: number;
  readonly p99Max: number;
}

export interface Beside {
  /** The request of the flood. */
  readonly what: string;
  /**
   * Paid requests during the flood as a share of those just before, and the growth of their 99th percentile: each is
   * the median of all rounds, so that one stall of the machine decides nothing.
   */
  readonly rateShare: number;
  readonly p99Factor: number;
  /** Paid requests a second without the flood, the median of all rounds. */
  readonly paidPerS: number;
  /** Count of other requests that were answered, and of those refused with 503 `overloaded`. */
  readonly answered: number;
  readonly shed: number;
}

interface Windows {
  readonly rounds: number;
  readonly windowMs: number;
}

const WINDOWS: Windows = { rounds: 8, windowMs: 500 };
/** Factor by which a figure beyond its bound is measured longer before it counts; all rounds count. */
const LONGER = 3;

/**
 * Measures paid requests without and beside other connections, in turns of `windowMs`, so that both see the same
 * machine. Every paid request must be answered 200, and every other one with its status or 503.
 */
export class Besieged {
  readonly #port: number;
  readonly #paid: string;
  readonly #context: FloodContext;

  private constructor(port: number, key: string, context: FloodContext) {
    this.#port = port;
    this.#paid = getOf('/v1/integers?count=1&entropy_mode=csprng', `X-API-Key: ${key}`);
    this.#context = context;
  }

  /** Makes the accounts, spends the rate of one, and fills the log. */
  static async prepare(server: TestServer): Promise<Besieged> {
    const { key } = await server.account('enterprise');
    const { key: otherKey } = await server.account('enterprise');
    const { key: spentKey } = await server.account('free');
    const withKey = (apiKey: string) => ({ headers: { 'x-api-key': apiKey } });
    while ((await fetchWhole(`${server.baseUrl}/uuid`, withKey(spentKey))).status !== 429);
    const answer = await fetchWhole(`${server.baseUrl}/uuid`, withKey(key));
    const { metadata } = (await answer.json()) as { metadata: { certificate_id: string } };
    const { port } = server;
    const context = { size: 0, certificateId: metadata.certificate_id, spentKey, otherKey };
    const filler = new Besieged(port, key, context);
    const logSize = async () =>
      Number((await (await fetchWhole(`${server.origin}/log/checkpoint`)).text()).split('\n')[1]);
    while ((await logSize()) < LOGGED) await filler.#pay(300);
    return new Besieged(port, key, { ...context, size: await logSize() });
  }

  /** Measures one flood. A figure beyond the bounds is measured for longer, with all rounds counted. */
  async measure(flood: Flood, shares?: Shares): Promise<Beside> {
    const rounds = new Rounds(flood);
    const until = async (count: number) => {
      while (rounds.count < count) await this.#round(flood, rounds, WINDOWS.windowMs);
      return rounds.sum();
    };
    const first = await until(WINDOWS.rounds);
    const isWithin =
      shares === undefined || (first.rateShare >= shares.rateMin && first.p99Factor <= shares.p99Max);
    return isWithin ? first : until(LONGER * WINDOWS.rounds);
  }

  async #round(flood: Flood, rounds: Rounds, windowMs: number): Promise<void> {
    const alone = await this.#pay(windowMs);
    const others = await clients(OTHERS, this.#port, () => flood.request(this.#context));
    const beside = await this.#pay(windowMs);
    for (const other of others) other.stop();
    rounds.add({ aloneMs: alone, besideMs: beside, windowMs }, others);
  }

  async #pay(durationMs: number): Promise<number[]> {
    const payers = await clients(PAYERS, this.#port, () => this.#paid);
    await sleep(durationMs);
    for (const payer of payers) payer.stop();
    for (const { statuses } of payers) {
      // There is none if the machine was so busy that nothing was answered in the span.
      for (const status of statuses.keys()) assert.equal(status, 200, 'a paid request is answered');
    }
    return payers.flatMap(({ latenciesMs }) => latenciesMs);
  }
}

/** Latencies of paid requests without and beside others, in windows of one length. */
interface Round {
  readonly aloneMs: readonly number[];
  readonly besideMs: readonly number[];
  readonly windowMs: number;
}

/** The results of the rounds of one flood. */
class Rounds {
  readonly #flood: Flood;
  readonly #shares: number[] = [];
  readonly #p99Factors: number[] = [];
  readonly #paidPerS: number[] = [];
  #answered = 0;
  #shed = 0;
  #served = 0;

  constructor(flood: Flood) {
    this.#flood = flood;
  }

  get count(): number {
    return this.#shares.length;
  }

  add({ aloneMs, besideMs, windowMs }: Round, others: readonly Client[]): void {
    const { what, status = 200 } = this.#flood;
    this.#paidPerS.push((1_000 * aloneMs.length) / windowMs);
    this.#shares.push(besideMs.length / Math.max(1, aloneMs.length));
    this.#p99Factors.push(percentile(besideMs, 0.99) / percentile(aloneMs, 0.99));
    for (const [given, count] of others.flatMap((other) => [...other.statuses])) {
      if (given === 200 && given !== status) this.#served += count;
      else assert.ok(given === status || given === 503, `${what} is answered ${given}`);
      if (given === 503) this.#shed += count;
      else this.#answered += count;
    }
  }

  sum(): Beside {
    const { what, servedMax = 0 } = this.#flood;
    assert.ok(this.#served <= servedMax, `${what}: ${this.#served} are served`);
    return {
      what,
      rateShare: percentile(this.#shares, 0.5),
      p99Factor: percentile(this.#p99Factors, 0.5),
      paidPerS: Math.round(percentile(this.#paidPerS, 0.5)),
      answered: this.#answered,
      shed: this.#shed,
    };
  }
}

export function getOf(path: string, ...fields: readonly string[]): string {
  const accept = fields.includes('Accept-Encoding: br') ? 'text/html' : 'application/json';
  return `GET ${path} HTTP/1.1\r\n${['Host: a', `Accept: ${accept}`, ...fields].join('\r\n')}\r\n\r\n`;
}

export function postOf(path: string, body: object, ...fields: readonly string[]): string {
  const text = JSON.stringify(body);
  const own = ['Host: a', 'Content-Type: application/json', `Content-Length: ${text.length}`, ...fields];
  return `POST ${path} HTTP/1.1\r\n${own.join('\r\n')}\r\n\r\n${text}`;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length === 0 ? Number.POSITIVE_INFINITY : quantile(sorted, share);
}
