/** The kernels of the tests of SP 800-22 against slow twins that count bit by bit, for bits and parameters of any kind. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  blockFrequencyTest,
  frequencyTest,
  longestRunBlockBits,
  longestRunTest,
  rankTest,
  runsTest,
} from '../../../src/stats/sp800-22/counting.ts';
import { linearComplexityTest } from '../../../src/stats/sp800-22/linear-complexity.ts';
import { approximateEntropyTest, countPatterns, serialTest } from '../../../src/stats/sp800-22/patterns.ts';
import { type BitSequence, bitSequence } from '../../../src/stats/sp800-22/sequence.ts';
import { spectralTest } from '../../../src/stats/sp800-22/spectral.ts';
import {
  nonOverlappingTemplateTest,
  overlappingTemplateTest,
} from '../../../src/stats/sp800-22/templates.ts';
import { universalParameters, universalTest } from '../../../src/stats/sp800-22/universal.ts';
import {
  cumulativeSumsTest,
  minimumCycles,
  randomExcursionsTest,
  walkOf,
} from '../../../src/stats/sp800-22/walk.ts';
import { dft } from '../../reference/dft.ts';
import {
  berlekampMassey,
  blocksOf,
  cyclesOf,
  longestRunOfOnes,
  meanLogDistance,
  nonOverlappingMatches,
  onesOf,
  overlappingMatches,
  partialSums,
  phi,
  rankOf,
  ringPatterns,
  runsOf,
} from '../../reference/sp800-22.ts';
import { arbitraryBits, type Bits, sequenceOf } from '../../support/bit-sequences.ts';

/** Two ways to the same numbers. */
interface Twins {
  readonly lengths: readonly [min: number, max: number];
  /** Each combination is tried; a test without parameters has none. */
  readonly parameters?: readonly (readonly [min: number, max: number])[];
  readonly runs?: number;
  readonly kernel: (sequence: BitSequence, parameters: readonly number[]) => readonly number[];
  readonly twin: (bits: Bits, parameters: readonly number[]) => readonly number[];
}

/** Counts each of the numbers from `low` to `high`; numbers beyond count as the nearest. */
function histogram(values: readonly number[], low: number, high: number): number[] {
  const counts = new Array<number>(high - low + 1).fill(0);
  for (const value of values) counts[Math.min(Math.max(value, low), high) - low]++;
  return counts;
}

const RUN_CLASSES = [
  [8, 1, 4],
  [128, 4, 9],
];
const MATRICES = [
  [3, 3],
  [5, 5],
  [4, 7],
  [32, 32],
  [8, 32],
];

