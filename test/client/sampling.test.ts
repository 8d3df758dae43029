import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { standardNormal } from '../../clients/typescript/src/normal.ts';
import { Random } from '../../clients/typescript/src/random.ts';
import { wholeWeights } from '../../clients/typescript/src/weights.ts';
import { erfc, igamc } from '../../src/stats/special.ts';
import { chiSquare } from '../support/chi-square.ts';
import { keystream } from '../values/keystream.ts';
import { KnownBytes } from './byte-client.ts';

/** Samplers of `Random` on a fixed stream, so that no test of a distribution fails by chance. */
function randomOf(stream = keystream(2 ** 22)) {
  const source = new KnownBytes(stream);
  return { source, random: new Random(source.client, { refillBytes: 65_536 }) };
}

function assertFits(counts: readonly number[], probabilities: readonly number[], name: string): void {
  const outcomes = probabilities.filter((probability) => probability > 0).length;
  const p = igamc((outcomes - 1) / 2, chiSquare(counts, probabilities) / 2);
  assert.ok(p > 0.001 && p < 0.999, `${name}: p = ${p}`);
}

describe('normal', () => {
  it('has the normal distribution by the Kolmogorov-Smirnov test', async () => {
    const { random } = randomOf();
    const count = 10_000;
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) values[i] = await random.normal();
    values.sort();
    let distance = 0;
    for (let i = 0; i < count; i++) {
      const expected = erfc(-values[i] / Math.SQRT2) / 2;
      distance = Math.max(distance, Math.abs(expected - i / count), Math.abs(expected - (i + 1) / count));
    }
    assert.ok(distance * Math.sqrt(count) < 1.95, `${distance}`); // at 0.001
    assert.ok(values[count - 1] > 3.2 && values[0] < -3.2);
  });

  it('takes mean and deviation', async () => {
    const { random } = randomOf();
    const [sevens, shifted] = [await random.normal(7, 0), await random.normal(1_000, 0.001)];
    assert.equal(sevens, 7);
    assert.ok(Math.abs(shifted - 1_000) < 0.01);
    for (const [mean, deviation] of [
      [Number.NaN, 1],
      [0, -1],
      [0, Infinity],
    ])
      await assert.rejects(random.normal(mean, deviation), RangeError);
  });

  it('draws more digits when the first do not decide the rounding', async () => {
    // digits are equal as long as the fixed ones last: every comparison has to go on
    for (let equal = 1; equal < 40; equal++) {
      const later = keystream(4_096);
      let at = 0;
      let drawn = 0;
      const value = await standardNormal((span) => {
        drawn++;
        if (span === 2 ** 16 && drawn <= equal) return 12_345;
        at += 2;
        return (later[at] * 256 + later[at + 1]) % span;
      });
      assert.ok(Number.isFinite(value) && value !== 0 && Math.abs(value) < 10);
    }
  });

  it('rounds to the nearest double, whatever digits follow', async () => {
    const roundedOf = (...digits: number[]) => {
      // k = 0: the second number of a run is not below the first. x is accepted: the next number is not below it.
      const drawn = [0, 65_535, 65_535, ...digits];
      return standardNormal((span) => (span === 2 ** 16 ? (drawn.shift() ?? 65_535) : 0));
    };
    assert.equal(await roundedOf(0), 2 ** -16); // 65,535 forever
    assert.equal(await roundedOf(0, 2 ** 15, 0, 0, 1_023), 2 ** 63 / 2 ** 80);
    assert.equal(await roundedOf(0, 2 ** 15, 0, 0, 1_024), (2 ** 63 + 2_048) / 2 ** 80); // half, and more behind it
  });
});

describe('sample', () => {
  it('gives each ordered sample equally often', async () => {
    const { random } = randomOf();
    const counts = new Array<number>(20).fill(0);
    for (let i = 0; i < 20_000; i++) {
      const [first, second] = await random.sample([0, 1, 2, 3, 4], 2);
      counts[first * 4 + (second > first ? second - 1 : second)]++;
    }
    assertFits(counts, new Array<number>(20).fill(1 / 20), 'two of five');
  });

  it('does not change the items and takes no more than there are', async () => {
    const { random, source } = randomOf();
    const items = ['a', 'b', 'c'];
    assert.deepEqual((await random.sample(items, 3)).sort(), items);
    assert.deepEqual(items, ['a', 'b', 'c']);
    assert.deepEqual(await random.sample(items, 0), []);
    const asked = source.asked.length;
    for (const count of [-1, 4, 0.5]) await assert.rejects(random.sample(items, count), RangeError);
    assert.equal(source.asked.length, asked);
  });
});

it('integers come in the requested count, and are the same as one by one', async () => {
  const together = await randomOf().random.integers(20, 1, 6);
  const { random } = randomOf();
  for (const value of together) assert.equal(await random.integer(1, 6), value);
  assert.equal(together.length, 20);
  await assert.rejects(random.integers(-1, 1, 6), RangeError);
});

describe('weighted', () => {
  it('picks with the probabilities that the weights state', async () => {
    const cases: number[][] = [
      [1, 2, 0, 5],
      [0.1, 0.2, 0.7, 0],
      [1e-3, 1, 1e3, 500],
      [2 ** -60, 1, 2, 4], // whole multiples of 2^-60 add up to more than 2^53
    ];
    for (const weights of cases) {
      const { random } = randomOf();
      const counts = [0, 0, 0, 0];
      const sum = weights.reduce((total, weight) => total + weight);
      for (let i = 0; i < 20_000; i++) counts[await random.weighted([0, 1, 2, 3], weights)]++;
      const likely = weights.map((weight) => (weight * 20_000 < 1e-6 * sum ? 0 : weight / sum));
      assertFits(counts, likely, weights.join(' '));
    }
  });

  it('treats weights as exact fractions', () => {
    assert.deepEqual(wholeWeights([3, 6, 0]), [3n, 6n, 0n]);
    assert.deepEqual(wholeWeights([0.5, 0.75]), [2n, 3n]);
    assert.deepEqual(wholeWeights([5e-324, 1]), [1n, 2n ** 1_074n]);
    const [tenth, fifth] = wholeWeights([0.1, 0.2]);
    assert.equal(fifth, 2n * tenth);
    assert.equal(Number(tenth) / 2 ** 55, 0.1);
    assert.equal(wholeWeights([Number.MAX_VALUE, Number.MIN_VALUE])[0], BigInt(Number.MAX_VALUE) << 1_074n);
  });

  it('refuses malformed weights, and draws nothing', async () => {
    const { random, source } = randomOf();
    for (const weights of [[], [1], [0, 0], [1, -1], [1, Number.NaN], [1, Infinity]])
      await assert.rejects(random.weighted(['a', 'b'], weights), RangeError, String(weights));
    assert.equal(source.asked.length, 0);
  });
});
