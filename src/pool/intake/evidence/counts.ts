import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RawRead } from '../../../backend/backend.ts';

/**
 * Bits counted between two turns of the event loop: 1 ms at 2 ns a bit, and 5 ms before the loops are compiled
 * (measured with 4 Mbit on Node 22 and two shared cores).
 */
const SLICE_BITS = 2 ** 19;

/** Resolves to how often each channel showed 1. */
export async function onesPerChannel({
  bits,
  width,
  shots,
}: Pick<RawRead, 'bits' | 'width' | 'shots'>): Promise<Uint32Array> {
  const ones = new Uint32Array(width);
  const slice = width * Math.max(1, Math.floor(SLICE_BITS / width));
  for (let from = 0; from < shots * width; from += slice) {
    if (from > 0) await nextTurn();
    const to = Math.min(shots * width, from + slice);
    for (let channel = 0; channel < width; channel++) {
      let count = 0;
      for (let at = from + channel; at < to; at += width) count += (bits[at >>> 3] >>> (7 - (at & 7))) & 1;
      ones[channel] += count;
    }
  }
  return ones;
}