const TWINS: Readonly<Record<string, Twins>> = {
  Frequency: {
    lengths: [1, 300],
    kernel: (sequence) => {
      const { ones, sum } = frequencyTest(sequence);
      return [ones, sum];
    },
    twin: (bits) => [onesOf(bits), 2 * onesOf(bits) - bits.length],
  },
  'BlockFrequency: 4M (π - 1/2)² over blocks of any length': {
    lengths: [50, 400],
    parameters: [[1, 50]],
    kernel: (sequence, [blockBits]) => {
      const { blocks, chiSquared } = blockFrequencyTest(sequence, blockBits);
      return [blocks, chiSquared];
    },
    twin: (bits, [blockBits]) => {
      const blocks = blocksOf(bits, blockBits);
      const sum = blocks.reduce((all, block) => all + (onesOf(block) / blockBits - 0.5) ** 2, 0);
      return [blocks.length, 4 * blockBits * sum];
    },
  },
  Runs: {
    lengths: [1, 300],
    kernel: (sequence) => [runsTest(sequence).runs],
    twin: (bits) => [runsOf(bits)],
  },
  LongestRun: {
    lengths: [128, 1000],
    parameters: [[0, 1]],
    kernel: (sequence, [of]) => longestRunTest(sequence, RUN_CLASSES[of][0]).counts,
    twin: (bits, [of]) => {
      const [blockBits, low, high] = RUN_CLASSES[of];
      return histogram(blocksOf(bits, blockBits).map(longestRunOfOnes), low, high);
    },
  },
  'Rank: by Gaussian elimination': {
    lengths: [1024, 3000],
    parameters: [[0, MATRICES.length - 1]],
    runs: 60,
    kernel: (sequence, [of]) => rankTest(sequence, ...(MATRICES[of] as [number, number])).counts,
    twin: (bits, [of]) => {
      const [rows, columns] = MATRICES[of];
      const ranks = blocksOf(bits, rows * columns).map((block) => rankOf(blocksOf(block, columns)));
      return histogram(
        ranks.map((rank) => Math.min(rows, columns) - rank),
        0,
        2,
      );
    },
  },
  'FFT: moduli below the threshold, by the defining sum': {
    lengths: [2, 150],
    runs: 150,
    kernel: (sequence) => [spectralTest(sequence).belowThreshold],
    twin: (bits) => {
      const { re, im } = dft(
        bits.map((bit) => 2 * bit - 1),
        new Array(bits.length).fill(0),
      );
      const moduli = re.map((x, k) => Math.hypot(x, im[k])).slice(0, Math.floor(bits.length / 2));
      const threshold = Math.sqrt(bits.length * Math.log(20));
      // a modulus on the threshold itself may fall either way
      fc.pre(moduli.every((modulus) => Math.abs(modulus - threshold) > 1e-9));
      return [moduli.filter((modulus) => modulus < threshold).length];
    },
  },
  'NonOverlappingTemplate: a window that jumps': {
    lengths: [40, 400],
    parameters: [
      [2, 9],
      [1, 3],
    ],
    runs: 40,
    kernel: (sequence, [templateBits, blocks]) =>
      nonOverlappingTemplateTest(sequence, templateBits, blocks).flatMap(({ template, counts }) => [
        Number.parseInt(template, 2),
        ...counts,
      ]),
    twin: (bits, [templateBits, blocks]) => {
      const some = blocksOf(bits, Math.floor(bits.length / blocks)).slice(0, blocks);
      const words = Array.from({ length: 2 ** templateBits }, (_, word) =>
        Array.from(word.toString(2).padStart(templateBits, '0'), Number),
      );
      const isAperiodic = (word: Bits) =>
        word.every((_, shift) => shift === 0 || word.slice(shift).some((bit, i) => bit !== word[i]));
      return words
        .filter(isAperiodic)
        .flatMap((word) => [
          Number.parseInt(word.join(''), 2),
          ...some.map((block) => nonOverlappingMatches(block, word)),
        ]);
    },
  },
  'OverlappingTemplate: a window that slides': {
    lengths: [40, 600],
    parameters: [
      [2, 10],
      [10, 120],
    ],
    kernel: (sequence, [templateBits, blockBits]) => {
      fc.pre(sequence.length >= blockBits && blockBits >= templateBits + 4);
      return overlappingTemplateTest(sequence, templateBits, blockBits).counts;
    },
    twin: (bits, [templateBits, blockBits]) => {
      const template = new Array<number>(templateBits).fill(1);
      const matches = blocksOf(bits, blockBits).map((block) => overlappingMatches(block, template));
      return histogram(matches, 0, 5);
    },
  },
  'Universal: the mean log distance': {
    lengths: [60, 600],
    parameters: [
      [1, 6],
      [0, 8],
    ],
    kernel: (sequence, [blockBits, initialBlocks]) => {
      const { meanLog, testBlocks } = universalTest(sequence, {
        ...{ blockBits, initialBlocks, expected: 1, sigma: () => 1 },
      });
      return [testBlocks, meanLog];
    },
    twin: (bits, [blockBits, initialBlocks]) => [
      Math.floor(bits.length / blockBits) - initialBlocks,
      meanLogDistance(bits, blockBits, initialBlocks),
    ],
  },
  'LinearComplexity: the classes of 2.10.4 steps 3 to 5': {
    lengths: [140, 400],
    parameters: [[1, 140]],
    runs: 200,
    kernel: (sequence, [blockBits]) => linearComplexityTest(sequence, blockBits).counts,
    twin: (bits, [M]) => {
      const mean = M / 2 + (9 + (-1) ** (M + 1)) / 36 - (M / 3 + 2 / 9) / 2 ** M;
      const classes = blocksOf(bits, M).map((block) => {
        const t = (-1) ** M * (berlekampMassey(block) - mean) + 2 / 9;
        return [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5].filter((bound) => t > bound).length;
      });
      return histogram(classes, 0, 6);
    },
  },
  'Serial: ψ² is 2^m/n Σν² - n': {
    lengths: [10, 300],
    parameters: [[2, 8]],
    kernel: (sequence, [m]) => serialTest(countPatterns(sequence, m), sequence.length).psiSquared,
    twin: (bits, [m]) =>
      [m, m - 1, m - 2].map((k) => {
        const squares = ringPatterns(bits, k).reduce((sum, count) => sum + count * count, 0);
        return k === 0 ? 0 : (2 ** k / bits.length) * squares - bits.length;
      }),
  },
  'ApproximateEntropy: φ_m - φ_(m+1)': {
    lengths: [10, 300],
    parameters: [[1, 6]],
    kernel: (sequence, [m]) => {
      const found = approximateEntropyTest(countPatterns(sequence, 8), sequence.length, m);
      return [found.entropy, found.chiSquared];
    },
    twin: (bits, [m]) => {
      const entropy = phi(bits, m) - phi(bits, m + 1);
      return [entropy, 2 * bits.length * (Math.LN2 - entropy)];
    },
  },
  'CumulativeSums: the largest, forward and backward': {
    lengths: [1, 500],
    kernel: (sequence) => cumulativeSumsTest(walkOf(sequence), sequence.length).z,
    twin: (bits) => [bits, [...bits].reverse()].map((each) => Math.max(...partialSums(each).map(Math.abs))),
  },
  'RandomExcursions: extremes, cycles and visits': {
    lengths: [1, 800],
    runs: 200,
    kernel: (sequence) => {
      const walk = walkOf(sequence);
      const states = randomExcursionsTest(walk).flatMap(({ state, counts }) => [state, ...counts]);
      return [walk.end, walk.minimum, walk.maximum, walk.cycles, ...walk.visits, ...states];
    },
    twin: (bits) => {
      const sums = partialSums(bits);
      const cycles = cyclesOf(bits);
      const visits = Array.from({ length: 19 }, (_, i) => sums.filter((sum) => sum === i - 9).length);
      const states = [-4, -3, -2, -1, 1, 2, 3, 4].flatMap((state) => {
        const visited = cycles.map((cycle) => cycle.filter((sum) => sum === state).length);
        return [state, ...histogram(visited, 0, 5)];
      });
      const [least, most] = [Math.min(0, ...sums), Math.max(0, ...sums)];
      return [sums[sums.length - 1], least, most, cycles.length, ...visits, ...states];
    },
  },
};

