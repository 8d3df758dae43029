import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COUNTED, createMetricMemory, labelsOf, MetricShard, MetricTotals } from '../../src/core/metrics.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { headOf } from '../../src/http/head.ts';
import { RequestRecord } from '../../src/http/request-record.ts';
import type { RouterOptions } from '../../src/http/router.ts';
import { recordingLog } from '../pool/fixtures.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { exchangeOn, ModelHost, ModelWire } from './model-exchange.ts';

/**
 * Records whose counts and log lines a running service does not show (test/api/metrics.test.ts,
 * test/api/health.test.ts).
 */
class World {
  readonly clock = new ManualClock();
  readonly log = recordingLog();
  readonly memory = createMetricMemory(1);
  readonly record: RequestRecord;
  readonly sent: string[] = [];

  constructor(logSample: number) {
    const shard = new MetricShard(this.memory, 0);
    this.record = new RequestRecord({ shard, log: this.log, clock: this.clock, logSample });
  }

  /** `last` are the last four bytes of the request id, which decide about its line. */
  exchange(options: { last?: number; aborted?: boolean } = {}): Exchange {
    const { record, clock } = this;
    const wire = new ModelWire();
    const random = {
      fill: (bytes: Uint8Array) => new DataView(bytes.buffer).setUint32(12, options.last ?? 0),
    };
    const { exchange } = exchangeOn(wire, new ModelHost(undefined, clock, random));
    if (options.aborted) exchange.destroy();
    wire.send = (head) => this.sent.push(Buffer.from(head).toString('latin1'));
    exchange.service = { record, clock, corsOrigins: [] } as unknown as RouterOptions;
    return exchange;
  }

  /** Returns the counts by labels. */
  counted(family: typeof COUNTED.qrn_http_errors_total): Record<string, number> {
    const totals = new MetricTotals(this.memory);
    const rows = Array.from({ length: family.rows }, (_, row): [string, number] => {
      return [Object.values(labelsOf(family, row)).join(' '), totals.value(family, row)];
    });
    return Object.fromEntries(rows.filter(([, value]) => value !== 0));
  }
}

const head = (status: number) => headOf(status, [['X-A', 'b']]);
const NOTHING = new Uint8Array(0);

describe('the record of requests', () => {
  it('counts a client that disconnected separately, and records no answer twice', () => {
    const world = new World(1);
    world.exchange({ aborted: true }).reply(head(200), NOTHING);
    const late = world.exchange();
    late.isAnswered = true;
    late.reply(head(200), NOTHING);
    assert.deepEqual(world.sent, []);
    assert.deepEqual(world.counted(COUNTED.qrn_http_requests_aborted_total), { '': 1 });
    assert.deepEqual(world.counted(COUNTED.qrn_http_requests_total), {});
    assert.deepEqual(world.log.lines, []);
  });

  it('writes a line for the configured share of requests, by their random bits', () => {
    const lines = (logSample: number, last: number) => {
      const world = new World(logSample);
      world.exchange({ last }).reply(head(200), NOTHING);
      return world.log.lines.length;
    };
    assert.equal(lines(1, 0xffff_ffff), 1);
    const streamed = new World(1);
    streamed.exchange().beginLines(head(200));
    assert.equal(streamed.log.lines[0].facts['status'], 200);
    const some = [0, 1, 0xff, 0x100, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, 0xffff_ffff];
    for (const below of some)
      for (const last of some) assert.equal(lines(below / 2 ** 32, last), last < below ? 1 : 0);
  });

  it('writes every error, and the log drops repeated ones', () => {
    const world = new World(0);
    const refuse = (count: number) => {
      for (let i = 0; i < count; i++) {
        const exchange = world.exchange({ last: 0xffff_ffff });
        exchange.error = 'auth_invalid';
        exchange.reply(head(401), NOTHING);
      }
    };
    refuse(251);
    assert.equal(world.log.lines.filter(({ facts }) => facts['error'] === 'auth_invalid').length, 251);
    assert.deepEqual(world.counted(COUNTED.qrn_http_errors_total), { auth_invalid: 251 });
  });
});
