import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import { complexFft, RealSpectrum } from '../../src/stats/fft.ts';
import { dft } from '../reference/dft.ts';

function assertClose(actual: readonly number[], expected: readonly number[], tolerance: number): void {
  expected.forEach((value, k) => {
    assert.ok(Math.abs(actual[k] - value) <= tolerance, `element ${k}: ${actual[k]}, not ${value}`);
  });
}

/** |X_k|² for k = 0 .. n/2 in their natural order, each seen at least once. */
function moduliInOrder(signal: readonly number[]): number[] {
  const n = signal.length;
  const moduli: number[] = [];
  new RealSpectrum(n).squaredModuli(Int8Array.from(signal), (row, first, step) => {
    row.forEach((value, j) => {
      const k = first + step * j;
      moduli[Math.min(k, n - k)] = value;
    });
  });
  return moduli;
}

// Every radix alone and together, both parities, primes (Bluestein), one, and the toys of 2.6.4 and 2.6.8.
const LENGTHS = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 20, 25, 27, 30, 36, 40, 49, 60, 64, 97, 100, 101, 120,
];

test('RealSpectrum gives |X_k|² of a signal of any length', () => {
  for (const length of [...LENGTHS, 128, 250, 254, 300, 360]) {
    const signals = fc.array(fc.integer({ min: -128, max: 127 }), { minLength: length, maxLength: length });
    fc.assert(
      fc.property(signals, (signal) => {
        const { re, im } = dft(signal, new Array(length).fill(0));
        const expected = re.map((x, k) => x * x + im[k] * im[k]).slice(0, Math.floor(length / 2) + 1);
        const largest = Math.max(...expected, 1);
        assertClose(moduliInOrder(signal), expected, 1e-12 * largest);
      }),
      { numRuns: 3 },
    );
  }
});

test('each pair of bins is seen once, except in the rows that hold their own mirror', () => {
  for (const n of [36, 45, 60, 100, 7]) {
    const seen = new Map<number, number>();
    new RealSpectrum(n).squaredModuli(new Int8Array(n), (row, first, step) => {
      const holdsMirrors = first === 0 || 2 * first === step;
      row.forEach((_, j) => {
        const k = first + step * j;
        if (holdsMirrors && 2 * k > n) return;
        const bin = Math.min(k, n - k);
        seen.set(bin, (seen.get(bin) ?? 0) + 1);
      });
    });
    assert.deepEqual(
      [...seen.keys()].sort((a, b) => a - b),
      Array.from({ length: Math.floor(n / 2) + 1 }, (_, k) => k),
    );
    assert.ok([...seen.values()].every((count) => count === 1));
  }
});

test('10^6 samples obey Parseval: the twiddle factors lose nothing over 500 steps', () => {
  const n = 1_000_000;
  const signal = Int8Array.from({ length: n }, (_, i) => ((i * 2_654_435_761) % 2 ** 32 >= 2 ** 31 ? 1 : -1));
  const bins = new Float64Array(n / 2 + 1);
  new RealSpectrum(n).squaredModuli(signal, (row, first, step) => {
    row.forEach((value, j) => {
      const k = first + step * j;
      bins[Math.min(k, n - k)] = value;
    });
  });
  const total = 2 * bins.reduce((a, b) => a + b, 0) - bins[0] - bins[n / 2];
  assert.ok(Math.abs(total / (n * n) - 1) < 1e-12, `${total}`);
  // One bin by its definition.
  const k = 123_457;
  let re = 0;
  let im = 0;
  signal.forEach((x, j) => {
    const angle = (2 * Math.PI * ((j * k) % n)) / n;
    re += x * Math.cos(angle);
    im -= x * Math.sin(angle);
  });
  assert.ok(Math.abs(bins[k] - (re * re + im * im)) < 1e-5);
});

test('lengths and signals that do not fit are a bug of the caller', () => {
  assert.throws(() => complexFft(0), InvariantError);
  assert.throws(() => new RealSpectrum(2.5), InvariantError);
  assert.throws(() => new RealSpectrum(8).squaredModuli(new Int8Array(7), () => {}), InvariantError);
});
