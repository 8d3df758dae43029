import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { suite, test } from 'node:test';
import { assessBits } from '../../../src/stats/sp800-90b/assess.ts';
import { additionalIidTests } from '../../../src/stats/sp800-90b/iid.ts';
import { predictionEstimate } from '../../../src/stats/sp800-90b/prediction.ts';
import { packBits } from '../../support/bit-sequences.ts';
import { INPUTS } from '../../vectors/sp800-90b/inputs.ts';
import { KNOWN_ANSWERS } from '../../vectors/sp800-90b/kat.ts';
import { assertClose, assertDetails, detailsOf, predictionDetail } from './details.ts';

for (const answer of KNOWN_ANSWERS.filter(({ reproducible }) => reproducible)) {
  suite(`a million symbols, ${answer.input}`, () => {
    const symbols = INPUTS[answer.input]();

    test('the input is the one that was assessed', () => {
      assert.equal(createHash('sha256').update(symbols).digest('hex'), answer.sha256);
    });

    test('the chi-square and repeat length tests give the recorded figures', () => {
      const tests = additionalIidTests(symbols);
      const recorded = answer.iid.chi_square;
      const pairs = [
        [tests.independence, recorded.independence],
        [tests.goodnessOfFit, recorded['goodness of fit']],
      ] as const;
      for (const [actual, expected] of pairs) {
        assert.equal(actual.statistic.toFixed(6), expected.score.toFixed(6)); // printed with %f
        assert.equal(actual.degreesOfFreedom, expected['degrees of freedom']);
        assert.equal(actual.pValue.toFixed(6), expected['p-value'].toFixed(6));
      }
      assert.equal(tests.independence.passed && tests.goodnessOfFit.passed, answer.iid.chi_square_passed);
      assert.equal(tests.repeatLength.passed, answer.iid.lrs_passed);
    });

    // a million bytes, and their bit string, are assessed by long/bytes.ts
    if (answer.bits_per_symbol === 1) {
      test('every estimator and its intermediate values are as known', () => {
        const expected = answer.detail.H_original;
        const details = detailsOf(symbols, answer.distinct_symbols, Object.keys(expected));
        assertDetails(details, expected, answer.input);
      });

      test('the assessment takes the lowest', () => {
        const assessed = assessBits(packBits(symbols), symbols.length);
        assert.deepEqual(Object.keys(assessed.estimators), Object.keys(answer.detail.H_original));
        assertClose(assessed.hOriginal, answer.H_original, 'H_original');
        assertClose(assessed.minEntropyPerSymbol, answer.assessed_min_entropy, 'assessed');
        assert.equal(assessed.minEntropyPerBit, assessed.minEntropyPerSymbol);
        assert.equal(assessed.hBitstring, null);
      });
    }
  });
}

test('every recorded count of a predictor gives the recorded probabilities', () => {
  let locals = 0;
  for (const answer of KNOWN_ANSWERS) {
    for (const [group, details] of Object.entries(answer.detail)) {
      const alphabetSize = group === 'H_bitstring' ? 2 : answer.distinct_symbols;
      for (const [name, expected] of Object.entries(details)) {
        if (!name.endsWith('Prediction')) continue;
        const run = { predictions: expected.N, correct: expected.C, longestRun: expected.r - 1 };
        const actual = { [name]: predictionDetail(predictionEstimate(run, alphabetSize)) };
        assertDetails(actual, { [name]: expected }, answer.input);
        if ('P_local' in expected) locals++;
      }
    }
  }
  assert.equal(locals, 3, 'records in which a local run decides');
});
