import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RealSpectrum } from '../../src/stats/fft.ts';
import { dft } from '../reference/dft.ts';

function assertClose(actual: ArrayLike<number>, expected: readonly number[], tolerance: number): void {
  expected.forEach((value, k) => {
    assert.ok(Math.abs(actual[k] - value) <= tolerance, `element ${k}: ${actual[k]}, not ${value}`);
  });
}

// Every radix alone and together, both parities, primes (Bluestein), one, and the toys of 2.6.4 and 2.6.8.
const LENGTHS = [
  2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 20, 25, 27, 30, 36, 40, 49, 60, 64, 97, 100, 101, 120,
];

test('RealSpectrum gives |X_k|² of a signal of any length', () => {
  for (const length of [...LENGTHS, 128, 250, 254, 300, 360]) {
    const signals = fc.array(fc.integer({ min: -128, max: 127 }), { minLength: length, maxLength: length });
    fc.assert(
      fc.property(signals, (signal) => {
        const { re, im } = dft(signal, new Array(length).fill(0));
        const expected = re.map((x, k) => x * x + im[k] * im[k]).slice(0, Math.floor(length / 2));
        const largest = Math.max(...expected, 1);
        assertClose(
          new RealSpectrum(length).squaredModuli(Int8Array.from(signal)),
          expected,
          1e-12 * largest,
        );
      }),
      { numRuns: 3 },
    );
  }
});

test('10^6 samples lose no precision: one bin equals its definition', () => {
  const n = 1_000_000;
  const signal = Int8Array.from({ length: n }, (_, i) => ((i * 2_654_435_761) % 2 ** 32 >= 2 ** 31 ? 1 : -1));
  const k = 123_457;
  let re = 0;
  let im = 0;
  signal.forEach((x, j) => {
    const angle = (2 * Math.PI * ((j * k) % n)) / n;
    re += x * Math.cos(angle);
    im -= x * Math.sin(angle);
  });
  const moduli = new RealSpectrum(n).squaredModuli(signal);
  assert.ok(Math.abs(moduli[k] - (re * re + im * im)) < 1e-5);
});
