import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { describe, it } from 'node:test';
import { EntropyReader } from '../../../src/values/entropy-reader.ts';
import type { ValueRequest } from '../../../src/values/value-request.ts';
import { requireDistribution } from '../../support/chi-square.ts';
import { drawnValues } from '../drawn.ts';

/**
 * A million values of each kind by chi-square (of kinds with one cell an answer, 150,000), on the fixed keystream: too many
 * for each change, and enough to see a cell that is off by two in a thousand.
 */
const VALUES = 1_000_000;
/** Limit of the answers for kinds whose answers fall into one cell each: there, a million values are in fewer cells. */
const ANSWERS_MAX = 150_000;
const ITEMS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const WEIGHTS = [1, 2, 3, 4, 5, 6, 79];
/** ChaCha20 without end, with key 00..1f and a zero counter and nonce. */
const cipher = createCipheriv(
  'chacha20',
  Uint8Array.from({ length: 32 }, (_, i) => i),
  new Uint8Array(16),
);
const reader = new EntropyReader(() => new Uint8Array(cipher.update(new Uint8Array(16_384))));

interface Kind {
  readonly name: string;
  readonly request: ValueRequest;
  /** The cells that the values of one answer fall into. */
  readonly cells: (values: never) => number[];
  /** The probability of each cell. */
  readonly probabilities: readonly number[];
}

const even = (count: number) => Array.from({ length: count }, () => 1 / count);
const count = 10_000;
const kinds: readonly Kind[] = [
  {
    name: 'integers',
    request: { kind: 'integers', count, min: -50, max: 49, unique: false, sort: 'none' },
    cells: (values: number[]) => values.map((value) => value + 50),
    probabilities: even(100),
  },
  {
    name: 'integers without repeats: which comes first',
    request: { kind: 'integers', count: 10, min: 0, max: 49, unique: true, sort: 'none' },
    cells: (values: number[]) => values.slice(0, 1),
    probabilities: even(50),
  },
  {
    name: 'floats',
    request: { kind: 'floats', count, precision: null },
    cells: (values: number[]) => values.map((value) => Math.floor(value * 256)),
    probabilities: even(256),
  },
  {
    name: 'floats of three places',
    request: { kind: 'floats', count, precision: 3 },
    cells: (values: number[]) => values.map((value) => Math.round(value * 1_000)),
    probabilities: even(1_000),
  },
  {
    name: 'bytes',
    request: { kind: 'bytes', count, length: 1, encoding: 'hex', single: false },
    cells: (values: string[]) => values.map((value) => Number.parseInt(value, 16)),
    probabilities: even(256),
  },
  {
    name: 'uuid: its last byte',
    request: { kind: 'uuid', count },
    cells: (values: string[]) => values.map((value) => Number.parseInt(value.slice(-2), 16)),
    probabilities: even(256),
  },
  {
    name: 'bitstring',
    request: { kind: 'bitstring', length: count },
    cells: (bits: string) => [...bits].map(Number),
    probabilities: even(2),
  },
  {
    name: 'shuffle: where the first item comes',
    request: { kind: 'shuffle', items: ITEMS },
    cells: (items: string[]) => [items.indexOf('a')],
    probabilities: even(7),
  },
  {
    name: 'sample: the last of three',
    request: { kind: 'sample', count: 3, items: ITEMS },
    cells: (items: string[]) => [ITEMS.indexOf(items[2])],
    probabilities: even(7),
  },
  {
    name: 'weighted',
    request: { kind: 'weighted', count, items: ITEMS, weights: WEIGHTS },
    cells: (items: string[]) => items.map((item) => ITEMS.indexOf(item)),
    probabilities: WEIGHTS.map((weight) => weight / 100),
  },
  {
    name: 'strings',
    request: { kind: 'strings', count, length: 1, alphabet: ITEMS },
    cells: (texts: string[]) => texts.map((text) => ITEMS.indexOf(text)),
    probabilities: even(7),
  },
  {
    name: 'sequences',
    request: {
      kind: 'sequences',
      count: 1_000,
      ranges: [{ length: 10, min: 1, max: 6, unique: false }],
      sort: 'none',
    },
    cells: (rows: number[][][]) => rows.flat(2).map((value) => value - 1),
    probabilities: even(6),
  },
  {
    name: 'permutations: what comes last',
    request: { kind: 'permutations', count: 1_000, length: 12 },
    cells: (rows: number[][]) => rows.map((row) => row[11]),
    probabilities: even(12),
  },
  {
    name: 'gaussians: below and above the quartiles',
    request: { kind: 'gaussians', count, mean: 0, stddev: 1, digits: 14 },
    // the quartiles of the standard normal distribution
    cells: (values: number[]) =>
      values.map((value) => [-0.674489750196082, 0, 0.674489750196082].filter((at) => value >= at).length),
    probabilities: even(4),
  },
];

describe('a million values by chi-square', () => {
  for (const { name, request, cells, probabilities } of kinds) {
    it(name, () => {
      const counts = new Float64Array(probabilities.length);
      for (let drawn = 0, answers = 0; drawn < VALUES && answers < ANSWERS_MAX; answers++) {
        for (const cell of cells(drawnValues(request, reader) as never)) {
          assert.ok(cell >= 0 && cell < counts.length, `cell ${cell}`);
          counts[cell]++;
          drawn++;
        }
      }
      requireDistribution(name, counts, probabilities);
    });
  }
});
