import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import { PURE_BLOCK_BYTES } from '../../src/ledger/records.ts';
import { fetchWhole } from '../support/http.ts';
import { type OverloadedFront, overloadedFront, turn } from './stack.ts';

const BLOCKS = 100;

describe('pure requests whose text is long and whose entropy is short', () => {
  let front: OverloadedFront;
  let key: string;
  before(async () => {
    front = await overloadedFront(systemClock, BLOCKS);
    key = await front.account();
  });
  after(() => front.stop());

  /** Bytes that can still be drawn: in the reservoir and claimed by the front. */
  const left = async () =>
    (await front.ledger.blockLevels()).pure.bytes + front.stack.supply.pure.available();

  it('take only the bytes they draw: the rest of a block serves the next request', async () => {
    await front.get(key, '/bytes?count=1&entropy_mode=pure'); // the ring is filled
    const before = await left();
    // two items of 30 KB as they are sent, 60 KB each as JSON writes them: made by a worker
    const items = `${'%01'.repeat(10_000)},${'%02'.repeat(10_000)}`;
    let consumed = 0;
    for (let i = 0; i < 60; i++) {
      const reply = front.get(key, `/shuffle?items=${items}&entropy_mode=pure`);
      while (front.workers.held === 0) await turn();
      front.workers.release();
      const { status, body } = await reply;
      assert.equal(status, 200);
      consumed += body.metadata!.entropy_consumed_bytes;
    }
    assert.ok(consumed < 60 * 64, `${consumed} bytes were drawn`);
    assert.equal(await left(), before - consumed);
    assert.ok(front.stack.supply.pure.available() <= 20 * PURE_BLOCK_BYTES, 'what is held is bounded');
  });

  it('waste nothing when they are concurrent', async () => {
    const before = await left();
    const together = Array.from({ length: 20 }, () =>
      front.batch(key, { type: 'uuid', count: 5_000, entropy_mode: 'pure' }, { accept: 'application/json' }),
    );
    const replies = Promise.all(together);
    let isDone = false;
    replies.finally(() => (isDone = true));
    while (!isDone) {
      front.workers.release();
      await turn();
    }
    let consumed = 0;
    let refused = 0;
    for (const { status, body } of await replies) {
      if (status === 200) consumed += body.metadata!.entropy_consumed_bytes;
      else refused++;
    }
    assert.ok(refused < 20 && consumed > 0);
    assert.equal(await left(), before - consumed);
  });
});

it('pure requests on a full disk are refused and draw nothing, small, large and under a key, and the service is not ready', async (t) => {
  const front = await overloadedFront(systemClock, BLOCKS);
  t.after(() => front.stop());
  const key = await front.account();
  front.stack.becomeReady();
  const left = async () =>
    (await front.ledger.blockLevels()).pure.bytes + front.stack.supply.pure.available();
  const readiness = async () => {
    const reply = await fetchWhole(`${new URL(front.stack.baseUrl).origin}/readyz`);
    return `${reply.status} ${(await reply.text()).trim()}`;
  };
  await front.get(key, '/bytes?count=1&entropy_mode=pure'); // the ring is filled
  assert.equal(await readiness(), '200 ready');
  const before = await left();
  front.sink.refusal = { why: 'disk-full', retryAfterS: 30 };
  assert.equal(await readiness(), '503 disk-full');
  const small = '/bytes?count=1000&entropy_mode=pure';
  const large = { type: 'uuid', count: 5_000, entropy_mode: 'pure' };
  for (let i = 0; i < 10; i++) {
    const replies = [
      await front.get(key, small),
      await front.get(key, small, { 'idempotency-key': `key-${i}` }),
      await front.batch(key, large, { accept: 'application/json' }),
    ];
    for (const { status, headers, body } of replies) {
      assert.deepEqual([status, body.error?.code], [503, 'storage_unavailable']);
      assert.equal(headers.get('retry-after'), '30');
    }
  }
  assert.equal(await left(), before, 'bytes of the reservoir');
  front.sink.refusal = null;
  assert.equal(await readiness(), '200 ready');
  assert.equal((await front.get(key, small, { 'idempotency-key': 'key-1' })).status, 200);
  assert.ok((await left()) < before);
});

it("a pure request above the full reservoir's size is refused with the bound, draws nothing and costs nothing", async (t) => {
  const front = await overloadedFront(systemClock, 4);
  t.after(() => front.stop());
  const key = await front.account({ requestsPerMonth: 1 });
  const dear = { type: 'bytes', count: 10_000, params: { length: 1_024 }, entropy_mode: 'pure' };
  for (const body of [dear, { ...dear, dry_run: true }]) {
    const { status, headers, body: reply } = await front.batch(key, body);
    assert.equal(`${status} ${reply.error?.code}`, '400 pure_too_large');
    assert.equal(headers.get('retry-after'), null);
    assert.deepEqual(reply.error?.details, { bytes: 10_240_000, limit: 8_388_608 });
  }
  const { status } = await front.batch(key, { ...dear, entropy_mode: 'csprng', dry_run: true });
  assert.equal(status, 200, 'other modes have no such bound');
  const usage = (await front.get(key, '/usage')).body.data!;
  assert.equal((usage['requests'] as { used: number }).used, 0);
});
