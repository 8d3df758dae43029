/**
 * What counting costs a request: one cell, one observation, and all that is recorded of an answer.
 *   node bench/metrics.bench.ts    table of medians, JSON in bench/out/metrics.json
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Bench } from 'tinybench';
import { systemClock } from '../src/core/clock.ts';
import { silentLog } from '../src/core/log.ts';
import { createMetricMemory, HTTP_DURATION, HTTP_REQUESTS, MetricShard } from '../src/core/metrics.ts';
import type { Exchange } from '../src/http/exchange.ts';
import { endpointRow, RequestRecord } from '../src/http/request-record.ts';
import type { AnswerEntry } from '../src/ledger/records.ts';

/** Calls in one measured run: the clock of the bench is coarser than one call. */
const CALLS = 1_000;

const shard = new MetricShard(createMetricMemory(2), 1);
const record = new RequestRecord({ shard, log: silentLog, clock: systemClock, logSample: 0.01 });
/** What is recorded of an exchange, without the socket. */
const exchanges = Array.from({ length: CALLS }, (_, i) => {
  const facts = { endpoint: endpointRow('integers'), mode: 'quantum-seeded', startedMonotonicMs: i / CALLS };
  return { ...facts, requestId: new Uint8Array(16).fill(255) } as unknown as Exchange;
});
const entry: AnswerEntry = {
  requestId: new Uint8Array(16),
  issuedAtMs: 0,
  accountNumber: 1,
  endpoint: 'integers',
  mode: 'quantum-seeded',
  source: 0,
  delivered: new Uint8Array(32),
  valueCount: 10,
  deliveredBytes: 120,
  consumedBytes: 9,
  credits: 0,
};

function thousand(each: (i: number) => unknown): () => void {
  return () => {
    for (let i = 0; i < CALLS; i++) each(i);
  };
}

const bench = new Bench({ time: 500 })
  .add(
    'a count',
    thousand((i) => shard.add(HTTP_REQUESTS, i & 127)),
  )
  .add(
    'an observation',
    thousand((i) => shard.observe(HTTP_DURATION, 0, i / 10_000)),
  )
  .add(
    'an answer and its reply',
    thousand((i) => {
      record.answered(entry);
      record.replied(exchanges[i], 200, 2);
    }),
  );
await bench.run();

const rows = bench.tasks.map(({ name, result }) => {
  const { p50, p99 } = (result as { latency: { p50: number; p99: number } }).latency;
  return {
    call: name,
    median_ns: Math.round((p50 * 1e7) / CALLS) / 10,
    p99_ns: Math.round((p99 * 1e7) / CALLS) / 10,
  };
});
console.table(rows);
mkdirSync(new URL('out/', import.meta.url), { recursive: true });
writeFileSync(new URL('out/metrics.json', import.meta.url), `${JSON.stringify(rows, null, 2)}\n`);
