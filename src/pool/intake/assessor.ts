import type { AssessedBlock } from '../../ledger/records.ts';
import type { Autocorrelation } from '../../stats/autocorrelation.ts';

/**
 * Runs the statistical tests: in a worker of the service, and in the same thread in tests. Bits are packed most
 * significant bit first. They are copied before the promise is returned, so the caller may wipe them at once.
 */
export interface Assessor {
  /** Runs SP 800-22 over the first `bitLength` bits, with the verdict rule of docs/evidence.md. */
  testBits<Of extends string>(of: Of, bits: Uint8Array, bitLength: number): Promise<AssessedBlock<Of>>;
  /** Runs SP 800-22 and SP 800-90B over every bit of a lot, in windows and in two orders (assess-lot.ts). */
  assessLot(bits: Uint8Array, width: number, shots: number): Promise<LotAssessment>;
}

/** The assessment of one window of a lot. */
export interface AssessedWindow extends AssessedBlock<'raw'> {
  readonly order: 'shots' | 'channels';
  /** The least of the ten non-IID estimates of SP 800-90B 6.3; null with fewer than SCREENED_BITS bits. */
  readonly minEntropyPerBit: number | null;
  /** The ten estimates by name; absent if there are none. */
  readonly estimators?: Readonly<Record<string, number>>;
  /**
   * The row of SP 800-22 with the least p-value, without Runs. Runs has no valid p-value for biased bits: it is 0 if
   * the share of ones is four deviations from half. The autocorrelation at lag 1 shows what Runs looks for.
   */
  readonly leastRow: { readonly test: string; readonly pValue: number };
}

export interface LotAssessment {
  readonly windows: readonly AssessedWindow[];
  /**
   * The least estimate of all windows, or what the autocorrelation leaves if that is less; null if the lot is too
   * short.
   */
  readonly minEntropyPerBit: number | null;
  readonly autocorrelation: Autocorrelation;
  /** How often each channel showed 1. */
  readonly ones: Uint32Array;
}

/** Bits that SP 800-22 needs for all of its tests, and SP 800-90B §3.1.1 for a data set. */
export const ASSESSED_BITS = 1_000_000;

/**
 * Bits that the estimators need at least: the smallest lot that an operator can configure. At this length an ideal
 * source scores 0.56, and 0.42 at worst in 12,000 trials; a periodic one scores 0 (`node test/adversary/liars/run.ts
 * scores`).
 */
export const SCREENED_BITS = 8192;

/** How many lots' estimates an alarm keeps for display: a day of a busy source. */
export const HISTORY_BLOCKS = 100;
