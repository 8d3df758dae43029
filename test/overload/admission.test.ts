import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { Admission, type WeighedAnswer } from '../../src/answer/admission.ts';
import { ApiError } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { Budget, NO_KEY } from '../../src/fair/budget.ts';
import { jsonBytesMax, type ValueRequest } from '../../src/values/value-request.ts';
import { ManualClock } from '../support/manual-clock.ts';

const uuids = (count: number): ValueRequest => ({ kind: 'uuid', count });
const sorted = (count: number): ValueRequest => ({
  ...{ kind: 'integers', count, min: 0, max: 999_999 },
  ...{ unique: false, sort: 'ascending' },
});
const answer = (values: ValueRequest, account = 1): WeighedAnswer => ({
  ...{
    values,
    form: 'json',
    valuesBytesMax: jsonBytesMax(values),
    memoryBytesMax: jsonBytesMax(values),
    accountNumber: account,
  },
});
const isOverloaded = (error: unknown) =>
  error instanceof ApiError && error.code === 'overloaded' && error.facts.retryAfterS === 1;

function subject({ threads = 1, replyBytes = 0 } = {}) {
  const clock = new ManualClock();
  const made = { bytes: replyBytes };
  const memory = new Budget(LIMITS.largeReplyBytesMax, () => made.bytes);
  const admission = new Admission({ threads, clock, memory });
  /** Makes an answer here that takes so long. */
  const here = (values: ValueRequest, busyMs: number, account = 1) => {
    const weighed = answer(values, account);
    const startedMs = admission.enterTurn(weighed);
    clock.advance(busyMs);
    admission.madeHere(weighed, startedMs);
  };
  return { admission, memory, made, here };
}

/** A worker's answer that is made when `finish` is called, and whose reader takes it at once. */
function held(admission: Admission, values: ValueRequest, account = 1) {
  const weighed = answer(values, account);
  const work = admission.enterQueue(weighed);
  const leave = (busyMs: number | undefined) => {
    admission.leaveQueue(weighed, work, busyMs);
    work.memory.resize(0);
  };
  return {
    finish: (busyMs: number) => leave(busyMs),
    fail: () => leave(undefined),
    /** It is made and waits for its reader. */
    made(busyMs: number) {
      admission.leaveQueue(weighed, work, busyMs);
      return () => work.memory.resize(0);
    },
  };
}

describe('what an answer is thought to cost', () => {
  it('follows what answers of its kind took', async () => {
    const { admission, here } = subject();
    const floats = answer({ kind: 'floats', count: 1_000, precision: null });
    const floatsCost = admission.costUs(floats);
    for (let i = 0; i < 200; i++) {
      here(uuids(1_000), 0.2);
      await nextTurn();
    }
    const cost = admission.costUs(answer(uuids(1_000)));
    assert.ok(cost > 198 && cost <= 201, `${cost} µs`);
    assert.equal(admission.costUs(floats), floatsCost, 'another kind costs what it did');
    const ofForm = (form: 'msgpack' | 'octet-stream') => admission.costUs({ values: uuids(1_000), form });
    assert.ok(ofForm('octet-stream') < ofForm('msgpack') && ofForm('msgpack') < cost);
  });

  it('does not believe one answer that was held up', () => {
    const { admission, here } = subject();
    const before = admission.costUs(answer(uuids(10_000)));
    here(uuids(10_000), 10_000);
    const cost = admission.costUs(answer(uuids(10_000)));
    assert.ok(cost > before && cost < 1.5 * before, `${before} and then ${cost} µs`);
  });

  it('needs a time from whoever made it', () => {
    const { admission } = subject();
    assert.throws(() => held(admission, uuids(5_000)).finish(Number.NaN), /how long it took/);
    assert.equal(admission.queuedMs, 0);
  });
});

