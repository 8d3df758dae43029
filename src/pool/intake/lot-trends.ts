import type { LotRecord } from '../../ledger/records.ts';
import { type DriftState, DriftTest } from '../../stats/drift.ts';
import type { UniformityVerdict } from '../../stats/sp800-22/uniformity.ts';
import type { RejectionVerdict } from '../../stats/sp800-22/verdict.ts';
import { ASSESSED_BITS, BlockHistory, HISTORY_BLOCKS } from './assessor.ts';

/** One lot as the drift test saw it. */
export interface LotEstimate {
  readonly minEntropyPerBit: number;
  /** The larger of the evidence for a fall and for a rise. */
  readonly driftBits: number;
}

/** What the lots of one source show together, those of earlier runs of the service included. */
export interface LotTrendsState {
  /** SP 800-22 across the blocks of the last lots: how many were rejected. */
  readonly across: { readonly raw: RejectionVerdict; readonly conditioned: RejectionVerdict };
  /** Whether the p-values of the same blocks are uniform. */
  readonly uniformity: { readonly raw: UniformityVerdict; readonly conditioned: UniformityVerdict };
  /** Whether the min-entropy estimate falls or rises from lot to lot. */
  readonly drift: DriftState;
  /** What the drift test saw of the last lots, oldest first. */
  readonly estimates: readonly LotEstimate[];
}

/** Looks at the lots of one source together. No single lot shows what this does. */
export class LotTrends {
  readonly #drift = new DriftTest();
  readonly #estimates: LotEstimate[] = [];
  readonly #across = { raw: new BlockHistory(), conditioned: new BlockHistory() };

  add(lot: LotRecord): void {
    const estimate = ownEstimateOf(lot);
    if (estimate !== null) this.#addEstimate(estimate);
    for (const block of lot.assessments) {
      // Of the raw noise the first window alone: the one of least entropy was chosen by what it scored.
      const isChosen = block.of === 'raw' && (block.order === 'channels' || (block.firstBit ?? 0) > 0);
      if (block.of !== 'system' && !isChosen) this.#across[block.of].add(block);
    }
  }

  state(): LotTrendsState {
    const { raw, conditioned } = this.#across;
    return {
      across: { raw: raw.verdict(), conditioned: conditioned.verdict() },
      uniformity: { raw: raw.uniformity(), conditioned: conditioned.uniformity() },
      drift: this.#drift.state(),
      estimates: [...this.#estimates],
    };
  }

  #addEstimate(minEntropyPerBit: number): void {
    this.#drift.add(minEntropyPerBit);
    const { fallBits, riseBits } = this.#drift.state();
    this.#estimates.push({ minEntropyPerBit, driftBits: Math.max(fallBits, riseBits) });
    if (this.#estimates.length > HISTORY_BLOCKS) this.#estimates.shift();
  }
}

/**
 * The estimate of a lot's own windows. Those of pooled short lots, and of one window as in older releases, do
 * not compare with it. A claim that is below the estimators does not hide that they fall.
 */
function ownEstimateOf({ rawWindows, rawBits, estimators, minEntropyPerBit }: LotRecord): number | null {
  if (rawWindows === undefined || rawBits < ASSESSED_BITS) return null;
  return estimators === undefined ? minEntropyPerBit : Math.min(...Object.values(estimators));
}
