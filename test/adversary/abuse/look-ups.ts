import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Chance } from '../../support/chance.ts';
import { fetchWhole } from '../../support/http.ts';
import type { TestServer } from '../../support/server.ts';

/** Floods beside requests of a paying account: what is left of the latter's rate and time. */

const PAYERS = 8;
const OTHERS = 32;
/** Answers in the log before anything is measured: proofs are then as long as those of a service in use. */
const LOGGED = 3_000;

/** A client that asks again as soon as it is answered. Counts its answers by status and notes their times. */
class Client {
  readonly #socket: Socket;
  readonly #next: () => string;
  readonly statuses = new Map<number, number>();
  readonly latenciesMs: number[] = [];
  #askedAtMs = 0;
  #stopped = false;

  private constructor(socket: Socket, next: () => string) {
    this.#socket = socket;
    this.#next = next;
  }

  static async start(port: number, next: () => string): Promise<Client> {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    await once(socket, 'connect');
    const client = new Client(socket, next);
    socket.on('data', (chunk: Buffer) => client.#take(chunk));
    socket.on('error', () => {}); // the count of answers shows it
    client.#ask();
    return client;
  }

  stop(): void {
    this.#stopped = true;
    this.#socket.destroy();
  }

  #ask(): void {
    this.#askedAtMs = performance.now();
    this.#socket.write(this.#next());
  }

  #take(chunk: Buffer): void {
    if (chunk.toString('latin1', 0, 9) !== 'HTTP/1.1 ') return; // the rest of a body
    const status = Number(chunk.toString('latin1', 9, 12));
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    this.latenciesMs.push(performance.now() - this.#askedAtMs);
    if (!this.#stopped) this.#ask();
  }
}

function clients(count: number, port: number, next: () => string): Promise<Client[]> {
  return Promise.all(Array.from({ length: count }, () => Client.start(port, next)));
}

interface Flood {
  readonly what: string;
  readonly request: () => string;
  /** How it is answered, beside 503; 200 without it. */
  readonly status?: number;
  /** So many of its requests may be answered 200 all the same. */
  readonly servedMax?: number;
}

function getOf(path: string, ...fields: readonly string[]): string {
  const accept = fields.includes('Accept-Encoding: br') ? 'text/html' : 'application/json';
  return `GET ${path} HTTP/1.1\r\n${['Host: a', `Accept: ${accept}`, ...fields].join('\r\n')}\r\n\r\n`;
}

function postOf(path: string, body: object, ...fields: readonly string[]): string {
  const text = JSON.stringify(body);
  const own = ['Host: a', 'Content-Type: application/json', `Content-Length: ${text.length}`, ...fields];
  return `POST ${path} HTTP/1.1\r\n${own.join('\r\n')}\r\n\r\n${text}`;
}

export interface Beside {
  /** What was asked for. */
  readonly what: string;
  /** Paid requests beside it as a part of those just before, in the middle of all rounds, and the growth of their 99th percentile. */
  readonly rateShare: number;
  readonly p99Factor: number;
  /** Other requests that were answered, and refused with 503 `overloaded`. */
  readonly answered: number;
  readonly shed: number;
}

interface Windows {
  readonly rounds: number;
  readonly windowMs: number;
}

/**
 * Paid requests without and beside 32 connections of others, in turns of `windowMs`, so that both see the same machine.
 * Every paid request must be answered 200, and every other one as it should be or 503.
 */
class Beside32 {
  readonly #port: number;
  readonly #paid: string;
  readonly #windows: Windows;

  constructor(server: TestServer, key: string, windows: Windows) {
    this.#port = Number(new URL(server.origin).port);
    this.#paid = getOf('/v1/integers?count=1&entropy_mode=csprng', `X-API-Key: ${key}`);
    this.#windows = windows;
  }

