import { BATTERY_BITS, runBattery } from '../src/stats/sp800-22/battery.ts';
import {
  blockFrequencyTest,
  frequencyTest,
  longestRunTest,
  rankTest,
  runsTest,
} from '../src/stats/sp800-22/counting.ts';
import { linearComplexityTest } from '../src/stats/sp800-22/linear-complexity.ts';
import { approximateEntropyTest, countPatterns, serialTest } from '../src/stats/sp800-22/patterns.ts';
import { type BitSequence, bitSequence } from '../src/stats/sp800-22/sequence.ts';
import { spectralTest } from '../src/stats/sp800-22/spectral.ts';
import { nonOverlappingTemplateTest, overlappingTemplateTest } from '../src/stats/sp800-22/templates.ts';
import { universalParameters, universalTest } from '../src/stats/sp800-22/universal.ts';
import {
  cumulativeSumsTest,
  randomExcursionsTest,
  randomExcursionsVariantTest,
  walkOf,
} from '../src/stats/sp800-22/walk.ts';

import { keystream } from './support/keystream.ts';
import type { Report, Suite } from './support/suite.ts';
import { callTable } from './support/tables.ts';

const BITS = BATTERY_BITS;

/** Each test and the whole battery, one core. */
export const stats: Suite = {
  name: 'stats',
  summary: 'SP 800-22 on 10^6 bits, test by test',
  byDefault: true,
  async run(run): Promise<Report> {
    const blocks = keystream(100);
    const packed = Array.from({ length: 4 }, () => blocks(BITS / 8));
    const sequences = packed.map((bytes) => bitSequence(bytes, BITS));
    let turn = 0;
    const next = (): BitSequence => sequences[turn++ % sequences.length];
    const parameters = universalParameters(BITS);
    const walks = sequences.map(walkOf);
    const nextWalk = () => walks[turn++ % walks.length];
    const patterns = sequences.map((bits) => countPatterns(bits, 16));
    const nextPatterns = () => patterns[turn++ % patterns.length];
    const calls = {
      'packing into words': () => bitSequence(packed[turn++ % packed.length], BITS),
      Frequency: () => frequencyTest(next()),
      BlockFrequency: () => blockFrequencyTest(next(), 128),
      'walk (for the next three)': () => walkOf(next()),
      CumulativeSums: () => cumulativeSumsTest(nextWalk(), BITS),
      RandomExcursions: () => randomExcursionsTest(nextWalk()),
      RandomExcursionsVariant: () => randomExcursionsVariantTest(nextWalk()),
      Runs: () => runsTest(next()),
      LongestRun: () => longestRunTest(next(), 10_000),
      Rank: () => rankTest(next()),
      FFT: () => spectralTest(next()),
      'NonOverlappingTemplate x148': () => nonOverlappingTemplateTest(next(), 9, 8),
      OverlappingTemplate: () => overlappingTemplateTest(next(), 9, 1032),
      Universal: () => universalTest(next(), parameters),
      'patterns of 16 bits (for the next two)': () => countPatterns(next(), 16),
      Serial: () => serialTest(nextPatterns(), BITS),
      ApproximateEntropy: () => approximateEntropyTest(nextPatterns(), BITS, 10),
      LinearComplexity: () => linearComplexityTest(next(), 500),
      'whole battery': () => runBattery(packed[turn++ % packed.length], BITS),
    };
    const heading = { title: 'SP 800-22 on 10^6 bits', note: '' };
    return { tables: [await callTable(run, heading, 'ms', calls)] };
  },
};
