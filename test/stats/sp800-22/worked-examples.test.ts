/**
 * The worked examples of SP 800-22 rev 1a, sections 2.x.4 and 2.x.8; where the document misprints, what is
 * right.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import {
  blockFrequencyTest,
  frequencyTest,
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
import { universalTest } from '../../../src/stats/sp800-22/universal.ts';
import {
  cumulativeSumsTest,
  randomExcursionsTest,
  randomExcursionsVariantTest,
  walkOf,
} from '../../../src/stats/sp800-22/walk.ts';
import { sequenceOf } from '../../support/bit-sequences.ts';
import { digitsOf } from '../../support/constants.ts';

interface State {
  readonly nu?: readonly number[];
  readonly visits?: number;
  readonly p: number;
}
interface Example {
  readonly section: string;
  readonly bits: string;
  readonly params: Readonly<Record<string, number | string>>;
  readonly computed: Readonly<Record<string, number | readonly number[]>> & {
    readonly states?: Readonly<Record<string, State>>;
  };
}

const file = new URL('../../vectors/sp800-22/sp800-22-examples.json', import.meta.url);
const { examples }: { examples: readonly Example[] } = JSON.parse(readFileSync(file, 'utf8'));
const digits = digitsOf('e', 1_000_000);
const used = new Set<Example>();

/** The examples of one section, or of one direction of it, as a test reads them. */
function example(section: string, direction?: string): Example & { readonly sequence: BitSequence } {
  const found = examples.find((one) => one.section === section && one.params['direction'] === direction);
  assert.ok(found !== undefined, `example ${section}`);
  used.add(found);
  const [, count] = found.bits.split(':');
  const sequence = count === undefined ? sequenceOf(found.bits) : bitSequence(digits, Number(count));
  return { ...found, sequence };
}

function assertClose(actual: number, expected: number | readonly number[] | undefined, what: string): void {
  assert.ok(typeof expected === 'number', `${what} is a number of the example`);
  assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.abs(expected), `${what}: ${actual}, not ${expected}`);
}

after(() => assert.equal(used.size, examples.length, 'every example of the file was run'));

for (const section of ['2.1.4', '2.1.8']) {
  test(`${section} Frequency`, () => {
    const { sequence, computed } = example(section);
    const { sum, pValue } = frequencyTest(sequence);
    assert.equal(sum, computed['S']);
    assertClose(pValue, computed['p'], 'p');
  });
}

for (const section of ['2.2.4', '2.2.8']) {
  test(`${section} BlockFrequency`, () => {
    const { sequence, params, computed } = example(section);
    const { blocks, chiSquared, pValue } = blockFrequencyTest(sequence, Number(params['M']));
    assert.equal(blocks, computed['N']);
    assertClose(chiSquared, computed['chi2'], 'chi2');
    assertClose(pValue, computed['p'], 'p');
  });
}

for (const section of ['2.3.4', '2.3.8']) {
  test(`${section} Runs`, () => {
    const { sequence, computed } = example(section);
    const { runs, onesShare, pValue } = runsTest(sequence);
    assert.equal(runs, computed['V']);
    assert.equal(onesShare, computed['pi']);
    assertClose(pValue, computed['p'], 'p');
  });
}

test('LongestRun gives the p-value of 2.4.8', () => {
  const { sequence, params, computed } = example('2.4.8');
  const { counts, pValue } = longestRunTest(sequence, Number(params['M']));
  assert.deepEqual(counts, computed['nu']);
  assertClose(pValue, computed['p'], 'p');
});

for (const section of ['2.5.4', '2.5.8']) {
  test(`${section} Rank`, () => {
    const { sequence, params, computed } = example(section);
    const { matrices, counts, pValue } = rankTest(sequence, Number(params['M']), Number(params['Q']));
    assert.equal(matrices, computed['N']);
    assert.deepEqual(counts, computed['F']);
    assertClose(pValue, computed['p'], 'p');
  });
}

for (const section of ['2.6.4', '2.6.8']) {
  test(`${section} FFT`, () => {
    const { sequence, computed } = example(section);
    const { belowThreshold, pValue } = spectralTest(sequence);
    assert.equal(belowThreshold, computed['N1']);
    assertClose(pValue, computed['p'], 'p');
  });
}

test('NonOverlappingTemplate gives the figures of 2.7.4', () => {
  const { sequence, params, computed } = example('2.7.4');
  const results = nonOverlappingTemplateTest(sequence, String(params['B']).length, Number(params['N']));
  const result = results.find(({ template }) => template === params['B']);
  assert.deepEqual(result?.counts, computed['W']);
  assertClose(result?.pValue ?? Number.NaN, computed['p'], 'p');
});

