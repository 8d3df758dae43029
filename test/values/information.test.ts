import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bitsOfChoices } from '../../src/values/information.ts';
import { twinInformationBytes } from '../reference/values.ts';
import { anySpan } from './requests.ts';

const bitsOfPower = (of: number, count: number) => bitsOfChoices([{ of, count, unique: false, times: 1 }]);
const bitsOfFallingFactorial = (of: number, count: number) =>
  bitsOfChoices([{ of, count, unique: true, times: 1 }]);
const bytes = (bits: number) => Math.ceil(bits / 8);
const powerFactors = (base: number, count: number) => Array.from({ length: count }, () => BigInt(base));
const fallingFactors = (n: number, count: number) => Array.from({ length: count }, (_, i) => BigInt(n - i));

/** log2 by the topmost 64 bits. */
function log2(value: bigint): number {
  const shift = Math.max(0, 4 * value.toString(16).length - 64);
  return Math.log2(Number(value >> BigInt(shift))) + shift;
}

/** The largest whole number whose `count`-th power is at most `value`, by bisection around the double's guess. */
function rootBelow(value: bigint, count: number): number {
  const guess = Math.floor(2 ** (log2(value) / count));
  let low = guess - 64;
  let high = guess + 64;
  assert.ok(BigInt(low) ** BigInt(count) <= value && BigInt(high) ** BigInt(count) > value);
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (BigInt(middle) ** BigInt(count) <= value) low = middle;
    else high = middle;
  }
  return low;
}

describe('independent choices', () => {
  it('round to the exact number of bytes', () => {
    fc.assert(
      fc.property(anySpan, fc.integer({ min: 1, max: 400 }), (span, count) => {
        const bits = bitsOfPower(span, count);
        assert.equal(bytes(bits), twinInformationBytes(powerFactors(span, count)));
        assert.ok(Math.abs(bits - log2(BigInt(span) ** BigInt(count))) <= 1e-12 * bits);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are exact for powers of two', () => {
    for (let e = 0; e <= 53; e++)
      for (const n of [1, 3, 8, 100_000]) assert.equal(bitsOfPower(2 ** e, n), e * n);
  });

  it('are on the right side of a byte although the double of the logarithm is not', () => {
    assert.equal(8 * Math.log2(2 ** 52 + 1), 416, 'the double is exactly 52 bytes');
    assert.equal(bytes(bitsOfPower(2 ** 52 + 1, 8)), 53, 'and the truth is a little more');
    assert.equal(8 * Math.log2(2 ** 53 - 1), 424);
    assert.equal(bytes(bitsOfPower(2 ** 53 - 1, 8)), 53, 'here the truth is a little less');
    assert.equal(bytes(bitsOfPower(2 ** 48 + 1, 1)), 7);
    assert.equal(bytes(bitsOfPower(2 ** 48 - 1, 1)), 6);
    assert.equal(bytes(bitsOfPower(2 ** 52 + 1, 100_000)), 650_001);
    assert.equal(bytes(bitsOfPower(2 ** 53 - 1, 100_000)), 662_500);
  });

  it('are right where the logarithm comes nearer to a byte than doubles are apart', () => {
    const anyNear = fc.tuple(
      fc.integer({ min: 3, max: 300 }),
      fc.integer({ min: 50 * 64, max: 53 * 64 - 1 }),
    );
    fc.assert(
      fc.property(anyNear, ([count, bits64]) => {
        const wholeBytes = Math.floor((count * bits64) / 64 / 8);
        const below = rootBelow(256n ** BigInt(wholeBytes), count);
        assert.equal(bytes(bitsOfPower(below, count)), wholeBytes);
        assert.equal(bytes(bitsOfPower(below + 1, count)), wholeBytes + 1);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('choices without repeats', () => {
  it('round to the exact number of bytes', () => {
    fc.assert(
      fc.property(anySpan, fc.integer({ min: 1, max: 400 }), (span, wanted) => {
        const count = Math.min(span, wanted);
        const factors = fallingFactors(span, count);
        const bits = bitsOfFallingFactorial(span, count);
        assert.equal(bytes(bits), twinInformationBytes(factors));
        assert.ok(Math.abs(bits - log2(factors.reduce((a, b) => a * b))) <= 1e-12 * bits);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are exact for the largest answers', () => {
    for (const [n, count] of [
      [10_000, 10_000],
      [100_000, 100_000],
      [2 ** 53, 20_000],
    ]) {
      assert.equal(bytes(bitsOfFallingFactorial(n, count)), twinInformationBytes(fallingFactors(n, count)));
    }
  });

  it('are the factorial of the number of items when all are taken', () => {
    assert.equal(bitsOfFallingFactorial(1, 1), 0);
    assert.equal(bitsOfFallingFactorial(2, 2), 1);
    assert.equal(bytes(bitsOfFallingFactorial(52, 52)), 29); // 225.58 bits
  });

  it('stay below a byte that they nearly fill: 2^53 · (2^53 - 1) · … of eight', () => {
    assert.equal(bytes(bitsOfFallingFactorial(2 ** 53, 8)), 53);
    assert.equal(bytes(bitsOfFallingFactorial(2 ** 52 + 5, 8)), 53); // just above 8 · 52 bits
    assert.equal(bytes(bitsOfFallingFactorial(2 ** 52 + 3, 8)), 52); // just below
  });
});
