import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Chance } from '../../support/chance.ts';
import { fetchWhole } from '../../support/http.ts';
import type { TestServer } from '../../support/server.ts';

/** Look-ups that need no key beside requests of a paying account: what is left of the latter's rate and time. */

const PAYERS = 8;
const KEYLESS = 32;
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

interface Unpaid {
  readonly what: string;
  readonly request: () => string;
  /** How it is answered; 200 without it. */
  readonly status?: number;
}

function getOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\r\n`;
}

export interface BesideLookUps {
  /** What was asked for. */
  readonly what: string;
  /** Paid requests a second beside it, and the 99th percentile of their time, as parts of those without them. */
  readonly rateShare: number;
  readonly p99Factor: number;
  /** Look-ups that were answered, and refused with 503 `overloaded`. */
  readonly answered: number;
  readonly shed: number;
}

/**
 * Paid requests without and beside 32 connections that look up, in turns of `windowMs`, so that both see the same machine.
 * Every paid request must be answered 200, and every look-up 200 or 503.
 */
export async function besideLookUps(
  server: TestServer,
  { rounds, windowMs }: { readonly rounds: number; readonly windowMs: number },
): Promise<BesideLookUps[]> {
  const port = Number(new URL(server.origin).port);
  const { key } = await server.account('enterprise');
  const paid = `GET /v1/integers?count=1&entropy_mode=csprng HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`;

  async function pay(durationMs: number): Promise<number[]> {
    const payers = await clients(PAYERS, port, () => paid);
    await new Promise((resolve) => setTimeout(resolve, durationMs));
    for (const payer of payers) payer.stop();
    for (const { statuses } of payers) {
      // none, where the machine is so busy that nothing was answered in the span
      for (const status of statuses.keys()) assert.equal(status, 200, 'a paid request is answered');
    }
    return payers.flatMap(({ latenciesMs }) => latenciesMs);
  }

  const logSize = async () =>
    Number((await (await fetchWhole(`${server.origin}/log/checkpoint`)).text()).split('\n')[1]);
  while ((await logSize()) < LOGGED) await pay(300);
  const size = await logSize();
  const answer = await fetchWhole(`${server.origin}/v1/uuid`, { headers: { 'x-api-key': server.key } });
  const { metadata } = (await answer.json()) as { metadata: { certificate_id: string } };
  const chance = new Chance('look-ups');
  const unknownMethod = '{"jsonrpc":"2.0","method":"a","params":{},"id":1}';
  const unpaid: readonly Unpaid[] = [
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
      request: () =>
        `POST /json-rpc/4/invoke HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${unknownMethod.length}\r\n\r\n${unknownMethod}`,
    },
  ];
  const measured: BesideLookUps[] = [];
  for (const { what, request, status = 200 } of unpaid) {
    const alone: number[] = [];
    const beside: number[] = [];
    let answered = 0;
    let shed = 0;
    for (let round = 0; round < rounds; round++) {
      alone.push(...(await pay(windowMs)));
      const others = await clients(KEYLESS, port, request);
      beside.push(...(await pay(windowMs)));
      for (const other of others) other.stop();
      for (const [given, count] of others.flatMap((other) => [...other.statuses])) {
        assert.ok(given === status || given === 503, `${what} is answered ${given}`);
        if (given === 503) shed += count;
        else answered += count;
      }
    }
    measured.push({
      what,
      rateShare: beside.length / alone.length,
      p99Factor: percentile(beside, 0.99) / percentile(alone, 0.99),
      answered,
      shed,
    });
  }
  return measured;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
