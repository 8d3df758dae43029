import fc from 'fast-check';
import type { SortOrder } from '../../src/values/integers.ts';
import type { ValueRequest } from '../../src/values/value-request.ts';
import { anyCharacter } from '../support/any-character.ts';

/** Integers as they come, in any order, unless told otherwise. */
export function integers(
  count: number,
  min: number,
  max: number,
  more: { readonly unique?: boolean; readonly sort?: SortOrder } = {},
): Extract<ValueRequest, { kind: 'integers' }> {
  return { kind: 'integers', count, min, max, unique: false, sort: 'none', ...more };
}

/** Requests of every kind, small enough that a slow twin can follow, with spans of every magnitude. */

const SPAN_MAX = 2 ** 53;

/** Spans near the places where a sampler changes its way, powers of two, and everything between. */
export const anySpan: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 2, max: 2 ** 22 }),
  fc.integer({ min: 2 ** 21, max: 2 ** 31 - 1 }),
  fc.maxSafeNat().map((n) => n + 1),
  fc
    .tuple(fc.integer({ min: 0, max: 53 }), fc.integer({ min: -2, max: 2 }))
    .map(([bits, delta]) => Math.min(SPAN_MAX, Math.max(1, 2 ** bits + delta))),
);

const anyRange: fc.Arbitrary<{ min: number; max: number }> = fc
  .tuple(anySpan, fc.maxSafeInteger(), fc.constantFrom('any', 'zero', 'symmetric'))
  .map(([span, place, where]) => {
    const lowest = -Number.MAX_SAFE_INTEGER;
    const highest = Number.MAX_SAFE_INTEGER - (span - 1);
    const wanted = where === 'any' ? place : where === 'zero' ? 0 : -Math.floor(span / 2);
    const min = Math.min(Math.max(wanted, lowest), highest);
    return { min, max: min + (span - 1) };
  });

const anyCount = fc.integer({ min: 1, max: 120 });
const anySort = fc.constantFrom('none', 'ascending', 'descending');

const integersRequest: fc.Arbitrary<ValueRequest> = fc
  .record({ count: anyCount, range: anyRange, unique: fc.boolean(), sort: anySort })
  .map(({ count, range, unique, sort }) => {
    const span = range.max - range.min + 1;
    return { kind: 'integers', count: unique ? Math.min(count, span) : count, ...range, unique, sort };
  });

const floatsRequest: fc.Arbitrary<ValueRequest> = fc
  .record({ count: anyCount, precision: fc.option(fc.integer({ min: 1, max: 15 }), { nil: null }) })
  .map(({ count, precision }) => ({ kind: 'floats', count, precision }));

const bytesRequest: fc.Arbitrary<ValueRequest> = fc
  .record({
    count: fc.integer({ min: 1, max: 9 }),
    length: fc.integer({ min: 1, max: 40 }),
    encoding: fc.constantFrom('hex', 'base64'),
    single: fc.boolean(),
  })
  .map((r) => ({ kind: 'bytes', ...r, count: r.single ? 1 : r.count }));

const uuidRequest: fc.Arbitrary<ValueRequest> = anyCount.map((count) => ({ kind: 'uuid', count }));

const bitstringRequest: fc.Arbitrary<ValueRequest> = fc
  .integer({ min: 1, max: 500 })
  .map((length) => ({ kind: 'bitstring', length }));

/** Items with everything that JSON escapes, and characters of every UTF-8 length. */
const anyItem = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.constantFrom('', '"', '\\', '/', '\b\t\n\f\r', '\u0000\u001f\u007f', 'é', '€', '𝄞', '\u2028'),
);

export const shuffleRequest: fc.Arbitrary<ValueRequest> = fc
  .array(anyItem, { minLength: 1, maxLength: 90 })
  .map((items) => ({ kind: 'shuffle', items }));

const itemsOf = (minLength: number) => fc.array(anyItem, { minLength, maxLength: 60 });

export const sampleRequest: fc.Arbitrary<ValueRequest> = fc
  .tuple(itemsOf(2), fc.nat())
  .map(([items, draw]) => ({ kind: 'sample', items, count: 1 + (draw % items.length) }));

const anyWeight = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 2 ** 46 }));

export const weightedRequest: fc.Arbitrary<ValueRequest> = fc
  .tuple(fc.array(fc.tuple(anyItem, anyWeight), { minLength: 2, maxLength: 60 }), anyCount)
  .map(([pairs, count]) => ({
    kind: 'weighted',
    count,
    items: pairs.map(([item]) => item),
    weights: pairs.map(([, weight]) => weight),
  }));

export const stringsRequest: fc.Arbitrary<ValueRequest> = fc
  .record({
    count: anyCount,
    length: fc.integer({ min: 1, max: 40 }),
    alphabet: fc.uniqueArray(anyCharacter, {
      minLength: 2,
      maxLength: 90,
    }),
  })
  .map((each) => ({ kind: 'strings', ...each }));

export const sequencesRequest: fc.Arbitrary<ValueRequest> = fc
  .record({
    count: fc.integer({ min: 1, max: 9 }),
    ranges: fc.array(fc.tuple(anyRange, fc.integer({ min: 1, max: 30 })), { minLength: 1, maxLength: 6 }),
    unique: fc.boolean(),
    sort: anySort,
  })
  .map(({ count, ranges, unique, sort }) => ({
    kind: 'sequences',
    count,
    ranges: ranges.map(([{ min, max }, length]) => ({
      length: unique ? Math.min(length, max - min + 1) : length,
      min,
      max,
      unique,
    })),
    sort,
  }));

export const permutationsRequest: fc.Arbitrary<ValueRequest> = fc
  .record({ count: fc.integer({ min: 1, max: 5 }), length: fc.integer({ min: 2, max: 80 }) })
  .map((each) => ({ kind: 'permutations', ...each }));

const anyDecimal = (max: number) =>
  fc.oneof(
    fc.integer({ min: 1, max }),
    fc.double({ min: 1e-9, max, noNaN: true }),
    fc.constantFrom(0.1, 1e-9, max, 99.5, 1e-5),
  );

export const gaussiansRequest: fc.Arbitrary<ValueRequest> = fc
  .record({
    count: fc.integer({ min: 1, max: 40 }),
    mean: fc.oneof(
      fc.constant(0),
      anyDecimal(1e6),
      anyDecimal(1e6).map((each) => -each),
    ),
    stddev: anyDecimal(1e6),
    digits: fc.integer({ min: 2, max: 14 }),
  })
  .map((each) => ({ kind: 'gaussians', ...each }));

export const anyRequest: fc.Arbitrary<ValueRequest> = fc.oneof(
  { weight: 4, arbitrary: integersRequest },
  { weight: 2, arbitrary: floatsRequest },
  bytesRequest,
  uuidRequest,
  bitstringRequest,
  shuffleRequest,
  sampleRequest,
  weightedRequest,
  stringsRequest,
  sequencesRequest,
  permutationsRequest,
  gaussiansRequest,
);