suite('a kernel has the counts of its slow twin', () => {
  for (const [name, { lengths, parameters = [], runs = 100, kernel, twin }] of Object.entries(TWINS)) {
    test(name, () => {
      const anyParameters = fc.tuple(...parameters.map(([min, max]) => fc.integer({ min, max })));
      fc.assert(
        fc.property(arbitraryBits(...lengths), anyParameters, (bits, chosen) => {
          const actual = kernel(sequenceOf(bits), chosen);
          const expected = twin(bits, chosen);
          assert.equal(actual.length, expected.length);
          expected.forEach((value, i) => {
            const error = Math.abs(actual[i] - value);
            assert.ok(error <= 1e-9 * Math.max(1, Math.abs(value)), `${i}: ${actual[i]}, not ${value}`);
          });
        }),
        { numRuns: runs },
      );
    });
  }
});

test('Runs: an unbalanced sequence has p = 0', () => {
  assert.equal(runsTest(sequenceOf('1'.repeat(80) + '0'.repeat(20))).pValue, 0);
  assert.ok(runsTest(sequenceOf('10'.repeat(50))).pValue < 1e-20);
  assert.ok(runsTest(sequenceOf('1100'.repeat(25))).pValue > 0.8);
});

test('FFT: a periodic sequence has few bins and a tiny p-value', () => {
  assert.ok(spectralTest(sequenceOf('1100'.repeat(300))).belowThreshold === 599);
  const { pValue } = spectralTest(sequenceOf('1101001'.repeat(200)));
  assert.ok(pValue < 1e-6, `${pValue}`);
});

test('CumulativeSums keeps the digits of a small p, where 1 minus a sum has none', () => {
  // z = n: p is 4 Φ(-√n) up to terms of Φ(-3√n).
  const { pValues } = cumulativeSumsTest(walkOf(sequenceOf('1'.repeat(100))), 100);
  assert.ok(Math.abs(pValues[0] / (4 * 7.619853024160527e-24) - 1) < 1e-9, `${pValues[0]}`);
});

test('OverlappingTemplate: the exact probabilities are those of all sequences of a short block', () => {
  // With each of the 2^12 blocks once, counts and expected counts agree and χ² is zero.
  const blockBits = 12;
  const bits = Array.from({ length: 2 ** blockBits }, (_, word) =>
    Array.from({ length: blockBits }, (_, i) => (word >>> i) & 1),
  ).flat();
  assert.ok(overlappingTemplateTest(sequenceOf(bits), 3, blockBits).pValue > 1 - 1e-12);
  assert.ok(overlappingTemplateTest(sequenceOf(bits), 3, blockBits, 'reference').pValue < 0.01);
});

test('the blocks of LongestRun, L and Q of Universal, and the cycles of the excursions follow the text', () => {
  assert.deepEqual([128, 6271, 6272, 749_999, 750_000].map(longestRunBlockBits), [8, 8, 128, 128, 10_000]);
  const choices = [387_840, 904_959, 904_960, 1_000_000, 2_068_480, 49_643_520].map((n) => {
    const { blockBits, initialBlocks } = universalParameters(n);
    return [blockBits, initialBlocks];
  });
  assert.deepEqual(choices, [
    [6, 640],
    [6, 640],
    [7, 1280],
    [7, 1280],
    [8, 2560],
    [12, 40_960],
  ]);
  assert.deepEqual([1_000_000, 1e12].map(minimumCycles), [500, 5000]);
});

test('bits beyond the length do not count', () => {
  assert.equal(frequencyTest(bitSequence(Uint8Array.of(0xff, 0xff), 11)).ones, 11);
});
