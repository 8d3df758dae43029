import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { writeDecimals } from '../../src/values/floats.ts';
import { blocksOf } from '../../src/values/offsets.ts';
import { dividedOffset } from '../reference/offsets.ts';
import { drawnText } from './drawn.ts';
import { keystream, readerOf } from './keystream.ts';

function assertText(text: string, values: readonly number[]): void {
  const expected = JSON.stringify(values);
  if (text === expected) return; // a message is made only on failure
  const written = text.slice(1, -1).split(',');
  values.forEach((value, i) => {
    assert.equal(written[i], String(value));
  });
  assert.equal(text, expected);
}

function drawn(count: number, precision: number | null, bytes: Uint8Array): string {
  return drawnText({ kind: 'floats', count, precision }, readerOf(bytes));
}

/** Checks the text of each m / 2^53. */
function check(numerators: Iterable<number>): void {
  const values = Float64Array.from(numerators, (m) => m / 2 ** 53);
  const bytes = new Uint8Array(7 * values.length + 1);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    view.setBigUint64(7 * i, BigInt(value * 2 ** 53), true);
  });
  assertText(drawn(values.length, null, bytes), [...values]);
}

const inRange = (m: number) => m >= 0 && m < 2 ** 53;

describe('the text of multiples of 2^-53', () => {
  it('equals String on uniform ones', () => {
    const words = new DataView(keystream(8 * 200_000).buffer);
    check(Array.from({ length: 200_000 }, (_, i) => Number(words.getBigUint64(8 * i) >> 11n)));
  });

  it('equals String on numbers of every magnitude', () => {
    const anyNumerator = fc
      .tuple(fc.integer({ min: 0, max: 53 }), fc.maxSafeNat())
      .map(([bits, n]) => n % 2 ** bits);
    fc.assert(fc.property(fc.array(anyNumerator, { minLength: 1, maxLength: 100 }), check), { numRuns: 500 });
  });

  it('equals String next to decimals of few digits, where 15 digits may or may not do', () => {
    const anyDecimal = fc
      .tuple(fc.integer({ min: 1, max: 16 }), fc.maxSafeNat(), fc.integer({ min: -2, max: 2 }))
      .map(([places, n, delta]) => Math.round(((n % 10 ** places) / 10 ** places) * 2 ** 53) + delta)
      .filter(inRange);
    fc.assert(fc.property(fc.array(anyDecimal, { minLength: 1, maxLength: 100 }), check), { numRuns: 500 });
  });

  it('equals String on multiples of 2^-16 to 2^-20, among them the short forms and the exact halves', () => {
    check(Array.from({ length: 2 ** 16 }, (_, k) => k * 2 ** 37));
    check(Array.from({ length: 2 ** 16 }, (_, k) => (2 * k + 1) * 2 ** 36)); // 17 digits that end in 5
    for (const e of [18, 19, 20]) {
      // the same after 17 digits
      check(Array.from({ length: Math.floor(2 ** e / 14) }, (_, k) => (14 * k + 1) * 2 ** (53 - e)));
    }
  });

  it('equals String around powers of two and of ten and at both ends', () => {
    const centres = [
      ...Array.from({ length: 54 }, (_, e) => 2 ** e),
      ...Array.from({ length: 10 }, (_, e) => Math.round(2 ** 53 / 10 ** e)),
    ];
    const deltas = Array.from({ length: 81 }, (_, i) => i - 40);
    check(centres.flatMap((centre) => deltas.map((delta) => centre + delta)).filter(inRange));
    check([0, 1, 2 ** 53 - 1]);
  });
});

describe('the text of multiples of a power of ten', () => {
  for (const precision of [5, 6]) {
    it(`equals String for every number of ${precision} places, drawn and written at once`, () => {
      const count = 10 ** precision;
      const bytes = new Uint8Array(4 * count);
      const view = new DataView(bytes.buffer);
      // the first word that is accepted and gives k
      for (let k = 0; k < count; k++) {
        view.setUint32(4 * k, Math.ceil((k * 2 ** 32 + (2 ** 32 % count)) / count), true);
      }
      const values = Array.from({ length: count }, (_, k) => Number(`${k}e-${precision}`));
      assertText(drawn(count, precision, bytes), values);
    });
  }

  it('follows the rule of division at the multiples of 10^15 and refuses words beyond the last', () => {
    const span = 10n ** 15n;
    const words = Array.from({ length: 10 }, (_, q) => BigInt(q) * span).flatMap((multiple) =>
      [-(10n ** 9n), -(10n ** 7n), -1n, 0n, 1n, 10n ** 7n, 10n ** 9n - 1n, 10n ** 9n, 10n ** 14n].map(
        (delta) => multiple + delta,
      ),
    );
    words.push(2n ** 53n - 1n);
    const inWords = words.filter((word) => word >= 0n && word < 2n ** 53n);
    const expected = inWords.flatMap((word) => dividedOffset(word, 2n ** 53n, span) ?? []);
    const bytes = new Uint8Array(7 * inWords.length + 1);
    const view = new DataView(bytes.buffer);
    inWords.forEach((word, i) => {
      view.setBigUint64(7 * i, word | (BigInt(i % 8) << 53n), true);
    });
    assert.ok(expected.length < inWords.length);
    assertText(
      drawn(expected.length, 15, bytes),
      expected.map((numerator) => Number(numerator) / 1e15),
    );
  });

  it('equals String on numbers of every magnitude and places', () => {
    const anyNumerators = fc.array(fc.tuple(fc.integer({ min: 0, max: 15 }), fc.maxSafeNat()), {
      minLength: 1,
      maxLength: 100,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 15 }), anyNumerators, (precision, picks) => {
        const numbers = picks.map(([digits, n]) => n % 10 ** Math.min(digits, precision));
        const values = numbers.map((k) => Number(`${k}e-${precision}`));
        for (const Width of precision <= 9 ? [Uint32Array, Float64Array] : [Float64Array]) {
          const target = new Uint8Array(20 * values.length + 2);
          const end = writeDecimals(blocksOf(Width.from(numbers)), precision, target, 0);
          assertText(`[${Buffer.from(target.subarray(0, end - 1)).toString()}]`, values);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