  async pay(durationMs: number): Promise<number[]> {
    const payers = await clients(PAYERS, this.#port, () => this.#paid);
    await new Promise((resolve) => setTimeout(resolve, durationMs));
    for (const payer of payers) payer.stop();
    for (const { statuses } of payers) {
      // none, where the machine is so busy that nothing was answered in the span
      for (const status of statuses.keys()) assert.equal(status, 200, 'a paid request is answered');
    }
    return payers.flatMap(({ latenciesMs }) => latenciesMs);
  }

  async measure({ what, request, status = 200, servedMax = 0 }: Flood): Promise<Beside> {
    const { rounds, windowMs } = this.#windows;
    const alone: number[] = [];
    const beside: number[] = [];
    const shares: number[] = [];
    let answered = 0;
    let shed = 0;
    let served = 0;
    for (let round = 0; round < rounds; round++) {
      const paidAlone = await this.pay(windowMs);
      const others = await clients(OTHERS, this.#port, request);
      const paidBeside = await this.pay(windowMs);
      alone.push(...paidAlone);
      beside.push(...paidBeside);
      shares.push(paidBeside.length / Math.max(1, paidAlone.length));
      for (const other of others) other.stop();
      for (const [given, count] of others.flatMap((other) => [...other.statuses])) {
        if (given === 200 && given !== status) served += count;
        else assert.ok(given === status || given === 503, `${what} is answered ${given}`);
        if (given === 503) shed += count;
        else answered += count;
      }
    }
    assert.ok(served <= servedMax, `${what}: ${served} are served`);
    return {
      what,
      rateShare: percentile(shares, 0.5),
      p99Factor: percentile(beside, 0.99) / percentile(alone, 0.99),
      answered,
      shed,
    };
  }
}

/** Requests that nobody pays for: look-ups without a key and refusals. */
export async function besideLookUps(server: TestServer, windows: Windows): Promise<Beside[]> {
  const { key } = await server.account('enterprise');
  const payer = new Beside32(server, key, windows);
  const logSize = async () =>
    Number((await (await fetchWhole(`${server.origin}/log/checkpoint`)).text()).split('\n')[1]);
  while ((await logSize()) < LOGGED) await payer.pay(300);
  const size = await logSize();
  const answer = await fetchWhole(`${server.origin}/v1/uuid`, { headers: { 'x-api-key': server.key } });
  const { metadata } = (await answer.json()) as { metadata: { certificate_id: string } };
  const chance = new Chance('look-ups');
  const floods: readonly Flood[] = [
    {
      what: 'consistency of the log',
      request: () => getOf(`/log/consistency?from=${1 + chance.below(size - 1)}&to=${size}`),
    },
    { what: 'a certificate', request: () => getOf(`/verify/${metadata.certificate_id}`) },
    { what: 'a path that is not there', request: () => getOf('/nothing'), status: 404 },
    { what: 'liveness', request: () => getOf('/livez') },
    { what: 'an unknown key', request: () => getOf('/v1/uuid'), status: 401 },
    {
      what: 'an unknown JSON-RPC method',
      request: () => postOf('/json-rpc/4/invoke', { jsonrpc: '2.0', method: 'a', params: {}, id: 1 }),
    },
  ];
  return inTurn(payer, floods);
}

/** More of what nobody pays for: pages, preflights, and an account that has used up its rate. */
export async function besidePages(server: TestServer, windows: Windows): Promise<Beside[]> {
  const { key } = await server.account('enterprise');
  const { key: spent } = await server.account('free');
  const withSpent = { headers: { 'x-api-key': spent } };
  while ((await fetchWhole(`${server.baseUrl}/uuid`, withSpent)).status !== 429);
  const answer = await fetchWhole(`${server.baseUrl}/uuid`, { headers: { 'x-api-key': key } });
  const { metadata } = (await answer.json()) as { metadata: { certificate_id: string } };
  const page = ['Accept-Encoding: br'];
  const fromPage = ['Origin: https://a.example', 'Access-Control-Request-Method: GET'];
  return inTurn(new Beside32(server, key, windows), [
    { what: 'the status page', request: () => getOf('/', ...page) },
    { what: 'the documentation', request: () => getOf('/docs', ...page) },
    {
      what: 'the page of a certificate, compressed',
      request: () => getOf(`/verify/${metadata.certificate_id}`, ...page),
    },
    { what: 'a PDF', request: () => getOf(`/verify/${metadata.certificate_id}.pdf`) },
    { what: 'the OpenAPI document', request: () => getOf('/openapi.json') },
    { what: 'a page that is not there', request: () => getOf('/nothing', ...page), status: 404 },
    {
      what: 'a preflight',
      request: () => getOf('/v1/uuid', ...fromPage).replace('GET', 'OPTIONS'),
      status: 204,
    },
    {
      what: 'values beyond the rate',
      request: () => getOf('/v1/uuid', `X-API-Key: ${spent}`),
      status: 429,
      servedMax: 30, // ten a minute come back
    },
  ]);
}

/** Another account without limits, which pays too. */
export async function besideTenant(server: TestServer, windows: Windows): Promise<Beside[]> {
  const { key } = await server.account('enterprise');
  const { key: other } = await server.account('enterprise');
  const keyed = `X-API-Key: ${other}`;
  const of = (query: string) => getOf(`/v1/integers?count=1&entropy_mode=csprng${query}`, keyed);
  const chance = new Chance('tenant');
  const name = () => chance.below(2 ** 31).toString(36);
  const params = { apiKey: other, n: 1, min: 1, max: 6 };
  return inTurn(new Beside32(server, key, windows), [
    { what: 'the same', request: () => of('') },
    { what: 'answers with one purpose', request: () => of('&purpose=raffle&public=true') },
    { what: 'answers with many purposes', request: () => of(`&purpose=${name()}&public=true`) },
    { what: 'answers with user data', request: () => of(`&user_data=${name()}`) },
    { what: 'client entropy', request: () => of(`&client_entropy=${'ab'.repeat(32)}`) },
    {
      what: 'an Idempotency-Key each',
      request: () => of('').replace('\r\n\r\n', `\r\nIdempotency-Key: ${name()}\r\n\r\n`),
    },
    { what: 'values of no valid count', request: () => of('&count=0').replace('count=1&', ''), status: 400 },
    { what: 'HEAD of values', request: () => of('').replace('GET', 'HEAD') },
    {
      what: 'batches of 1,000',
      request: () => postOf('/v1/batch', { type: 'uuid', count: 1_000, entropy_mode: 'csprng' }, keyed),
    },
    {
      what: 'signed answers of JSON-RPC',
      request: () =>
        postOf('/json-rpc/4/invoke', { jsonrpc: '2.0', method: 'generateSignedIntegers', params, id: 1 }),
    },
    { what: 'usage', request: () => getOf('/v1/usage', keyed) },
  ]);
}

async function inTurn(payer: Beside32, floods: readonly Flood[]): Promise<Beside[]> {
  const measured: Beside[] = [];
  for (const flood of floods) measured.push(await payer.measure(flood));
  return measured;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