for (const section of ['2.8.4', '2.8.8']) {
  test(`${section} OverlappingTemplate, with the chances of the reference`, () => {
    const { sequence, params, computed } = example(section);
    const templateBits = Number(params['m'] ?? String(params['B']).length);
    const { blocks, counts, pValue } = overlappingTemplateTest(
      sequence,
      templateBits,
      Number(params['M']),
      'reference',
    );
    assert.equal(blocks, params['N']);
    assert.deepEqual(counts, computed['nu']);
    assertClose(pValue, computed['p'], 'p');
  });
}

test('Universal gives the figures of 2.9.4', () => {
  const { sequence, params, computed } = example('2.9.4');
  const { testBlocks, meanLog, pValue } = universalTest(sequence, {
    blockBits: Number(params['L']),
    initialBlocks: Number(params['Q']),
    expected: Number(params['expected']),
    sigma: () => Math.sqrt(Number(params['variance'])),
  });
  assert.equal(testBlocks, computed['K']);
  assertClose(meanLog, computed['fn'], 'fn');
  assertClose(pValue, computed['p'], 'p');
});

test('LinearComplexity gives the figures of 2.10.4 for one block', () => {
  const { sequence, params, computed } = example('2.10.4');
  assert.deepEqual(linearComplexityTest(sequence, Number(params['M'])).counts, computed['nu']);
});

test('2.10.8 LinearComplexity, with both sets of chances', () => {
  const { sequence, params, computed } = example('2.10.8');
  const { counts, pValue } = linearComplexityTest(sequence, Number(params['M']), 'reference');
  assert.deepEqual(counts, computed['nu']);
  assertClose(pValue, computed['p'], 'p');
  // The document's text rounds 1/96 to 0.010417 and 1/48 to 0.020833; the corrected set does not.
  const corrected = linearComplexityTest(sequence, Number(params['M'])).pValue;
  assert.ok(Math.abs(corrected - Number(computed['p_with_pi0_0.010417'])) < 2e-5, `${corrected}`);
});

for (const section of ['2.11.4', '2.11.8']) {
  test(`${section} Serial`, () => {
    const { sequence, params, computed } = example(section);
    const patterns = countPatterns(sequence, Number(params['m']));
    const { psiSquared, pValues } = serialTest(patterns, sequence.length);
    const expected = computed['psi2'] as readonly number[];
    psiSquared.forEach((psi, i) => {
      assert.ok(Math.abs(psi - expected[i]) < 1e-12);
    });
    assertClose(pValues[0], computed['p1'], 'p1');
    assertClose(pValues[1], computed['p2'], 'p2');
  });
}

for (const section of ['2.12.4', '2.12.8']) {
  test(`${section} ApproximateEntropy`, () => {
    const { sequence, params, computed } = example(section);
    const m = Number(params['m']);
    const result = approximateEntropyTest(countPatterns(sequence, m + 1), sequence.length, m);
    assertClose(result.entropy, computed['apen'], 'apen');
    assertClose(result.chiSquared, computed['chi2'], 'chi2');
    assertClose(result.pValue, computed['p'], 'p');
  });
}

for (const [section, direction] of [
  ['2.13.4', 'forward'],
  ['2.13.8', 'forward'],
  ['2.13.8', 'reverse'],
] as const) {
  test(`${section} CumulativeSums ${direction}`, () => {
    const { sequence, computed } = example(section, direction);
    const { z, pValues } = cumulativeSumsTest(walkOf(sequence), sequence.length);
    const index = direction === 'forward' ? 0 : 1;
    assert.equal(z[index], computed['z']);
    assertClose(pValues[index], computed['p_with_reference_C_integer_bounds'], 'p');
  });
}

for (const section of ['2.14.4', '2.14.8', '2.15.4', '2.15.8']) {
  const variant = section.startsWith('2.15');
  test(`${section} RandomExcursions${variant ? 'Variant' : ''}`, () => {
    const { sequence, computed } = example(section);
    const walk = walkOf(sequence);
    assert.equal(walk.cycles, computed['J']);
    const expected = Object.entries(computed.states ?? {});
    assert.ok(expected.length > 0);
    for (const [name, { nu, visits, p }] of expected) {
      if (variant) {
        const state = randomExcursionsVariantTest(walk).find((one) => one.state === Number(name));
        assert.equal(state?.visits, visits, name);
        assertClose(state?.pValue ?? Number.NaN, p, name);
      } else {
        const state = randomExcursionsTest(walk).find((one) => one.state === Number(name));
        assert.deepEqual(state?.counts, nu, name);
        assertClose(state?.pValue ?? Number.NaN, p, name);
      }
    }
  });
}
