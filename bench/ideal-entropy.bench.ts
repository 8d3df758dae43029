import { assessBits } from '../src/stats/sp800-90b/assess.ts';
import { quantile, summarize } from '../test/support/statistics.ts';
import { keystream } from './support/keystream.ts';
import type { Report, Row, Suite } from './support/suite.ts';

const BITS = 1_000_000;
const SHARES = { least: 0, '5 %': 0.05, median: 0.5, '95 %': 0.95, greatest: 1 };

/**
 * Runs ten estimators on blocks of ChaCha20 bits, 0.4 s a block, and reports the least result. The figures of
 * docs/evidence.md and the floor in src/pool/intake/lots.ts come from 400 blocks. A round is a block.
 */
export const idealEntropy: Suite = {
  name: 'ideal-entropy',
  summary: 'what SP 800-90B says of a perfect source, by blocks, of which --rounds says how many',
  byDefault: false,
  async run({ rounds, talk }): Promise<Report> {
    const next = keystream(102);
    const scores: number[] = [];
    const mostCommonValues: number[] = [];
    const deciders: Record<string, number> = {};
    for (let i = 0; i < rounds; i++) {
      const { estimators, minEntropyPerBit } = assessBits(next(BITS / 8), BITS);
      scores.push(minEntropyPerBit);
      mostCommonValues.push(estimators['Most Common Value'] ?? Number.NaN);
      for (const [name, estimate] of Object.entries(estimators)) {
        if (estimate === minEntropyPerBit) deciders[name] = (deciders[name] ?? 0) + 1;
      }
    }
    talk(`decided by ${JSON.stringify(deciders)}`);
    const row = (label: string, values: readonly number[]): Row => {
      const sorted = values.toSorted((a, b) => a - b);
      return { label, cells: Object.values(SHARES).map((share) => summarize([quantile(sorted, share)])) };
    };
    return {
      tables: [
        {
          title: `SP 800-90B on ${rounds} blocks of ${BITS} bits of a perfect source`,
          note: 'Bits of min-entropy per bit.',
          columns: Object.keys(SHARES).map((title) => ({ title })),
          rows: [row('least of ten', scores), row('Most Common Value', mostCommonValues)],
        },
      ],
    };
  },
};
