import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  COUNTED,
  createMetricMemory,
  labelsOf,
  type MetricFamily,
  MetricShard,
  MetricTotals,
} from '../../src/core/metrics.ts';
import { Fair } from '../../src/fair/fair.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { headOf } from '../../src/http/head.ts';
import { corsPolicy } from '../../src/http/reply-fields.ts';
import { endpointRow, RequestRecord } from '../../src/http/request-record.ts';
import { recordingLog } from '../pool/fixtures.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { exchangeOn, ModelHost, ModelResponse } from './model-exchange.ts';

const KEY = 'qrn_p_secret';
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

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
  exchange(
    options: { last?: number; traceparent?: string; origin?: string; aborted?: boolean } = {},
  ): Exchange {
    const { traceparent, origin } = options;
    const { record, clock } = this;
    const fields = Object.entries({ authorization: `Bearer ${KEY}`, traceparent, origin });
    const response = new ModelResponse();
    const { exchange } = exchangeOn(response, new ModelHost(clock), {
      getUrl: () => '/v1/shuffle',
      getQuery: () => 'items=private,names',
      forEach: (visit) => {
        for (const [name, value] of fields) if (value !== undefined) visit(name, value);
      },
    });
    exchange.leaveHandler();
    if (options.aborted) exchange.destroy();
    response.writeStatus = (head) => this.sent.push(Buffer.from(head).toString('latin1'));
    const random = {
      fill: (bytes: Uint8Array) => new DataView(bytes.buffer).setUint32(12, options.last ?? 0),
    };
    const cors = corsPolicy(['https://a.example']);
    const fair = new Fair(clock);
    const unused = { explain: () => assert.fail(), fail: () => {} };
    exchange.begin({ record, clock, random, cors, fair, rateLimitFields: false, ...unused });
    return exchange;
  }

  /** What was counted, by labels. */
  counted(family: MetricFamily): Record<string, number> {
    const totals = new MetricTotals(this.memory);
    const rows = Array.from({ length: family.rows }, (_, row): [string, number] => {
      const labels = Object.values(labelsOf(family, row)).join(' ');
      const value =
        family.kind === 'histogram'
          ? totals.buckets(family, row).reduce((sum, count) => sum + count, 0)
          : totals.value(family, row);
      return [labels, value];
    });
    return Object.fromEntries(rows.filter(([, value]) => value !== 0));
  }
}

const head = (status: number) => headOf(status, [['X-A', 'b']]);
const NOTHING = new Uint8Array(0);

describe('the record of requests', () => {
  it('counts by endpoint, status, mode and error', () => {
    const world = new World(0);
    const answered = world.exchange();
    answered.endpoint = endpointRow('shuffle');
    answered.mode = 'pure';
    world.clock.advance(7);
    answered.reply(head(200), NOTHING);
    const refused = world.exchange();
    refused.error = 'rate_limited';
    refused.reply(head(429), NOTHING);
    assert.deepEqual(world.counted(COUNTED.qrn_http_requests_total), { 'shuffle 200': 1, 'unknown 429': 1 });
    assert.deepEqual(world.counted(COUNTED.qrn_http_errors_total), { rate_limited: 1 });
    assert.deepEqual(world.counted(COUNTED.qrn_http_request_duration_seconds), { pure: 1, none: 1 });
    assert.ok(
      Math.abs(new MetricTotals(world.memory).sum(COUNTED.qrn_http_request_duration_seconds, 1) - 0.007) <
        1e-12,
    );
  });

  it('counts what an answer held and cost', () => {
    const world = new World(0);
    world.record.answered({
      requestId: new Uint8Array(16),
      issuedAtMs: 0,
      accountNumber: 3,
      endpoint: 'batch',
      mode: 'pure',
      source: 0,
      delivered: new Uint8Array(32),
      valueCount: 100,
      deliveredBytes: 900,
      consumedBytes: 84,
      credits: 83,
    });
    assert.deepEqual(world.counted(COUNTED.qrn_answers_total), { 'batch pure': 1 });
    assert.deepEqual(world.counted(COUNTED.qrn_answer_values_total), { pure: 100 });
    assert.deepEqual(world.counted(COUNTED.qrn_entropy_consumed_bytes_total), { pure: 84 });
    assert.deepEqual(world.counted(COUNTED.qrn_credits_spent_total), { '': 83 });
  });

  it('counts a client that went away apart, and answers nobody twice', () => {
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

  it('writes a line for the share of requests that is asked for, by their random bits', () => {
    const lines = (logSample: number, last: number) => {
      const world = new World(logSample);
      world.exchange({ last }).reply(head(200), NOTHING);
      return world.log.lines.length;
    };
    assert.equal(lines(0, 0), 0);
    assert.equal(lines(1, 0xffff_ffff), 1);
    assert.equal(lines(0.25, 0x3fff_ffff), 1);
    assert.equal(lines(0.25, 0x4000_0000), 0);
  });

  it('writes every error, and the log leaves out equal ones', () => {
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

  it('names the request and its trace, and nothing that is secret or private', () => {
    const world = new World(1);
    const exchange = world.exchange({ traceparent: TRACEPARENT });
    exchange.endpoint = endpointRow('shuffle');
    exchange.mode = 'csprng';
    world.clock.advance(1.25);
    exchange.reply(head(200), NOTHING);
    const [line] = world.log.lines;
    assert.deepEqual(line, {
      level: 'info',
      message: 'request',
      facts: {
        request_id: exchange.requestIdText,
        x_request_id: exchange.requestUuid,
        trace_id: '0af7651916cd43dd8448eb211c80319c',
        method: 'GET',
        endpoint: 'shuffle',
        status: 200,
        mode: 'csprng',
        duration_ms: 1.25,
      },
    });
    assert.ok(!JSON.stringify(world.log.lines).includes(KEY));
    assert.ok(!JSON.stringify(world.log.lines).includes('private'));
  });
});

describe('an answer to a page of another origin, or in a trace', () => {
  it('has the fields for it behind its own, and no other answer has', () => {
    const world = new World(0);
    const plain = head(200);
    world.exchange().reply(plain, NOTHING);
    world.exchange({ origin: 'https://a.example', traceparent: TRACEPARENT }).reply(plain, NOTHING);
    world.exchange({ origin: 'https://b.example', traceparent: 'nonsense' }).reply(plain, NOTHING);
    const [own, foreign, refused] = world.sent;
    assert.equal(own, Buffer.from(plain).toString('latin1'));
    assert.equal(refused, own);
    assert.ok(foreign.startsWith(own));
    assert.match(foreign, /\r\nAccess-Control-Allow-Origin: https:\/\/a\.example\r\n/);
    assert.match(foreign, /\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
  });

  it('keeps the field of a resource that is open to all', () => {
    const world = new World(0);
    const open = headOf(200, [['Access-Control-Allow-Origin', '*']]);
    world.exchange({ origin: 'https://a.example' }).reply(open, NOTHING);
    assert.equal(world.sent[0], Buffer.from(open).toString('latin1'));
  });
});
