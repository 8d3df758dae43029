import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PredictorRun } from '../../../src/stats/sp800-90b/prediction.ts';
import { lag, lz78y, multiMcw, multiMmc } from '../../../src/stats/sp800-90b/predictors.ts';
import { plainLag, plainLz78y, plainMultiMcw, plainMultiMmc } from '../../reference/sp800-90b/predictors.ts';
import { sources } from './sources.ts';

type Predictor = (symbols: Uint8Array, alphabetSize: number) => PredictorRun | null;

function assertSameRun(predictor: Predictor, plain: (symbols: Uint8Array) => PredictorRun) {
  return ({ symbols, alphabetSize }: { symbols: Uint8Array; alphabetSize: number }): void => {
    const estimate = predictor(symbols, alphabetSize);
    assert.ok(estimate !== null);
    const { predictions, correct, longestRun } = estimate;
    assert.deepEqual({ predictions, correct, longestRun }, plain(symbols));
  };
}

for (const [name, predictor, plain, lengths, numRuns, seed] of [
  ['MultiMCW', multiMcw, plainMultiMcw, { min: 4096, max: 4700 }, 12, 637],
  ['the lag predictor', lag, plainLag, { min: 3, max: 1200 }, 60, 638],
  ['MultiMMC', multiMmc, plainMultiMmc, { min: 4, max: 1500 }, 40, 639],
  ['LZ78Y', lz78y, plainLz78y, { min: 19, max: 1500 }, 40, 6310],
] as const) {
  test(`${name} has the results of its plain twin`, () => {
    const property = fc.property(
      sources(lengths, [2, 2, 2, 3, 5, 16, 256]),
      assertSameRun(predictor, (symbols) => plain(symbols)),
    );
    fc.assert(property, { numRuns, seed });
  });
}

test('LZ78Y: the dictionary takes 65,536 contexts, and of its last step the longest', () => {
  // Multiples of 1, 2, 3, ... modulo 199: every pair of neighbours occurs once, so each step brings 15 contexts, and
  // one more for a symbol not met before: 199 of these and 12 strewn in. After 4,354 steps 15 * 4354 + 211 = 65,521
  // contexts are known. The next step ends in 255: its 15 longer contexts still find room, 255 alone does not.
  const base = Array.from({ length: 23 * 199 }, (_, i) => ((i % 199) * (Math.floor(i / 199) + 1)) % 199);
  for (let symbol = 0; symbol < 12; symbol++) base.splice(100 * (symbol + 1), 0, 199 + symbol);
  const filling = base.slice(0, 16 + 4354 - 1);
  // 255 is always followed by 7, after symbols that preceded it and others.
  const before = filling[filling.length - 1];
  const using = Array.from({ length: 40 }, (_, i) => [i % 4 === 0 ? before : 20 + i, 255, 7]).flat();
  const symbols = Uint8Array.from([...filling, 255, 7, ...using]);
  assertSameRun(lz78y, plainLz78y)({ symbols, alphabetSize: 256 });
  // The stream tells a dictionary of any other size apart.
  assert.notDeepEqual(plainLz78y(symbols, 65_535), plainLz78y(symbols));
  assert.notDeepEqual(plainLz78y(symbols, 65_537), plainLz78y(symbols));
});

test('a sequence that is too short for a predictor has no estimate', () => {
  const bits = Uint8Array.from({ length: 4095 }, (_, i) => i & 1);
  assert.equal(multiMcw(bits, 2), null);
  assert.equal(lag(bits.subarray(0, 2), 2), null);
  assert.equal(multiMmc(bits.subarray(0, 3), 2), null);
  assert.equal(lz78y(bits.subarray(0, 18), 2), null);
  assert.notEqual(lag(bits.subarray(0, 3), 2), null);
  assert.notEqual(multiMmc(bits.subarray(0, 4), 2), null);
  assert.notEqual(lz78y(bits.subarray(0, 19), 2), null);
});
