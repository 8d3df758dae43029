import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Bits counted between two turns of the event loop: 1 ms at 2 ns a bit, 5 ms before the loops are compiled (4
 * Mbit counted in a loop, Node 22, two shared cores).
 */
const SLICE_BITS = 2 ** 19;

/** How often each channel showed 1; `bits` as RawRead packs them. */
export async function onesPerChannel(bits: Uint8Array, width: number, shots: number): Promise<Uint32Array> {
  const ones = new Uint32Array(width);
  await inSlices(shots, width, (from, to) => {
    for (let channel = 0; channel < width; channel++) {
      let count = 0;
      for (let at = from * width + channel; at < to * width; at += width) count += bitAt(bits, at);
      ones[channel] += count;
    }
  });
  return ones;
}

async function inSlices(
  shots: number,
  width: number,
  count: (from: number, to: number) => void,
): Promise<void> {
  const slice = Math.max(1, Math.floor(SLICE_BITS / width));
  for (let from = 0; from < shots; from += slice) {
    if (from > 0) await nextTurn();
    count(from, Math.min(shots, from + slice));
  }
}

function bitAt(bits: Uint8Array, position: number): number {
  return (bits[position >>> 3] >>> (7 - (position & 7))) & 1;
}
