import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionLost, fetchWhole, HttpConnection } from '../../support/http.ts';
import type { TestServer } from '../../support/server.ts';
import { median, quantile } from '../../support/statistics.ts';
import type { Flood, FloodContext } from './floods.ts';
import { getOf } from './requests.ts';

/** Floods beside requests of a paying account, whose rate and latency are measured. */

const PAYERS = 8;
const OTHERS = 32;
/** Count of answers in the log before the measurement, so that proofs are as long as in a service in use. */
const LOGGED = 3_000;
const ROUNDS = 8;
/** A figure beyond its bound is measured longer before it counts; all rounds count. */
const ROUNDS_MAX = 24;
const WINDOW_MS = 500;

/**
 * A client that repeats its request as soon as it has the whole reply, and reconnects when it is cut. It counts its
 * answers by status and notes the time of each.
 */
class Client {
  readonly statuses: number[] = [];
  readonly latenciesMs: number[] = [];
  readonly #port: number;
  readonly #next: () => string;
  #connection: HttpConnection | undefined;
  #isStopped = false;

  constructor(port: number, next: () => string) {
    this.#port = port;
    this.#next = next;
  }

  static start(count: number, port: number, next: () => string): Promise<Client[]> {
    const all = Array.from({ length: count }, async () => {
      const client = new Client(port, next);
      await client.#connect();
      return client;
    });
    return Promise.all(all);
  }

  stop(): void {
    this.#isStopped = true;
    this.#connection?.leave();
  }

  /** The count of answers shows when nobody listens. */
  async #connect(): Promise<void> {
    const connection = await HttpConnection.open(this.#port, { countsOnly: true }).catch(() => undefined);
    this.#connection = connection;
    if (this.#isStopped) connection?.leave();
    else if (connection !== undefined) this.#ask(connection);
  }

  #ask(connection: HttpConnection): void {
    const askedAtMs = performance.now();
    connection.request(this.#next(), (reply) => {
      if (this.#isStopped) return;
      if (reply instanceof ConnectionLost) return void this.#connect();
      this.statuses.push(reply.status);
      this.latenciesMs.push(performance.now() - askedAtMs);
      this.#ask(connection);
    });
  }
}

/**
 * The least share of the rate that must remain, and the factor by which the 99th percentile may grow: each is the median
 * of all rounds, so that one stall of the machine decides nothing.
 */
export interface Shares {
  readonly rateMin: number;
  readonly p99Max: number;
}

/**
 * Measures paid requests without and beside other connections, in turns, so that both see the same machine. Every paid
 * request must be answered 200, and every other one with its status or 503.
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
    const asked = (apiKey: string) =>
      fetchWhole(`${server.baseUrl}/uuid`, { headers: { 'x-api-key': apiKey } });
    while ((await asked(spentKey)).status !== 429);
    const { metadata } = (await (await asked(key)).json()) as { metadata: { certificate_id: string } };
    const context = { size: 0, certificateId: metadata.certificate_id, spentKey, otherKey };
    const filler = new Besieged(server.port, key, context);
    const logSize = async () =>
      Number((await (await fetchWhole(`${server.origin}/log/checkpoint`)).text()).split('\n')[1]);
    while ((await logSize()) < LOGGED) await filler.#pay();
    return new Besieged(server.port, key, { ...context, size: await logSize() });
  }

  /** Measures one flood, which must leave these shares to the payers. Returns the figures in words. */
  async withstands({ what, request, status = 200, servedMax = 0 }: Flood, shares: Shares): Promise<string> {
    const rounds: { readonly share: number; readonly p99Factor: number; readonly paidPerS: number }[] = [];
    const statuses: number[] = [];
    const middle = (of: keyof (typeof rounds)[number]) => median(rounds.map((round) => round[of]));
    const isWithin = () => middle('share') >= shares.rateMin && middle('p99Factor') <= shares.p99Max;
    while (
      rounds.length < ROUNDS ||
      (rounds.length < ROUNDS_MAX && (rounds.length > ROUNDS || !isWithin()))
    ) {
      const aloneMs = await this.#pay();
      const others = await Client.start(OTHERS, this.#port, () => request(this.#context));
      const besideMs = await this.#pay();
      for (const other of others) other.stop();
      statuses.push(...others.flatMap((other) => other.statuses));
      rounds.push({
        share: besideMs.length / Math.max(1, aloneMs.length),
        p99Factor: p99(besideMs) / p99(aloneMs),
        paidPerS: (1_000 * aloneMs.length) / WINDOW_MS,
      });
    }
    const counted = (of: number) => statuses.filter((each) => each === of).length;
    const wrong = statuses.find((each) => ![200, status, 503].includes(each));
    assert.equal(wrong, undefined, `${what} is answered ${wrong}`);
    const served = status === 200 ? 0 : counted(200);
    assert.ok(served <= servedMax, `${what}: ${served} are served`);
    const figures =
      `${(100 * middle('share')).toFixed()} % of ${middle('paidPerS').toFixed()}/s, ` +
      `p99 ${middle('p99Factor').toFixed(1)} times; ${counted(status)} answered, ${counted(503)} shed`;
    assert.ok(isWithin(), figures);
    return figures;
  }

  async #pay(): Promise<number[]> {
    const payers = await Client.start(PAYERS, this.#port, () => this.#paid);
    await sleep(WINDOW_MS);
    for (const payer of payers) payer.stop();
    // There is none if the machine was so busy that nothing was answered in the span.
    for (const status of payers.flatMap((payer) => payer.statuses))
      assert.equal(status, 200, 'a paid request is answered');
    return payers.flatMap(({ latenciesMs }) => latenciesMs);
  }
}

function p99(values: readonly number[]): number {
  return values.length === 0
    ? Number.POSITIVE_INFINITY
    : quantile(
        values.toSorted((a, b) => a - b),
        0.99,
      );
}
