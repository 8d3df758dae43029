import { systemClock } from '../src/core/clock.ts';
import { silentLog } from '../src/core/log.ts';
import { createMetricMemory, HTTP_DURATION, HTTP_REQUESTS, MetricShard } from '../src/core/metrics.ts';
import type { Exchange } from '../src/http/exchange.ts';
import { endpointRow, RequestRecord } from '../src/http/request-record.ts';
import type { AnswerEntry } from '../src/ledger/records.ts';
import type { Report, Suite } from './support/suite.ts';
import { callTable } from './support/tables.ts';

const EXCHANGES = 1_000;

/** What counting costs a request: one cell, one observation, and all that is recorded of an answer. */
export const metrics: Suite = {
  name: 'metrics',
  summary: 'ns that counting costs a request',
  byDefault: true,
  async run(run): Promise<Report> {
    const shard = new MetricShard(createMetricMemory(2), 1);
    const record = new RequestRecord({ shard, log: silentLog, clock: systemClock, logSample: 0.01 });
    /** What is recorded of an exchange, without the socket. */
    const exchanges = Array.from({ length: EXCHANGES }, (_, i) => {
      const facts = {
        endpoint: endpointRow('integers'),
        mode: 'quantum-seeded',
        startedMonotonicMs: i / EXCHANGES,
      };
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
    let turn = 0;
    const calls = {
      'a count': () => shard.add(HTTP_REQUESTS, turn++ & 127),
      'an observation': () => shard.observe(HTTP_DURATION, 0, (turn++ % EXCHANGES) / 10_000),
      'an answer and its reply': () => {
        record.answered(entry);
        record.replied(exchanges[turn++ % EXCHANGES], 200, 2);
      },
    };
    return { tables: [await callTable(run, { title: 'What counting costs', note: '' }, 'ns', calls)] };
  },
};
