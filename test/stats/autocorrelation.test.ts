import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  autocorrelationBound,
  autocorrelationOf,
  minEntropyOfCorrelation,
  onesPerChannel,
} from '../../src/stats/autocorrelation.ts';
import { packBits } from '../support/bit-sequences.ts';
import { uniforms } from '../support/chance.ts';

/** The slow obvious twin: every sum by itself. */
function plain(bits: readonly number[], width: number, lags: number) {
  const total = bits.length;
  const means = Array.from({ length: width }, (_, channel) => {
    const own = bits.filter((_, at) => at % width === channel);
    return (2 * own.reduce((sum, bit) => sum + bit, 0)) / own.length - 1;
  });
  const x = bits.map((bit, at) => 2 * bit - 1 - means[at % width]);
  let most = { lag: 0, correlation: 0, bound: 1 };
  for (let lag = 1; lag < lags; lag++) {
    let sum = 0;
    for (let at = 0; at + lag < total; at++) sum += x[at] * x[at + lag];
    const bound = Math.sqrt((2 * (Math.log(2 * (lags - 1)) + 40 * Math.LN2)) / (total - lag));
    const correlation = sum / (total - lag);
    if (Math.abs(correlation) / bound > Math.abs(most.correlation) / most.bound)
      most = { lag, correlation, bound };
  }
  return most;
}

const bitsOf = (label: string, count: number, ones: (at: number) => number = () => 0.5) => {
  const random = uniforms(label);
  return Array.from({ length: count }, (_, at) => (random() < ones(at) ? 1 : 0));
};

describe('autocorrelation', () => {
  it('equals every sum computed by itself, for lots that fill no block and channels with their own bias', () => {
    for (const [width, shots] of [
      [1, 4],
      [1, 1_000],
      [3, 333],
      [5, 411],
      [16, 128],
    ]) {
      const bits = bitsOf(`twin ${width}`, width * shots, (at) => 0.3 + ((at % width) % 5) / 10);
      const lags = 2 ** (Math.floor(Math.log2(width * shots)) - 1);
      const found = autocorrelationOf(packBits(bits), width, shots);
      const expected = plain(bits, width, lags);
      const ones = Array.from({ length: width }, (_, i) => bits.filter((bit, at) => bit && at % width === i));
      assert.deepEqual(
        Array.from(onesPerChannel(packBits(bits), width, shots)),
        ones.map(({ length }) => length),
      );
      assert.equal(found.lag, expected.lag);
      assert.ok(Math.abs(found.correlation - expected.correlation) < 1e-9);
      assert.ok(Math.abs(found.bound - expected.bound) < 1e-12);
      assert.equal(found.bound, autocorrelationBound(width * shots, found.lag));
    }
  });

  it('stays within the bound for independent bits, biased by channel or not, and reports nothing for a few', () => {
    for (let lot = 0; lot < 20; lot++) {
      const ones = lot % 2 === 0 ? () => 0.5 : (at: number) => 0.45 + (at % 8) / 50;
      const found = autocorrelationOf(packBits(bitsOf(`sound ${lot}`, 8 * 4_096, ones)), 8, 4_096);
      assert.equal(minEntropyOfCorrelation(found), null);
      assert.ok(Math.abs(found.correlation) > found.bound / 4, 'the largest of 16,383 lags is no small one');
    }
    for (const bits of [[1], [1, 0], [1, 0, 1]])
      assert.deepEqual(autocorrelationOf(packBits(bits), 1, bits.length), {
        lag: 0,
        correlation: 0,
        bound: 1,
      });
  });

  it('finds a pattern under noise at its period, and credits what the noise leaves', () => {
    for (const flips of [0.1, 0.25, 0.4]) {
      const pattern = bitsOf('pattern', 1_009);
      const noise = bitsOf(`noise ${flips}`, 262_144, () => flips);
      const found = autocorrelationOf(
        packBits(noise.map((flip, at) => (flip === pattern[at % 1_009] ? 0 : 1))),
        1,
        262_144,
      );
      assert.equal(found.lag % 1_009, 0);
      const left = minEntropyOfCorrelation(found) ?? 1;
      const truth = -Math.log2(1 - flips);
      assert.ok(left <= truth && left > truth - 0.12, `${left} of ${truth}`);
    }
  });

  it('finds a copy across a border of blocks, and one of opposite sign', () => {
    const bits: number[] = bitsOf('copy', 40_000);
    for (let at = 9_000; at < 40_000; at++) if (at % 5 === 0) bits[at] = 1 - bits[at - 8_999];
    const found = autocorrelationOf(packBits(bits), 1, 40_000);
    assert.equal(found.lag, 8_999);
    assert.ok(found.correlation < -0.1);
    assert.notEqual(minEntropyOfCorrelation(found), null);
  });

  it('gives known answers for the min-entropy that a correlation leaves', () => {
    for (const [correlation, left] of [
      [0.2456, 0.415037],
      [-0.2456, 0.415037],
      [0.0056, 0.862496],
      [1, 0],
      [0.004, null],
    ] as const) {
      const found = minEntropyOfCorrelation({ correlation, bound: 0.0044 });
      if (left === null) assert.equal(found, null);
      else assert.ok(found !== null && Math.abs(found - left) < 1e-6, `${found}`);
    }
  });
});