describe('the queue of the workers', () => {
  it('is bounded by count', async () => {
    const { admission } = subject({ threads: 64 });
    const all = Array.from({ length: LIMITS.largeAnswersMax }, (_, i) => held(admission, uuids(3_000), i));
    assert.throws(() => held(admission, uuids(3_000), 1_000), isOverloaded);
    for (const each of all) each.finish(0.2);
  });

  it('is bounded by the memory of its answers and of those that wait behind it', async () => {
    const { admission, made } = subject({ threads: 64 });
    const large: ValueRequest = {
      kind: 'bytes',
      count: 100_000,
      length: 150,
      encoding: 'hex',
      single: false,
    };
    const fitting = Math.floor(LIMITS.largeReplyBytesMax / jsonBytesMax(large));
    const letIn = [];
    for (let i = 0; i < fitting; i++) letIn.push(held(admission, large, i));
    assert.throws(() => held(admission, large, 99), isOverloaded);
    const left = letIn[0].made(60);
    assert.throws(() => held(admission, large, 99), isOverloaded, 'it waits for its reader now');
    left();
    made.bytes = jsonBytesMax(large); // of answers that wait for the ledger
    assert.throws(() => held(admission, large, 99), isOverloaded);
    made.bytes = 0;
    letIn.push(held(admission, large, 99));
    for (const each of letIn.slice(1)) each.finish(60);
  });

  it('counts what slow readers hold against their account, and clients without a key as one account', () => {
    const { admission, memory } = subject({ threads: 64 });
    const half = LIMITS.largeReplyBytesMax / 2;
    const isShed = (account: number, bytes: number) => {
      assert.throws(() => admission.requireRoom(account, bytes), isOverloaded);
      assert.equal(memory.fits(account, bytes), false);
    };
    const first = memory.add(1, half - 20_000);
    const keyless = memory.add(NO_KEY, half - 40_000);
    admission.requireRoom(1, 20_000);
    isShed(1, 20_001);
    assert.throws(() => held(admission, uuids(5_000), 1), isOverloaded);
    assert.equal(memory.fits(NO_KEY, 40_001), false);
    assert.equal(memory.fits(NO_KEY, 40_000), true);
    admission.requireRoom(2, 60_000);
    isShed(2, 60_001);
    first.resize(0);
    admission.requireRoom(1, half);
    keyless.resize(0);
    assert.equal(memory.total, 0);
  });

  it('is never above its bounds, gives each account its half, and ends empty', () => {
    const CASES = 150;
    const counts = fc.integer({ min: 30_000, max: 1_000_000 });
    const steps = fc.array(
      fc.record({ account: fc.integer({ min: 1, max: 3 }), count: counts, finish: fc.boolean() }),
      { minLength: 20, maxLength: 80 },
    );
    return fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const { admission } = subject();
        const open: { account: number; costUs: number; finish: (busyMs: number) => void }[] = [];
        const boundUs = 1_000 * LIMITS.largeQueueMs;
        const sum = (account?: number) =>
          open.reduce(
            (total, each) => total + (account === undefined || each.account === account ? each.costUs : 0),
            0,
          );
        for (const { account, count, finish } of sequence) {
          if (finish && open.length > 0) {
            const { costUs, ...oldest } = open.shift()!;
            oldest.finish(costUs / 1_000);
            continue;
          }
          const values = sorted(count);
          const costUs = admission.costUs(answer(values));
          const own = sum(account);
          const fits = sum() + costUs <= boundUs && (own === 0 || own + costUs <= boundUs / 2);
          const before = admission.queuedMs;
          try {
            open.push({ account, costUs, ...held(admission, values, account) });
            assert.ok(fits || before === 0);
          } catch (error) {
            assert.ok(isOverloaded(error) && !fits);
            assert.equal(admission.queuedMs, before);
          }
          assert.equal(admission.queuedMs, sum() / 1_000);
        }
        for (const { costUs, finish } of open) finish(costUs / 1_000);
        assert.equal(admission.queuedMs, 0);
        assert.equal(admission.largeAnswers, 0);
      }),
      { numRuns: CASES },
    );
  });
});

describe('an answer that the front makes', () => {
  it('makes no long answer when readers hold all the memory', () => {
    const { made, here } = subject();
    made.bytes = LIMITS.largeReplyBytesMax;
    assert.throws(() => here(uuids(1_000), 0.05), isOverloaded);
    here(uuids(10), 0.001);
  });
});

describe('answers that wait for entropy', () => {
  it('are bounded by count', async () => {
    const { admission } = subject();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = Array.from({ length: LIMITS.waitingDrawsMax }, () =>
      admission.afterWaiting(() => promise),
    );
    assert.throws(() => admission.afterWaiting(() => promise), isOverloaded);
    resolve();
    await Promise.all(waiting);
    await admission.afterWaiting(() => promise);
  });
});
