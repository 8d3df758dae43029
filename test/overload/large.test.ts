import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { type OverloadedFront, overloadedFront, type Reply, turn } from './stack.ts';

/** 100 ns each to begin with (values/cost.ts), the dearest for their size. */
const SORTED = { type: 'integers', count: 100_000, params: { min: 0, max: 999_999, sort: 'ascending' } };
const SORTED_MS = 10;
const PACKED = { accept: 'application/msgpack' };
/** Counts admitted for one account while it is alone, and for all accounts together. */
const OWN = Math.floor(LIMITS.largeQueueMs / 2 / SORTED_MS);
const ALL = 2 * OWN;
/** The same values in pure mode: log2(10^6) bits each. */
const PURE_SORTED = { ...SORTED, entropy_mode: 'pure' };
const PURE_COST = 249_145;
const CREDITS = 2_000_000;

function assertShed({ status, headers, body }: Reply): void {
  assert.equal(status, 503);
  assert.equal(headers.get('retry-after'), '1');
  assert.equal(headers.get('content-type'), 'application/json');
  assert.equal(body.error?.code, 'overloaded');
  assert.equal(body.error?.status, ERRORS.overloaded.status);
  assert.match(body.error?.request_id ?? '', /^req_[0-9a-z]{26}$/);
  assert.ok(headers.has('x-request-id'));
}

it('consecutive large answers reuse the same memory', async (t) => {
  const front = await overloadedFront(systemClock, 500);
  t.after(() => front.stop());
  const key = await front.account();
  for (const headers of [PACKED, PACKED, PACKED]) {
    const reply = front.batch(key, SORTED, headers);
    while (front.workers.held === 0) await turn();
    front.workers.release();
    assert.equal((await reply).status, 200);
  }
  assert.equal(front.workers.memories.length, 3);
  assert.equal(new Set(front.workers.memories).size, 1);
});

it('large answers that are cheap to make are admitted up to a bound of count, half of it for one account', async (t) => {
  const front = await overloadedFront(systemClock, 0);
  t.after(() => front.stop());
  const key = await front.account();
  const own = LIMITS.largeAnswersMax / 2;
  const cheap = { type: 'bytes', count: 100, params: { length: 1_000 } };
  const statuses: number[] = [];
  const ask = async () => statuses.push((await front.batch(key, cheap)).status);
  const asked = Array.from({ length: own + 3 }, ask);
  while (front.workers.held + statuses.length < own + 3) await turn();
  assert.deepEqual([front.workers.held, statuses], [own, [503, 503, 503]]);
  front.workers.release();
  await Promise.all(asked);
});

describe('more large answers than the workers can make', () => {
  let front: OverloadedFront;
  let first: string;
  let second: string;
  let third: string;
  /** Asked in this order; those let in stay open. */
  const asked: Promise<Reply>[] = [];
  const shed: Reply[] = [];

  /** Sends requests and waits until each is either with the workers or refused. */
  async function ask(key: string, count: number): Promise<{ letIn: number; refused: number }> {
    const before = { taken: front.workers.taken, shed: shed.length };
    for (let i = 0; i < count; i++) {
      const reply = front.batch(key, SORTED, PACKED);
      asked.push(reply);
      void reply.then((done) => {
        if (done.status !== 200) shed.push(done);
      });
    }
    const settled = () => front.workers.taken - before.taken + shed.length - before.shed;
    while (settled() < count) await turn();
    return { letIn: front.workers.taken - before.taken, refused: shed.length - before.shed };
  }

  before(async () => {
    front = await overloadedFront(systemClock, 500);
    front.workers.busyMs = SORTED_MS; // as weighed: the averages stay where they are
    first = await front.account();
    second = await front.account();
    third = await front.account({ creditsPerMonth: CREDITS });
  });
  after(() => front.stop());

  it('are admitted up to a bound of cost, half of it for one account', async () => {
    assert.deepEqual(await ask(first, OWN + 7), { letIn: OWN, refused: 7 });
    assert.deepEqual(await ask(second, OWN + 3), { letIn: OWN, refused: 3 });
    assert.deepEqual(await ask(third, 1), { letIn: 0, refused: 1 });
    assert.equal(front.workers.held, ALL);
  });

  it('are shed with 503 overloaded, a Retry-After and the usual form of errors', () => {
    assert.equal(shed.length, 11);
    for (const reply of shed) assertShed(reply);
  });

  it('do not delay small requests', async () => {
    for (let i = 0; i < 20; i++) {
      const { status, body } = await front.get(third, '/integers?count=10');
      assert.equal(status, 200);
      assert.equal(body.data?.values?.length, 10);
    }
    assert.equal((await front.get(first, '/integers?count=10')).status, 200);
    assert.equal((await front.get(third, '/bytes?count=32&entropy_mode=pure')).status, 200);
    assert.equal(front.workers.held, ALL);
  });

  it('cost nothing when they are shed: no byte, credit or quota', async () => {
    const usage = async () => {
      const { requests, credits, by_mode: byMode } = (await front.get(third, '/usage')).body.data!;
      return { requests, credits, byMode };
    };
    const level = async () => [(await front.ledger.blockLevels()).pure, front.stack.supply.pure.available()];
    const before = [await usage(), ...(await level())];
    const { taken } = front.workers;
    assertShed(await front.batch(third, PURE_SORTED, { ...PACKED, 'idempotency-key': 'a' }));
    assert.deepEqual([await usage(), ...(await level())], before);
    assert.equal(front.workers.taken, taken);
  });

  it('are refused for their price first: 402 comes before 503', async () => {
    await front.batch(third, PURE_SORTED, PACKED); // shed, and its price given back
    const dear = { type: 'bytes', count: 2_000, params: { length: 1_000 }, entropy_mode: 'pure' };
    const { status, body } = await front.batch(third, dear);
    assert.equal(status, 402);
    assert.equal(body.error?.code, 'credits_exhausted');
  });

  it('are all answered once the workers get to them, and then the service is as before', async () => {
    front.workers.release();
    const replies = await Promise.all(asked);
    assert.equal(replies.filter(({ status }) => status === 200).length, ALL);
    assert.equal(front.stack.committer.pending, 0);
    assert.equal(front.stack.memory.total, 0);
    assert.deepEqual(await ask(third, OWN + 1), { letIn: OWN, refused: 1 });
    front.workers.release();
    await Promise.all(asked);
  });

  it('that were shed can be requested again under the same Idempotency-Key', async () => {
    const again = () => front.batch(third, PURE_SORTED, { ...PACKED, 'idempotency-key': 'a' });
    const reply = again();
    while (front.workers.held === 0) await turn();
    front.workers.release();
    const { status, body } = await reply;
    assert.equal(status, 200);
    assert.equal(body.quantum_credits?.used, PURE_COST);
    assert.deepEqual((await again()).body, body);
    assert.equal(front.workers.held, 0);
  });
});
