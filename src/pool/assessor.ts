import type { AssessedBlock } from '../store/records.ts';

/**
 * The seam to whoever runs the statistical tests: a worker in the service, the same code in place in tests. Bits are
 * packed most significant bit first, and copied before the promise is returned: the caller may wipe them meanwhile.
 */
export interface Assessor {
  /** SP 800-22 over the first `bitLength` bits, with the verdict rule of docs/evidence.md. */
  testBits<Of extends string>(of: Of, bits: Uint8Array, bitLength: number): Promise<AssessedBlock<Of>>;
  /** SP 800-90B §6.3: the least of the non-IID estimates, per bit. Null when there are too few bits. */
  minEntropyPerBit(bits: Uint8Array, bitLength: number): Promise<number | null>;
}

/** The length that SP 800-22 asks of one sequence for all of its tests, and SP 800-90B §3.1.1 of a data set. */
export const ASSESSED_BITS = 1_000_000;
