import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { erfc } from '../../src/stats/special.ts';
import type { EntropyReader } from '../../src/values/entropy-reader.ts';
import { type GaussiansRequest, gaussianBytesMax, gaussianChoices } from '../../src/values/gaussians.ts';
import { twinOctets, twinSample } from '../reference/values.ts';
import { requireDistribution } from '../support/chi-square.ts';
import { drawnOctets, drawnText } from './drawn.ts';
import { keystream, keystreamReader, readerOf } from './keystream.ts';

const ENTROPY = keystream(2 ** 18);

function request(count: number, mean = 0, stddev = 1, digits = 14) {
  return { kind: 'gaussians', count, mean, stddev, digits } as const;
}

/** The values; throws where one is not written as JavaScript prints it. */
function drawGaussians(reader: EntropyReader, asked: GaussiansRequest): number[] {
  const text = drawnText(asked, reader);
  const values: number[] = JSON.parse(text);
  assert.ok(JSON.stringify(values) === text);
  return values;
}

describe('gaussians', () => {
  it('equal the slow twin where big integers decide them: near powers of ten, and near 0', () => {
    for (const [mean, stddev, digits] of [
      [999_993, 912, 4],
      [10, 0.01, 3],
      [1_000_000, 1e-9, 14],
      [0.1, 1e-7, 5],
      [0, 1e-9, 2],
      [0, 1e-9, 14],
      [-1, 1, 14],
      // one of them rounds up to a power of ten while its bounds are several steps of what is below apart
      [0.92, 5.41, 2],
    ]) {
      const asked = request(300, mean, stddev, digits);
      const twin = twinSample(asked, ENTROPY);
      const reader = readerOf(ENTROPY, [4_096]);
      assert.deepEqual(drawGaussians(reader, asked), twin.plain, `${mean} ${stddev} ${digits}`);
      assert.equal(reader.consumedBytes, twin.consumedBytes);
      const octets = drawnOctets(asked, readerOf(ENTROPY, [4_096]));
      assert.ok(Buffer.from(octets).equals(twinOctets(asked, 'float64', twin.plain)));
    }
  });

  it('are priced at the entropy of the distribution in steps of their spacing', () => {
    assert.equal(gaussianChoices(request(1, 0, 1, 2)), 42); // ceil(4.133 / 0.1)
    assert.equal(gaussianChoices(request(1, 100, 15, 5)), 6_200); // 15 · 4.133 / 0.01, rounded up
    assert.equal(gaussianChoices(request(1, 1_000, 1, 2)), 2, 'nearly always 1000, and never free');
  });

  it('take few more bits than their price, and never more than their bound', () => {
    const asked = request(2_000);
    const reader = keystreamReader(2 ** 18);
    drawGaussians(reader, asked);
    const bits = (8 * reader.consumedBytes) / asked.count;
    // 26 bits of the deviate in the mean, its sign, 50 of the fraction and what its rounding takes beside
    assert.ok(bits > 70 && bits < 88, `${bits} bits a value`);
    assert.ok(reader.consumedBytes < gaussianBytesMax(asked));
  });

  it('keep the bound that gaussianBytesMax states for the operations of a value', () => {
    const { accepted, refused } = weightedRows(1.03);
    assert.ok(accepted / (1 - refused) < 1.92, `${accepted / (1 - refused)}`);
    const sure = weightedRows(1);
    assert.ok(Math.abs(sure.accepted + sure.refused - 1) < 1e-9, 'the rows are all there are');
    assert.ok(Math.abs(sure.accepted - Math.sqrt(Math.PI / 2) * (1 - Math.exp(-0.5))) < 1e-5);
  });

  it('are normally distributed', () => {
    const cells = 40;
    const values = drawGaussians(keystreamReader(2 ** 18), request(20_000, -3, 2));
    const counts = new Float64Array(cells);
    for (const value of values) counts[Math.floor(cells * normalBelow((value + 3) / 2))]++;
    requireDistribution('values', counts, new Float64Array(cells).fill(1 / cells));
  });
});

function normalBelow(z: number): number {
  return erfc(-z / Math.SQRT2) / 2;
}

/**
 * E[s^operations] of one attempt of the sampler, over its accepted and its refused ends: sums over the lengths of its rows,
 * whose probabilities are powers by factorials, and an integral over x.
 */
function weightedRows(s: number): { accepted: number; refused: number } {
  const row = (bound: number, length: number, step: number) => {
    // rows that end after n numbers, n even and odd: bound^n / n! reach n, and of those 1 - bound / (n + 1) end there
    const sums = [0, 0];
    let reached = 1;
    for (let n = length; n < 40; n++) {
      sums[n % 2] += reached * s * (1 - bound / (n + 1));
      reached *= (s * step * bound) / (n + 1);
    }
    return sums;
  };
  const [even, odd] = row(0.5, 1, 1);
  const [yes, no] = [s * (0.5 + 0.5 * even), s * 0.5 * odd];
  let accepted = 0;
  let refused = 0;
  for (let k = 0; k <= 60; k++) {
    const drawn = yes ** k * no;
    const trials = k * (k - 1);
    refused += drawn * no * (yes === 1 ? trials : (1 - yes ** trials) / (1 - yes));
    const steps = 200;
    for (let i = 0; i < steps; i++) {
      const x = (i + 0.5) / steps;
      const [yesPart, noPart] = partRow(s, k, x);
      const weight = (drawn * yes ** trials) / steps;
      accepted += weight * yesPart ** (k + 1);
      for (let j = 0; j <= k; j++) refused += weight * yesPart ** j * noPart;
    }
  }
  return { accepted, refused };
}

function partRow(s: number, k: number, x: number): number[] {
  const sums = [0, 0];
  const sides = 2 * k + 2;
  const choice = s ** (1 + k);
  let reached = 1;
  for (let n = 0; n < 40; n++) {
    const falls = x / (n + 1);
    sums[n % 2] += reached * (s * (1 - falls) + (s * falls * choice * (1 + s * (1 - x))) / sides);
    reached *= (s * falls * choice * (2 * k + s * x)) / sides;
  }
  return sums;
}
