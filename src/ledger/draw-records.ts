/** A committed draw as the ledger stores it. The ledger does not read `body`; draws/keeper.ts writes and reads it. */
export interface DrawRecord {
  /** `draw_` and 26 base32 characters. */
  readonly id: string;
  readonly accountNumber: number;
  /**
   * opening: its answer may or may not be in the books, and no client knows of the draw. committed: its answer is durable.
   * ended: revealed, cancelled or failed; the draw never changes again.
   */
  readonly state: 'opening' | 'committed' | 'ended';
  /** When the draw is to be revealed (Unix ms). */
  readonly dueAtMs: number;
  /** JSON. */
  readonly body: string;
}

/** A leaf of the log for a draw: its commitment, or its end. */
export interface DrawLeaf {
  readonly drawId: string;
  readonly kind: 'commit' | 'end';
  /** Canonical JSON. */
  readonly text: string;
}

/** A leaf that waits to be logged. */
export interface WaitingDrawLeaf extends DrawLeaf {
  /** The leaf's place in the order of all leaves. */
  readonly ordinal: number;
}
