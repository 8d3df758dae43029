import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Admission, type WeighedAnswer } from '../../src/answer/admission.ts';
import { ApiError } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { Budget } from '../../src/fair/budget.ts';
import { jsonBytesMax, type ValueRequest } from '../../src/values/value-request.ts';
import { ManualClock } from '../support/manual-clock.ts';

const uuids = (count: number): ValueRequest => ({ kind: 'uuid', count });
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
  const memory = new Budget(LIMITS.largeReplyBytesMax, () => replyBytes);
  const admission = new Admission({ threads, clock, memory });
  /** Makes an answer here that takes so long. */
  const here = (values: ValueRequest, busyMs: number) => {
    const weighed = answer(values);
    const startedMs = admission.enterTurn(weighed);
    clock.advance(busyMs);
    admission.madeHere(weighed, startedMs);
  };
  return { admission, here };
}

/** A worker's answer that is made when `finish` is called, and whose reader takes it at once. */
function held(admission: Admission, values: ValueRequest, account = 1) {
  const work = admission.enterQueue(answer(values, account));
  return {
    finish(busyMs: number) {
      work.leave(busyMs);
      work.memory.resize(0);
    },
  };
}

describe('what an answer is thought to cost', () => {
  it('follows what answers of its kind took', () => {
    const { admission, here } = subject();
    const floats = answer({ kind: 'floats', count: 1_000, precision: null });
    const floatsCost = admission.costUs(floats);
    for (let i = 0; i < 200; i++) here(uuids(1_000), 0.2);
    const cost = admission.costUs(answer(uuids(1_000)));
    assert.ok(cost > 198 && cost <= 201, `${cost} µs`);
    assert.equal(admission.costUs(floats), floatsCost, 'another kind costs what it did');
    for (const form of ['msgpack', 'octet-stream'] as const)
      assert.ok(
        admission.costUs({ values: uuids(1_000), form }) < cost / 2,
        'another form costs what it did',
      );
  });

  it('is one figure for each way of making integers', () => {
    const { admission, here } = subject();
    const ways = [{}, { unique: true }, { sort: 'ascending' }] as const;
    const values = ways.map(
      (way): ValueRequest => ({
        ...{ kind: 'integers', count: 10_000, min: 0, max: 99_999, unique: false, sort: 'none', ...way },
      }),
    );
    const costs = () => values.map((each) => admission.costUs(answer(each)));
    for (const [i, each] of values.entries()) {
      const before = costs();
      here(each, before[i] / 100);
      assert.deepEqual(
        costs().map((cost, at) => cost === before[at]),
        values.map((_, at) => at !== i),
      );
    }
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
  });
});

describe('the queue of the workers', () => {
  it('is bounded by count', async () => {
    const { admission } = subject({ threads: 64 });
    const all = Array.from({ length: LIMITS.largeAnswersMax }, (_, i) => held(admission, uuids(3_000), i));
    assert.throws(() => held(admission, uuids(3_000), 1_000), isOverloaded);
    for (const each of all) each.finish(0.2);
  });

  it('is empty again when all is made: what is dearer than its bound is let in then', () => {
    const { admission } = subject();
    held(admission, uuids(3_000)).finish(0.2);
    const dear = { ...answer(uuids(1e9)), valuesBytesMax: 1, memoryBytesMax: 1 };
    assert.doesNotThrow(() => admission.enterQueue(dear));
    assert.throws(() => held(admission, uuids(3_000)), isOverloaded);
  });
});

describe('an answer that the front makes', () => {
  it('is refused when it is long and readers hold all the memory', () => {
    const { here } = subject({ replyBytes: LIMITS.largeReplyBytesMax });
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
