import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createCell, Meter } from '../../src/account/meter.ts';
import { ReplyMemory } from '../../src/answer/buffer.ts';
import { STORED_HEAD_BYTES_MAX } from '../../src/answer/idempotency.ts';
import { makeValues, type WorkerOrder } from '../../src/answer/make.ts';
import { periodOf, systemClock } from '../../src/core/clock.ts';
import { ApiError } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { COUNTED, MetricTotals } from '../../src/core/metrics.ts';
import { RequestRecord } from '../../src/http/request-record.ts';
import { UnknownOutcome } from '../../src/ledger/linked-sink.ts';
import type { AnswerEntry } from '../../src/ledger/records.ts';
import { type OverloadedFront, overloadedFront, type Reply, turn } from '../overload/stack.ts';
import { fetchWhole, HttpConnection } from '../support/http.ts';

/** The life of an answer, behind a real socket and over a ledger in memory. */
describe('an answer', () => {
  let front: OverloadedFront;
  let key: string;
  before(async () => {
    front = await overloadedFront(systemClock, 100);
    key = await front.account();
  });
  after(() => front.stop());

  it('states in each form what was asked and what was ignored', async () => {
    const path = '/integers?count=2&min=1&max=6&nonsense=1';
    for (const type of ['application/json', 'application/msgpack']) {
      const { status, headers, body } = await front.get(key, path, { accept: type });
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), type);
      assert.equal(headers.get('x-ignored-parameters'), 'nonsense');
      assert.equal(headers.get('x-entropy-mode'), 'quantum-seeded');
      assert.deepEqual([body.data?.values?.length, body.data?.['max']], [2, 6]);
    }
    const { headers, body } = await front.get(key, '/integers?count=2');
    assert.equal(headers.get('x-ignored-parameters'), null);
    const { certificate_salt: salt, processing_time_ms: ms } = body.metadata as Record<string, unknown>;
    const { body: next } = await front.get(key, '/integers?count=2');
    assert.notEqual(salt, (next.metadata as Record<string, unknown>)['certificate_salt']);
    assert.ok(Number(ms) < 60_000);
  });

  it('states its label and its price', async () => {
    const path = '/bytes?count=4&purpose=raffle&user_data=list&entropy_mode=pure';
    const { status, body } = await front.get(key, path);
    const { label, quantum_credits: credits } = body as typeof body & { label: Record<string, unknown> };
    assert.equal(status, 200);
    const { series, ...said } = label;
    assert.deepEqual(said, { public: false, purpose: 'raffle', user_data: 'list' });
    assert.match(String(series), /^series_[0-9a-z]{26}$/);
    assert.equal(credits?.used, 4);
  });

  it('is counted once, whichever API returns it', async () => {
    const counted = () => {
      const totals = new MetricTotals(front.metrics);
      const { rows } = COUNTED.qrn_answers_total;
      const each = Array.from({ length: rows }, (_, row) => totals.value(COUNTED.qrn_answers_total, row));
      return each.reduce((sum, count) => sum + count);
    };
    const before = counted();
    await front.get(key, '/uuid');
    const call = { jsonrpc: '2.0', id: 1, method: 'generateUUIDs', params: { apiKey: key, n: 1 } };
    const url = new URL('/json-rpc/4/invoke', front.stack.baseUrl);
    await fetchWhole(url, { method: 'POST', body: JSON.stringify(call) });
    assert.equal(counted() - before, 2);
  });

  it('that cannot be sent is a 500 only for its own client', async (t) => {
    const { sink } = front;
    const commit = sink.commit.bind(sink);
    const committed = Promise.withResolvers<void>();
    const { mock } = t.mock.method(sink, 'commit', async (...given: Parameters<typeof commit>) => {
      await committed.promise;
      return commit(...given);
    });
    const first = front.get(key, '/uuid');
    while (mock.callCount() === 0) await turn();
    const others = Array.from({ length: 3 }, () => front.get(key, '/uuid'));
    while (front.stack.committer.pending < 4) await turn();
    const { answered } = RequestRecord.prototype;
    let told = 0;
    t.mock.method(RequestRecord.prototype, 'answered', function (this: RequestRecord, entry: AnswerEntry) {
      assert.notEqual(++told, 3, 'a fault while the third is sent');
      answered.call(this, entry);
    });
    committed.resolve();
    const replies = await Promise.all([first, ...others]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 200, 200, 500]);
    assert.equal((await front.get(key, '/uuid')).status, 200);
  });

  it('that is being sent keeps its memory until its reader has it, even if recording it fails', async (t) => {
    const { workers, stack } = front;
    t.mock.method(workers, 'make', async (order: WorkerOrder) => ({ ...makeValues(order), busyMs: 1 }));
    const unrecorded = () => assert.fail('not recorded');
    const { mock } = t.mock.method(RequestRecord.prototype, 'replied', unrecorded, { times: 1 });
    const socket = connect(Number(new URL(stack.baseUrl).port), '127.0.0.1');
    // more than the sockets of this machine take from a reader that has stalled
    const body = JSON.stringify({ type: 'bytes', count: 10_000, params: { length: 1_000 } });
    const head = ['POST /v1/batch HTTP/1.1', 'Host: h', `Authorization: Bearer ${key}`, 'Connection: close'];
    const fields = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    socket.write(`${[...head, ...fields].join('\r\n')}\r\n\r\n${body}`);
    while (mock.callCount() === 0) await turn();
    assert.ok(stack.memory.total > 0, 'nobody has read it');
    let bytes = 0;
    for await (const chunk of socket) bytes += (chunk as Buffer).length;
    assert.ok(bytes > 10_000_000);
    while (stack.memory.total > 0) await turn();
  });

  it('is shed while answers that wait for their readers hold too much memory', async (t) => {
    const { small } = ReplyMemory.prototype;
    let memory: ReplyMemory | undefined;
    t.mock.method(ReplyMemory.prototype, 'small', function (this: ReplyMemory, size: number) {
      memory = this;
      return small.call(this, size);
    });
    const status = async () => (await front.get(key, '/uuid')).status;
    assert.equal(await status(), 200);
    const held = memory!.adopt(new Uint8Array(LIMITS.pendingReplyBytesMax));
    assert.equal(await status(), 503);
    held.release();
    assert.equal(await status(), 200);
  });

  it('is given again to the same key, with the same fields and without further credits', async () => {
    const fields = { 'idempotency-key': 'once', accept: 'application/msgpack' };
    const path = '/bytes?count=4&entropy_mode=pure&nonsense=1';
    const [first, again] = [await front.get(key, path, fields), await front.get(key, path, fields)];
    assert.deepEqual(again.body, first.body);
    for (const name of [
      'content-type',
      'x-ignored-parameters',
      'x-request-id',
      'x-quantum-credits-remaining',
    ])
      assert.equal(again.headers.get(name), first.headers.get(name), name);
    const { used, remaining } = first.body.quantum_credits!;
    const next = await front.get(key, '/bytes?count=4&entropy_mode=pure');
    assert.deepEqual([used, next.body.quantum_credits?.remaining], [4, remaining - 4]);
  });

  it('is given again when nothing is left of the month, and only if there is memory for it', async () => {
    const poor = await front.account({ requestsPerMonth: 2 });
    const ask = async (name: string) => {
      const { status, body } = await front.get(poor, '/uuid?count=500', { 'idempotency-key': name });
      return body.error?.code ?? status;
    };
    const asked = [await ask('a'), await ask('a'), await ask('b'), await ask('c'), await ask('a')];
    assert.deepEqual(asked, [200, 200, 200, 'quota_exceeded', 200]);
    const others = front.stack.memory.add(99, LIMITS.largeReplyBytesMax);
    assert.equal(await ask('a'), 'overloaded');
    others.resize(0);
    assert.equal(await ask('a'), 200);
    const { requests } = (await front.get(poor, '/usage')).body.data as { requests?: { used: number } };
    assert.equal(requests?.used, 2);
  });

  it('that is large and stored does not delay the storing of small ones', async (t) => {
    const { sink, workers } = front;
    const commit = sink.commit.bind(sink);
    const stored = Promise.withResolvers<void>();
    let storing = 0;
    t.mock.method(sink, 'commit', async (...given: Parameters<typeof commit>) => {
      if (given[1].length > 0) {
        storing++;
        await stored.promise;
      }
      return commit(...given);
    });
    const large: Promise<Reply>[] = [];
    // as many as a committer has under way at a time
    for (const name of ['one', 'two']) {
      large.push(front.batch(key, { type: 'uuid', count: 5_000 }, { 'idempotency-key': name }));
      while (workers.held === 0) await turn();
      workers.release();
      while (storing < large.length) await turn();
    }
    assert.equal((await front.get(key, '/integers?count=2')).status, 200);
    stored.resolve();
    for (const { status } of await Promise.all(large)) assert.equal(status, 200);
  });

  it('that is large counts the memory it is made in, and once more the copy that is stored', async () => {
    const { workers, stack } = front;
    const heldBy = async (headers: Record<string, string>) => {
      const reply = front.batch(key, { type: 'uuid', count: 5_000 }, headers);
      while (workers.held === 0) await turn();
      const bytes = stack.memory.total;
      workers.release();
      assert.equal((await reply).status, 200);
      while (stack.memory.total > 0) await turn();
      return bytes;
    };
    const json = await heldBy({});
    assert.equal(json, 5_000 * 39 + 2);
    assert.equal(await heldBy({ 'idempotency-key': 'held' }), 2 * json + STORED_HEAD_BYTES_MAX);
    assert.ok((await heldBy({ accept: 'application/msgpack' })) > 1.9 * json);
  });

  it('whose outcome is unknown keeps its key and its price until it is known', async (t) => {
    const { sink } = front;
    const commit = sink.commit.bind(sink);
    const path = '/bytes?count=4&entropy_mode=pure';
    const remaining = async () => (await front.get(key, path)).body.quantum_credits?.remaining ?? 0;
    for (const isStored of [true, false]) {
      const before = await remaining();
      const fate = Promise.withResolvers<void>();
      const mocked = t.mock.method(sink, 'commit', async (...given: Parameters<typeof commit>) => {
        if (isStored) await commit(...given);
        throw new UnknownOutcome(fate.promise);
      });
      const ask = () => front.get(key, path, { 'idempotency-key': `unknown ${isStored}`.replace(' ', '-') });
      assert.equal((await ask()).body.error?.code, 'storage_unavailable');
      mocked.mock.restore();
      const again = await ask();
      if (isStored) assert.equal(again.status, 200, 'it is there, and is given again');
      else assert.equal(again.body.error?.code, 'idempotency_in_flight');
      assert.equal(await remaining(), before - 8);
      if (isStored) fate.resolve();
      else fate.reject(new Error('it was never stored'));
      await turn();
      assert.equal((await ask()).status, 200);
      assert.equal(await remaining(), before - 12, 'it is paid for once');
    }
  });
});

