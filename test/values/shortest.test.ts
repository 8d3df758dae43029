import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { writeShortest } from '../../src/values/shortest.ts';
import { keystream, readerOf } from './keystream.ts';

fc.configureGlobal({ seed: 4_122 });

const target = Buffer.alloc(48);
const view = new DataView(target.buffer, target.byteOffset, target.byteLength);

function check(x: number): void {
  const end = writeShortest(view, 2, x);
  const text = target.toString('latin1', 2, end);
  if (text !== String(x)) assert.equal(text, String(x)); // the message is made only on failure
}

describe('writeShortest', () => {
  it('equals String on uniform multiples of 2^-53', () => {
    const reader = readerOf(keystream(7 * 100_000));
    const values = new Float64Array(100_000);
    reader.fillWide(values, 0, values.length, 3);
    for (const m of values) check(m / 2 ** 53);
  });

  it('equals String on numbers of every magnitude', () => {
    const anyNumerator = fc
      .tuple(fc.integer({ min: 0, max: 53 }), fc.maxSafeNat())
      .map(([bits, n]) => n % 2 ** bits);
    fc.assert(
      fc.property(anyNumerator, (m) => check(m / 2 ** 53)),
      { numRuns: 30_000 },
    );
  });

  it('equals String next to decimals of few digits, where 15 digits may or may not do', () => {
    const anyDecimal = fc
      .tuple(fc.integer({ min: 1, max: 16 }), fc.maxSafeNat(), fc.integer({ min: -2, max: 2 }))
      .map(([places, n, delta]) => Math.round(((n % 10 ** places) / 10 ** places) * 2 ** 53) + delta);
    fc.assert(
      fc.property(anyDecimal, (m) => {
        if (m >= 0 && m < 2 ** 53) check(m / 2 ** 53);
      }),
      { numRuns: 30_000 },
    );
  });

  it('equals String on multiples of 2^-16 to 2^-20, among them the short forms and the exact halves', () => {
    for (let k = 0; k < 2 ** 16; k++) check(k / 2 ** 16);
    for (let k = 1; k < 2 ** 17; k += 2) check(k / 2 ** 17); // 17 digits that end in 5
    for (const e of [18, 19, 20]) for (let k = 1; k < 2 ** e; k += 14) check(k / 2 ** e); // the same after 17 digits
  });

  it('equals String around powers of two and of ten and at both ends', () => {
    for (let e = 0; e <= 53; e++)
      for (let d = -40; d <= 40; d++) if (2 ** e + d >= 0) checkBelowOne(2 ** e + d);
    for (let e = 0; e <= 9; e++)
      for (let d = -40; d <= 40; d++) checkBelowOne(Math.round(2 ** 53 / 10 ** e) + d);
    check(0);
    check(2 ** -53);
    check(1 - 2 ** -53);
  });

  function checkBelowOne(m: number): void {
    if (m < 2 ** 53) check(m / 2 ** 53);
  }
});
