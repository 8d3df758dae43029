import type { AssessedBlock, LotRecord } from './records.ts';

/**
 * The block that `nist_verified` speaks of: the last SP 800-22 run on what answers are drawn from, that is the
 * conditioned output, or the system source's own block.
 */
export function verifyingBlock(lot: LotRecord): AssessedBlock | undefined {
  return lot.assessments.findLast((each) => each.of !== 'raw');
}

export function nistVerified(lot: LotRecord): boolean {
  return verifyingBlock(lot)?.sp80022.verified ?? false;
}
