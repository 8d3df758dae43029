import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { EngineName } from '../../src/http/engine.ts';
import { fetchHead } from '../support/http.ts';
import { until } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

const MIB = 1024 * 1024;
/** 20 MB of text, which is more than the sockets of this machine take from a stalled reader. */
const LARGE = {
  type: 'bytes',
  count: 10_000,
  entropy_mode: 'csprng',
  params: { length: 1_024, encoding: 'hex' },
};
const LARGE_BYTES = 10_000 * 2_051;
/** The share of one account. */
const SHARE_BYTES = LIMITS.largeReplyBytesMax / 2;
/** More than the share, and more than the whole bound. */
const READERS = 14;
/** Time at a hundredth of its pace: on a slow machine too, no deadline of a reply passes before its memory was counted. */
const startedMs = systemClock.monotonicMs();
let skippedMs = 0;
const passedMs = () => (systemClock.monotonicMs() - startedMs) / 100 + skippedMs;
const slowClock: Clock = {
  wallMs: () => 1_800_000_000_000 + passedMs(),
  monotonicMs: () => startedMs + passedMs(),
  jumpMs: () => 0,
};
const OTHERS_BATCH = { type: 'uuid', count: 50_000, entropy_mode: 'csprng' };

for (const engine of ['uws', 'node'] as const)
  describe(`on ${engine}, an account whose readers stall`, () => contract(engine));

function contract(engine: EngineName): void {
  let local: LocalService;
  let stalling: string;
  let other: string;
  const stalled: IncomingMessage[] = [];

  /** Requests a batch and resolves with its head; the body is not read until the caller reads it. */
  async function batch(key: string, body: object, idempotencyKey?: string): Promise<IncomingMessage> {
    const headers = {
      ...{ 'x-api-key': key, 'content-type': 'application/json' },
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    };
    const url = `${local.service.baseUrl}/batch`;
    const reply = await fetchHead(url, { method: 'POST', headers, body: JSON.stringify(body) });
    stalled.push(reply);
    return reply;
  }

  /** The statuses of at most as many batches, one after the other until one is refused, of which no body is read. */
  async function stall(countMax: number, idempotencyKey?: string): Promise<number[]> {
    const statuses: number[] = [];
    while (statuses.length < countMax && statuses.at(-1) !== 503) {
      statuses.push((await batch(stalling, LARGE, idempotencyKey)).statusCode!);
    }
    return statuses;
  }

  async function taken(key: string, body: object, idempotencyKey?: string): Promise<number> {
    const reply = await batch(key, body, idempotencyKey);
    let bytes = 0;
    for await (const piece of reply) bytes += (piece as Buffer).length;
    if (reply.statusCode === 200) assert.ok(bytes > MIB);
    return reply.statusCode!;
  }

  function letGo(): void {
    for (const reply of stalled.splice(0)) reply.destroy();
  }

  async function othersAreServed(): Promise<void> {
    for (let i = 0; i < 10; i++) assert.equal(await taken(other, OTHERS_BATCH), 200);
  }

  before(async () => {
    // uWebSockets.js cuts a reader who takes nothing for ten seconds by a clock of its own, so on it the test needs a machine that is not much slower
    local = await LocalService.start({ QRN_FRONT: engine }, { clock: slowClock });
    stalling = await local.account('enterprise');
    other = await local.account('enterprise');
    await until('the service answers', async () => (await taken(stalling, OTHERS_BATCH)) === 200);
  });
  after(async () => {
    letGo();
    await local.stop();
  });

  it('is refused further batches at half of the bound on replies, while another account is served', async () => {
    assert.equal(await taken(stalling, LARGE), 200); // what is allocated once is allocated
    const rssBefore = process.memoryUsage.rss();
    const statuses = await stall(READERS);
    const served = statuses.filter((status) => status === 200).length;
    assert.equal(served, Math.floor(SHARE_BYTES / LARGE_BYTES));
    assert.equal(statuses.at(-1), 503);
    const grownBytes = process.memoryUsage.rss() - rssBefore;
    // the clients are in this process too
    assert.ok(grownBytes < 2 * SHARE_BYTES, `${served} replies took ${grownBytes / MIB} MiB`);
    const areCounted = async () => {
      skippedMs += 1_100; // the metrics of a second are told again
      return (await local.counted('qrn_http_held_bytes')) >= served * LARGE_BYTES;
    };
    await until('the gauge counts whole replies', areCounted);
    await othersAreServed();
    assert.equal(await taken(stalling, LARGE), 503);
    letGo();
    await until('the account is served', async () => (await taken(stalling, LARGE)) === 200);
  });

  it('is refused further replays at half of the bound on replies, while another account is served', async () => {
    await until('the first is kept', async () => (await taken(stalling, LARGE, 'once')) === 200);
    const statuses = await stall(READERS, 'once');
    const served = statuses.filter((status) => status === 200).length;
    assert.equal(served, Math.floor(SHARE_BYTES / LARGE_BYTES));
    await othersAreServed();
    letGo();
    await until('the account is served', async () => (await taken(stalling, LARGE, 'once')) === 200);
  });
}
