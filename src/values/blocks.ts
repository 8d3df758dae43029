import { type ByteSource, putText, takeEntropy } from './kernels.ts';
import { type Output, putPacked } from './packed.ts';

/** Values that come block by block through a window of the kernels' memory. */
export interface Blocks {
  /** Replaces the values in the window by the next ones; returns their count, 0 at the end. */
  next(): number;
}

/** Copies entropy into the window, `valueBytes` for each of `count` values, at most `blockValues` values a block. */
export function entropyBlocks(
  source: ByteSource,
  count: number,
  valueBytes: number,
  blockValues: number,
): Blocks {
  let missing = count;
  return {
    next() {
      const values = Math.min(missing, blockValues);
      if (values > 0) takeEntropy(source, values * valueBytes);
      missing -= values;
      return values;
    },
  };
}

/** Writes `values` values of the window to the text window as text, octets or MessagePack; returns the byte count. */
type WriteBlock = (values: number) => number;

/** Writes all blocks to `target` by `write`, and to `packed` by `pack` if both are given; returns the end in `target`. */
export function writeBlocks(
  blocks: Blocks,
  write: WriteBlock,
  target: Uint8Array,
  start: number,
  packed?: Output,
  pack?: WriteBlock,
): number {
  let at = start;
  for (let values = blocks.next(); values > 0; values = blocks.next()) {
    at = putText(write(values), target, at);
    if (packed !== undefined && pack !== undefined) putPacked(pack(values), packed);
  }
  return at;
}
