import type { AssessedBlock } from '../../ledger/records.ts';

/**
 * The seam to whoever runs the statistical tests: a worker in the service, the same code in place in tests. Bits are
 * packed most significant bit first, and copied before the promise is returned: the caller may wipe them meanwhile.
 */
export interface Assessor {
  /** SP 800-22 over the first `bitLength` bits, with the verdict rule of docs/evidence.md. */
  testBits<Of extends string>(of: Of, bits: Uint8Array, bitLength: number): Promise<AssessedBlock<Of>>;
  /** SP 800-90B §6.3: the least of the non-IID estimates, per bit. Null with fewer than SCREENED_BITS. */
  minEntropyPerBit(bits: Uint8Array, bitLength: number): Promise<number | null>;
}

/** The length that SP 800-22 asks of one sequence for all of its tests, and SP 800-90B §3.1.1 of a data set. */
export const ASSESSED_BITS = 1_000_000;

/**
 * The estimators run on so many bits and more: the least lot that an operator can configure. An ideal source scores 0.56
 * here, 0.42 at worst in 12,000 trials, and what has a period, 0 (`node test/liars/run.ts scores`).
 */
export const SCREENED_BITS = 8192;
