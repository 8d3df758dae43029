/**
 * Committed draws as the ledger keeps them. What a draw is stands in `body`, which the ledger does not read
 * (certificate/draw.ts and answer/draw-keeper.ts do).
 */
export interface DrawRecord {
  /** `draw_` and 26 base32 characters. */
  readonly id: string;
  readonly accountNumber: number;
  /**
   * opening: its answer may or may not be in the books; nobody was told of it. committed: its answer is durable. ended:
   * revealed, cancelled or failed; it never changes again.
   */
  readonly state: 'opening' | 'committed' | 'ended';
  /** When it is to be revealed (Unix ms). */
  readonly dueAtMs: number;
  /** JSON. */
  readonly body: string;
}

/** A leaf that the log is to take for a draw: of its commitment, or of its end. */
export interface DrawLeaf {
  readonly drawId: string;
  readonly kind: 'commit' | 'end';
  /** Canonical JSON. */
  readonly text: string;
}

/** A leaf that waits to be logged. */
export interface WaitingDrawLeaf extends DrawLeaf {
  /** Its place in the order in which the leaves came. */
  readonly ordinal: number;
}
