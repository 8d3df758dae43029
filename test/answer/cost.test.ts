import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MeasuredCosts } from '../../src/answer/cost.ts';
import { DEAR_FROM_BYTES, Plan } from '../../src/answer/request.ts';
import { jsonBytesMax, type ValueRequest } from '../../src/values/value-request.ts';

const uuids = (count: number): ValueRequest => ({ kind: 'uuid', count });
const asJson = (values: ValueRequest) => ({ values, form: 'json' }) as const;

describe('the estimated cost of an answer', () => {
  it('follows the times that answers of its kind took', () => {
    const costs = new MeasuredCosts();
    const floats = asJson({ kind: 'floats', count: 1_000, precision: null });
    const floatsCost = costs.us(floats);
    for (let i = 0; i < 200; i++) costs.learn(asJson(uuids(1_000)), 0.2);
    const cost = costs.us(asJson(uuids(1_000)));
    assert.ok(cost > 198 && cost <= 201, `${cost} µs`);
    assert.equal(costs.us(floats), floatsCost, 'another kind costs what it did');
    for (const form of ['msgpack', 'octet-stream'] as const)
      assert.ok(costs.us({ values: uuids(1_000), form }) < cost / 2, 'another form costs what it did');
  });

  it('grows with the work of making it, not just with the count of values', () => {
    const costs = new MeasuredCosts();
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
      const [few, many] = [less, more].map((values) => costs.us(asJson(values)));
      assert.ok(many > 10 * few, `${JSON.stringify(more).slice(0, 80)}: ${few} and ${many} µs`);
    }
  });

  it('is separate for each way of making integers', () => {
    const measured = new MeasuredCosts();
    const ways = [{}, { unique: true }, { sort: 'ascending' }] as const;
    const values = ways.map(
      (way): ValueRequest => ({
        ...{ kind: 'integers', count: 10_000, min: 0, max: 99_999, unique: false, sort: 'none', ...way },
      }),
    );
    const costs = () => values.map((each) => measured.us(asJson(each)));
    for (const [i, each] of values.entries()) {
      const before = costs();
      measured.learn(asJson(each), before[i] / 100_000);
      assert.deepEqual(
        costs().map((cost, at) => cost === before[at]),
        values.map((_, at) => at !== i),
      );
    }
  });

  it('is hardly changed by one answer that was delayed', () => {
    const costs = new MeasuredCosts();
    const before = costs.us(asJson(uuids(10_000)));
    costs.learn(asJson(uuids(10_000)), 10_000);
    const cost = costs.us(asJson(uuids(10_000)));
    assert.ok(cost > before && cost < 1.5 * before, `${before} and then ${cost} µs`);
  });

  it('is separate for text and JSON, and for octets', () => {
    const costs = new MeasuredCosts();
    const octets = { values: uuids(1_000), form: 'octet-stream', octets: 'uuid' } as const;
    const before = costs.us(octets);
    costs.learn({ ...octets, octets: 'csv' }, 0);
    assert.ok(costs.us(asJson(uuids(1_000))) < before, 'text is made from JSON');
    assert.equal(costs.us(octets), before);
  });

  it('requires the measured time', () => {
    assert.throws(() => new MeasuredCosts().learn(asJson(uuids(5_000)), Number.NaN), /how long it took/);
  });
});

it('an answer is dear from 25 µs or 16 KiB on', () => {
  const request = {
    endpoint: 'uuid',
    valueKey: 'uuids',
    members: {},
    mode: undefined,
    dryRun: false,
  } as const;
  const isDear = (values: ValueRequest) =>
    new Plan({ ...request, values }).sizeAs({ form: 'json', octets: undefined, mediaType: '' }).isDear;
  const digits = (length: number): ValueRequest => ({ kind: 'bitstring', length });
  const shorter = DEAR_FROM_BYTES - jsonBytesMax(digits(0)) - 1;
  assert.deepEqual([digits(shorter), digits(shorter + 1)].map(isDear), [false, true], 'by their text');
  const sorted = (count: number): ValueRequest => ({
    ...{ kind: 'integers', count, min: 0, max: 9, unique: false, sort: 'ascending' },
  });
  assert.deepEqual([sorted(249), sorted(251)].map(isDear), [false, true], 'by their cost');
});
