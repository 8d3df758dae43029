import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { erfc, igamc, lgamma, normalBetween, normalCdf } from '../../src/stats/special.ts';
import { assertRelative } from '../support/bit-sequences.ts';

interface SpecialVectors {
  readonly igamc: readonly [a: number, x: number, q: number][];
  readonly erfc: readonly [x: number, y: number][];
  readonly lgamma: readonly [a: number, y: number][];
  readonly normalCdf: readonly [x: number, y: number][];
}
const vectors: SpecialVectors = JSON.parse(
  readFileSync(new URL('../vectors/sp800-22/special-functions.json', import.meta.url), 'utf8'),
);

test('igamc agrees with mpmath to 1e-12 relative on both sides of x = a', () => {
  assert.ok(vectors.igamc.length > 200);
  for (const [a, x, q] of vectors.igamc) assertRelative(igamc(a, x), q, 1e-12, `igamc(${a}, ${x})`);
});

test('erfc, lgamma and the normal distribution agree with mpmath to 1e-12 relative', () => {
  for (const [x, y] of vectors.erfc) assertRelative(erfc(x), y, 1e-12, `erfc(${x})`);
  for (const [a, y] of vectors.lgamma) assertRelative(lgamma(a), y, 1e-12, `lgamma(${a})`);
  for (const [x, y] of vectors.normalCdf) assertRelative(normalCdf(x), y, 1e-12, `normalCdf(${x})`);
});

test('igamc has its closed form for whole a: Q(a, x) = e^-x (1 + x + ... + x^(a-1) / (a-1)!)', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.double({ min: 0, max: 100, noNaN: true }), (a, x) => {
      let term = 1;
      let sum = 1;
      for (let k = 1; k < a; k++) sum += term *= x / k;
      assertRelative(igamc(a, x), sum * Math.exp(-x), 1e-11, `igamc(${a}, ${x})`);
    }),
  );
});

test('igamc and erfc are exact at the ends of their range', () => {
  assert.equal(igamc(3, 0), 1);
  assert.equal(igamc(3, Number.POSITIVE_INFINITY), 0);
  assert.equal(igamc(0.5, 1e6), 0);
  assert.equal(erfc(0), 1);
  assert.equal(erfc(-40), 2);
});

test('normalBetween keeps the digits of a far tail, where a difference of plain Φ has none', () => {
  const upper = normalBetween(9, 10);
  assertRelative(upper, normalCdf(-9) - normalCdf(-10), 1e-14, 'upper tail');
  assert.ok(upper > 0);
  assert.equal(normalCdf(10) - normalCdf(9), 0);
  assert.equal(normalBetween(-10, -9), upper);
  assertRelative(normalBetween(-1, 2), normalCdf(2) - normalCdf(-1), 1e-14, 'across zero');
});