describe('a pure answer of an account that nodes share', () => {
  it('takes the credits that it asked for, and none if they are not granted or its client has left', async (t) => {
    let meter!: Meter;
    let asked: number[] = [];
    let answer = async (_credits: number): Promise<void> => {};
    const front = await overloadedFront(systemClock, 8, {
      cellsOf: async (accounts) =>
        accounts.map(({ allowance }) => {
          const cell = createCell(allowance, true);
          meter = new Meter(cell);
          return cell;
        }),
      ask: (accountNumber, credits) => {
        asked = [accountNumber, credits];
        return answer(credits);
      },
    });
    t.after(() => front.stop());
    const key = await front.account();
    const requests = { requestsGranted: 100, requestsLeft: 0, requestsUnused: 0 };
    const grant = (credits: number, creditsLeft: number) => {
      const creditsGranted = meter.share().creditsUsed + credits;
      meter.grant({ period: periodOf(systemClock.wallMs()), ...requests, creditsGranted, creditsLeft });
    };
    grant(0, 50);
    const path = '/bytes?count=4&entropy_mode=pure';
    const cases: [answer: typeof answer, outcome: string, retryAfterS: string | null][] = [
      [async (credits) => grant(credits, 50), '200', null],
      [async () => grant(0, 4), '503 overloaded', '1'],
      [async () => grant(0, 3), '402 credits_exhausted', null],
      [() => Promise.reject(new ApiError('storage_unavailable')), '503 storage_unavailable', null],
    ];
    for (const [given, outcome, retryAfterS] of cases) {
      answer = given;
      asked = [];
      const { status, headers, body } = await front.get(key, path);
      assert.deepEqual([status, body.error?.code].filter(Boolean).join(' '), outcome);
      assert.deepEqual([asked, headers.get('retry-after')], [[1, 4], retryAfterS], outcome);
    }
    const come = Promise.withResolvers<void>();
    answer = () => come.promise;
    asked = [];
    const connection = await HttpConnection.open(front.stack.port);
    connection.send(`GET /v1${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`);
    while (asked.length === 0) await turn();
    connection.leave();
    await turn();
    grant(4, 0);
    come.resolve();
    await turn();
    assert.equal(meter.share().creditsUsed, 4, 'of the first alone');
  });
});
