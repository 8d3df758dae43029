/** Short bit sequences for the tests of SP 800-22. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TestRow } from '../../src/stats/sp800-22/battery.ts';
import { type BitSequence, bitSequence } from '../../src/stats/sp800-22/sequence.ts';
import { SequenceTally } from '../../src/stats/sp800-22/verdict.ts';

export type Bits = readonly number[];

export function packBits(bits: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  for (let i = 0; i < bits.length; i++) bytes[i >>> 3] |= bits[i] << (7 - (i & 7));
  return bytes;
}

/** Within a relative `tolerance`. */
export function assertRelative(actual: number, expected: number, tolerance: number, what: string): void {
  const error = Math.abs(actual - expected);
  assert.ok(error <= tolerance * Math.abs(expected), `${what}: ${actual}, not ${expected}`);
}

/** The verdict on sequences that are all at hand. */
export function verdictAcross(sequences: readonly (readonly TestRow[])[]) {
  const tally = new SequenceTally();
  for (const rows of sequences) tally.add(rows);
  return tally.verdict();
}

/** `'1001'` or `[1, 0, 0, 1]`. */
export function sequenceOf(bits: string | Bits): BitSequence {
  const array = typeof bits === 'string' ? Array.from(bits, Number) : bits;
  return bitSequence(packBits(array), array.length);
}

/**
 * Bits that are fair, biased, in long runs, or repeat a short pattern: the shapes that the kernels branch on.
 */
export function arbitraryBits(minLength: number, maxLength: number): fc.Arbitrary<Bits> {
  const fair = fc.array(fc.nat(1), { minLength, maxLength });
  const biased = fc
    .array(fc.nat(9), { minLength, maxLength })
    .map((digits) => digits.map((digit) => (digit === 0 ? 0 : 1)));
  const runs = fc
    .tuple(fc.array(fc.integer({ min: 1, max: 40 }), { minLength, maxLength }), fc.nat(maxLength - minLength))
    .map(([lengths, extra]) => {
      const bits = lengths.flatMap((length, i) => new Array<number>(length).fill(i % 2));
      return bits.slice(0, minLength + extra);
    });
  const periodic = fc
    .tuple(
      fc.array(fc.nat(1), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: minLength, max: maxLength }),
    )
    .map(([pattern, length]) => Array.from({ length }, (_, i) => pattern[i % pattern.length]));
  return fc.oneof(fair, biased, runs, periodic);
}
