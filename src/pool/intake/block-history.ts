import type { AssessedBlock } from '../../ledger/records.ts';
import { type RejectionVerdict, verdictOnRejections } from '../../stats/sp800-22/verdict.ts';
import { ASSESSED_BITS } from './assessor.ts';

/** Blocks that are looked at together: of the order of 1 / 0.01, as SP 800-22 §4.2.1 asks, and a day of a busy source. */
export const HISTORY_BLOCKS = 100;

/**
 * SP 800-22 across the last blocks of one kind. The rule for one block lets one good block of 500 fail; a source that
 * goes on failing now and then, and never often enough in a row, shows here. Blocks are independent, so the chance of
 * so many rejections is exactly binomial, which a sum of failed rows would not be.
 */
export class BlockHistory {
  readonly #rejections: boolean[] = [];

  /** Blocks too short for a verdict say nothing and are left out. */
  add(block: AssessedBlock<string>): void {
    if (block.bits < ASSESSED_BITS) return;
    this.#rejections.push(!block.sp80022.verified);
    if (this.#rejections.length > HISTORY_BLOCKS) this.#rejections.shift();
  }

  verdict(): RejectionVerdict {
    const rejected = this.#rejections.filter((each) => each).length;
    return verdictOnRejections(this.#rejections.length, rejected);
  }
}
