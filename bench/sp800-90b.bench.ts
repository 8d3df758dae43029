import { unpackBits } from '../src/stats/sp800-90b/alphabet.ts';
import { assessBits, assessNonIid } from '../src/stats/sp800-90b/assess.ts';
import { collision, compression, markov, mostCommonValue } from '../src/stats/sp800-90b/closed-forms.ts';
import { additionalIidTests } from '../src/stats/sp800-90b/iid.ts';
import { lag, lz78y, multiMcw, multiMmc } from '../src/stats/sp800-90b/predictors.ts';
import {
  longestRepeatedSubstring,
  repeatedSubstrings,
  tTuple,
} from '../src/stats/sp800-90b/repeated-substrings.ts';
import { restartCutoff } from '../src/stats/sp800-90b/restart.ts';

import { keystream } from './support/keystream.ts';
import type { Report, Suite } from './support/suite.ts';
import { callTable } from './support/tables.ts';

const SAMPLES = 1_000_000;

/** Each estimator and the whole assessment, one core, and the suffix sort on bad sources. */
export const sp80090b: Suite = {
  name: 'sp800-90b',
  summary: 'SP 800-90B on 10^6 bits, estimator by estimator, and the suffix sort on bad sources',
  byDefault: false,
  async run(run): Promise<Report> {
    const blocks = keystream(100);
    const packed = Array.from({ length: 4 }, () => blocks(SAMPLES / 8));
    const before = process.resourceUsage().maxRSS;
    assessBits(packed[0], SAMPLES);
    const addedMib = (process.resourceUsage().maxRSS - before) / 1024;
    const sequences = packed.map((bytes) => unpackBits(bytes, SAMPLES));
    const repeats = sequences.map((bits) => repeatedSubstrings(bits, 1));
    const symbols = keystream(100)(SAMPLES);
    let turn = 0;
    const next = () => sequences[turn++ % sequences.length];
    const nextRepeats = () => repeats[turn++ % repeats.length];
    const calls = {
      unpacking: () => unpackBits(packed[turn++ % packed.length], SAMPLES),
      'Most Common Value': () => mostCommonValue(next(), 2),
      Collision: () => collision(next()),
      Markov: () => markov(next()),
      Compression: () => compression(next()),
      'repeated substrings (for the next two)': () => repeatedSubstrings(next(), 1),
      't-Tuple': () => tTuple(nextRepeats()),
      LRS: () => longestRepeatedSubstring(nextRepeats()),
      'MultiMCW Prediction': () => multiMcw(next(), 2),
      'Lag Prediction': () => lag(next(), 2),
      'MultiMMC Prediction': () => multiMmc(next(), 2),
      'LZ78Y Prediction': () => lz78y(next(), 2),
      'whole assessment': () => assessBits(packed[turn++ % packed.length], SAMPLES),
      'IID: chi-square and repeat length': () => additionalIidTests(next()),
      'restart cutoff': () => restartCutoff(0.85),
      'whole assessment of as many bytes': () => assessNonIid(symbols, 8),
    };
    const heading = {
      title: 'SP 800-90B on 10^6 bits',
      note: `The first assessment added ${addedMib.toFixed(0)} MiB to the resident set, when nothing ran before it.`,
    };
    const worst = {
      title: 'The suffix sort on 10^6 bits of bad sources',
      note: 'Sources that repeat themselves cost it most.',
    };
    return {
      tables: [
        await callTable(run, heading, 'ms', calls),
        await callTable(run, worst, 'ms', Object.fromEntries(sorts(symbols))),
      ],
    };
  },
};

/** The sort of each source's bits, by its name. */
function sorts(noise: Uint8Array): [name: string, sort: () => unknown][] {
  const sources: Record<string, (index: number) => number> = {
    good: (i) => noise[i] & 1,
    'one 1 in 256': (i) => Number(noise[i] === 0),
    'zeros, then a 1': (i) => Number(i === SAMPLES - 1),
    alternating: (i) => i & 1,
    'replayed once': (i) => noise[i % (SAMPLES / 2)] & 1,
    'replayed every 1,000': (i) => noise[i % 1000] & 1,
  };
  return Object.entries(sources).map(([name, bit]) => {
    const bits = Uint8Array.from({ length: SAMPLES }, (_, i) => bit(i));
    return [name, () => repeatedSubstrings(bits, 1)];
  });
}
