/** A million bytes through the whole assessment, their bit string of eight million bits included, beside NIST's tool: ten seconds. */
import { test } from 'node:test';
import { bitStringOf } from '../../../../src/stats/sp800-90b/alphabet.ts';
import { assessNonIid } from '../../../../src/stats/sp800-90b/assess.ts';
import { INPUTS } from '../../../vectors/sp800-90b/inputs.ts';
import { KNOWN_ANSWERS } from '../../../vectors/sp800-90b/kat.ts';
import { assertClose, assertDetails, detailsOf } from '../details.ts';

for (const answer of KNOWN_ANSWERS) {
  if (!answer.reproducible || answer.H_bitstring === null) continue;
  const symbols = INPUTS[answer.input]();

  test(`${answer.input}: every estimator on the symbols and on their bit string`, () => {
    const { H_original: ofSymbols, H_bitstring: ofBits = {} } = answer.detail;
    const names = Object.keys(ofSymbols);
    assertDetails(detailsOf(symbols, answer.distinct_symbols, names), ofSymbols, answer.input);
    const bits = bitStringOf(symbols, answer.bits_per_symbol);
    assertDetails(detailsOf(bits, 2, Object.keys(ofBits)), ofBits, answer.input);
  });

  test(`${answer.input}: the assessment`, () => {
    const assessed = assessNonIid(symbols, answer.bits_per_symbol);
    assertClose(assessed.hOriginal, answer.H_original, 'H_original');
    assertClose(assessed.hBitstring ?? Number.NaN, answer.H_bitstring ?? Number.NaN, 'H_bitstring');
    assertClose(assessed.minEntropyPerSymbol, answer.assessed_min_entropy, 'assessed');
  });
}
