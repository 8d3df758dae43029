/** What a thread is told that tries one target. */
export interface GuidedOrder {
  readonly target: string;
  readonly seed: number;
  readonly seconds: number;
  /** Int32: inputs begun, and the length of the one that is read now; behind them its bytes. */
  readonly current: SharedArrayBuffer;
}

export const CURRENT_HEAD_BYTES = 8;
