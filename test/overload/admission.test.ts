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
  /** Makes an answer here that takes `busyMs`. */
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

describe('the estimated cost of an answer', () => {
  it('follows the times that answers of its kind took', () => {
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

  it('grows with the work of making it, not just with the count of values', () => {
    const { admission } = subject();
    const items = (size: number) => Array.from({ length: size }, (_, i) => `${i}`);
    const [short, long] = [1, 1_000].map((length) => [{ length, min: 0, max: 9, unique: false }]);
    const weighted = (count: number, text: string) =>
      ({ kind: 'weighted', items: [text, text], weights: [1, 1], count }) as const;
    const grows: readonly (readonly [less: ValueRequest, more: ValueRequest])[] = [
      [uuids(10), uuids(1_000)],
      [
        { kind: 'bytes', count: 1, length: 10, encoding: 'hex', single: true },
        { kind: 'bytes', count: 1, length: 10_000, encoding: 'hex', single: true },
      ],
      [
        { kind: 'strings', count: 10, length: 1, alphabet: ['a', 'b'] },
        { kind: 'strings', count: 10, length: 1_000, alphabet: ['a', 'b'] },
      ],
      [
        { kind: 'bitstring', length: 100 },
        { kind: 'bitstring', length: 100_000 },
      ],
      [
        { kind: 'shuffle', items: items(10) },
        { kind: 'shuffle', items: items(1_000) },
      ],
      [
        { kind: 'sample', items: items(10), count: 1 },
        { kind: 'sample', items: items(1_000), count: 1 },
      ],
      [weighted(10, 'a'), weighted(1_000, 'a')],
      [weighted(100, 'a'), weighted(100, 'a'.repeat(1_000))],
      // of as many numbers, many short lists take longer than a long one
      [
        { kind: 'sequences', count: 1, ranges: long, sort: 'none' },
        { kind: 'sequences', count: 1_000, ranges: short, sort: 'none' },
      ],
      [
        { kind: 'permutations', count: 1, length: 1_000 },
        { kind: 'permutations', count: 1_000, length: 1 },
      ],
    ];
    for (const [less, more] of grows) {
      const [few, many] = [less, more].map((values) => admission.costUs(answer(values)));
      assert.ok(many > 10 * few, `${JSON.stringify(more).slice(0, 80)}: ${few} and ${many} µs`);
    }
  });

  it('is separate for each way of making integers', () => {
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

  it('is hardly changed by one answer that was delayed', () => {
    const { admission, here } = subject();
    const before = admission.costUs(answer(uuids(10_000)));
    here(uuids(10_000), 10_000);
    const cost = admission.costUs(answer(uuids(10_000)));
    assert.ok(cost > before && cost < 1.5 * before, `${before} and then ${cost} µs`);
  });

  it('is separate for text and JSON, and for octets', () => {
    const { admission } = subject();
    const { form: _, ...bare } = { ...answer(uuids(1_000)), form: 'octet-stream' } as const;
    const octets = { ...bare, form: 'octet-stream', octets: 'uuid' } as const;
    const cost = (of: WeighedAnswer) => admission.costUs(of);
    const before = cost(octets);
    admission.madeHere({ ...octets, octets: 'csv' }, 0);
    assert.ok(cost(answer(uuids(1_000))) > before);
    assert.equal(cost(octets), before);
  });

  it('counts from 25 µs or 16 KiB on, and then an answer is refused if it is late or finds no room', () => {
    const { admission } = subject();
    const full = subject({ replyBytes: LIMITS.largeReplyBytesMax }).admission;
    const cases: [uuidCount: number, valuesBytesMax: number, isWeighed: boolean][] = [
      [480, 16_383, false],
      [480, 16_384, true],
      [500, 1, true],
    ];
    for (const [count, valuesBytesMax, isWeighed] of cases) {
      const asked = { ...answer(uuids(count)), valuesBytesMax };
      assert.equal(Number.isNaN(admission.enterTurn(asked)), !isWeighed);
      for (const late of [() => admission.enterTurn(asked, true), () => full.enterTurn(asked)])
        if (isWeighed) assert.throws(late, isOverloaded);
        else assert.ok(Number.isNaN(late()));
    }
    full.requireRoom(1, 16_383);
    assert.throws(() => full.requireRoom(1, 16_384), isOverloaded);
    admission.requireRoom(1, LIMITS.largeReplyBytesMax);
  });

  it('is updated once for each answer, and not for one that failed', () => {
    const { admission } = subject();
    const cost = () => admission.costUs(answer(uuids(100_000)));
    const before = cost();
    const failed = admission.enterQueue(answer(uuids(100_000)));
    failed.leave();
    failed.leave(10_000);
    assert.equal(cost(), before);
    admission.enterQueue(answer(uuids(100_000))).leave(before / 1_000);
    assert.equal(cost(), before);
  });

  it('requires the measured time', () => {
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

  it('is bounded by the total time, to the microsecond', () => {
    const { admission } = subject();
    const [most, rest, less] = [8_000_000, 2_000_020, 2_000_000]; // 50 ns each, and half a second in all
    const enter = (count: number, account: number) =>
      admission.enterQueue({ ...answer(uuids(count), account), memoryBytesMax: 1 });
    enter(most, 1);
    assert.throws(() => enter(rest, 2), isOverloaded);
    enter(less, 2);
  });

  it('admits an answer above the bound when it is empty', () => {
    const { admission } = subject();
    held(admission, uuids(3_000)).finish(0.2);
    const dear = { ...answer(uuids(1e9)), valuesBytesMax: 1, memoryBytesMax: 1 };
    assert.doesNotThrow(() => admission.enterQueue(dear));
    assert.throws(() => held(admission, uuids(3_000)), isOverloaded);
  });
});

it('an answer that the front makes is refused when it is long and readers hold all the memory', () => {
  const { here } = subject({ replyBytes: LIMITS.largeReplyBytesMax });
  assert.throws(() => here(uuids(1_000), 0.05), isOverloaded);
  here(uuids(10), 0.001);
});

it('answers that wait for entropy are bounded by count', async () => {
  const { admission } = subject();
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = Array.from({ length: LIMITS.waitingDrawsMax }, () => admission.afterWaiting(() => promise));
  assert.throws(() => admission.afterWaiting(() => promise), isOverloaded);
  resolve();
  await Promise.all(waiting);
  await admission.afterWaiting(() => promise);
});
