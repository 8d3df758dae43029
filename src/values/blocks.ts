import { type ByteSource, putText, takeEntropy } from './kernels.ts';
import { type Output, putPacked } from './packed.ts';

/** Values in a window, block by block. */
export interface Blocks {
  /** Puts the next ones into the window, in the place of those before; returns how many, 0 at the end. */
  next(): number;
}

/** Bytes of the entropy as they are: so many for each value, of which a block holds at most `blockValues`. */
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

/** Makes text, octets or MessagePack of so many values in the window; returns its bytes, which are in the text window. */
type WriteBlock = (values: number) => number;

/** Writes what `write` makes of each block, and what `pack` makes of it to `packed`; returns where the first ends. */
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
