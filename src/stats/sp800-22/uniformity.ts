import { exactUniformityP, UNIFORMITY_BINS } from './verdict.ts';

/** Of one look. A sound source is looked at after every lot, so a limit of 0.001 would be met some day. */
export const UNIFORMITY_P_MIN = 1e-6;

/** How the p-values of many sequences of one source lie. */
export interface UniformityVerdict {
  readonly passed: boolean;
  readonly sequences: number;
  /** By row: the least exact p-value of its counts in the ten intervals, times the number of rows; at most 1. */
  readonly p: number;
  /** P-values of all rows and sequences in each tenth of [0, 1]. */
  readonly counts: readonly number[];
}

/**
 * Whether the p-values of each row are uniform over the sequences, given their deciles. Sequences are
 * independent and rows are not, so each row is judged by itself, exactly (binomial), and the least counts,
 * times the number of rows (Bonferroni). A sound source fails one look with a chance below UNIFORMITY_P_MIN.
 */
export function uniformityOf(deciles: readonly string[]): UniformityVerdict {
  const rows = Math.max(0, ...deciles.map(({ length }) => length));
  const counts = new Array<number>(UNIFORMITY_BINS).fill(0);
  let least = 1;
  for (let row = 0; row < rows; row++) {
    const bins = new Array<number>(UNIFORMITY_BINS).fill(0);
    for (const digits of deciles) {
      if (row >= digits.length) continue;
      const interval = Number(digits[row]);
      bins[interval]++;
      counts[interval]++;
    }
    const sequences = bins.reduce((sum, count) => sum + count, 0);
    least = Math.min(least, exactUniformityP(bins, sequences));
  }
  const p = Math.min(1, least * Math.max(1, rows));
  return { passed: p >= UNIFORMITY_P_MIN, sequences: deciles.length, p, counts };
}
