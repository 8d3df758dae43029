import type { AssessedBlock } from '../../ledger/records.ts';
import type { Autocorrelation } from '../../stats/autocorrelation.ts';

/**
 * The seam to whoever runs the statistical tests: a worker in the service, the same code in place in tests.
 * Bits are packed most significant bit first, and copied before the promise is returned: the caller may wipe
 * them meanwhile.
 */
export interface Assessor {
  /** SP 800-22 over the first `bitLength` bits, with the verdict rule of docs/evidence.md. */
  testBits<Of extends string>(of: Of, bits: Uint8Array, bitLength: number): Promise<AssessedBlock<Of>>;
  /** Every bit of a lot through both, in windows and in both orders (assess-lot.ts). */
  assessLot(bits: Uint8Array, width: number, shots: number): Promise<LotAssessment>;
}

/** One window of a lot, assessed by itself. */
export interface AssessedWindow extends AssessedBlock<'raw'> {
  readonly order: 'shots' | 'channels';
  /** SP 800-90B 6.3, the least of the non-IID estimates; null with fewer than SCREENED_BITS bits. */
  readonly minEntropyPerBit: number | null;
  /** The ten of them by name; absent where there are none. */
  readonly estimators?: Readonly<Record<string, number>>;
  /**
   * The row of SP 800-22 with the least p-value, of those that are one for any share of ones. Runs is not: its value is 0
   * wherever the share is four deviations from half, and what it looks for shows in the autocorrelation at lag 1.
   */
  readonly leastRow: { readonly test: string; readonly pValue: number };
}

export interface LotAssessment {
  readonly windows: readonly AssessedWindow[];
  /**
   * The least estimate of all windows, or what the autocorrelation leaves where that is less, bits per bit; null for a
   * lot that is too short for any.
   */
  readonly minEntropyPerBit: number | null;
  readonly autocorrelation: Autocorrelation;
}

/**
 * The length that SP 800-22 asks of one sequence for all of its tests, and SP 800-90B §3.1.1 of a data set.
 */
export const ASSESSED_BITS = 1_000_000;

/**
 * The estimators run on so many bits and more: the least lot that an operator can configure. An ideal source
 * scores 0.56 here, 0.42 at worst in 12,000 trials, and what has a period, 0 (`node
 * test/adversary/liars/run.ts scores`).
 */
export const SCREENED_BITS = 8192;

/** Lots whose estimates are drawn: a day of a busy source. */
export const HISTORY_BLOCKS = 100;
