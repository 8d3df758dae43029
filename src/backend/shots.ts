import { setImmediate as nextTurn } from 'node:timers/promises';

/** The shots of a job or a device, packed like RawRead.bits. */
export interface Shots {
  readonly bits: Uint8Array<ArrayBuffer>;
  readonly shots: number;
}

/** Bits checked and packed between two turns of the event loop: 1 ms. All 4.2 Mbit at once take 80 ms (Node 22). */
const BITS_PER_TURN = 65_536;

/**
 * Packs a provider's list of shots of `width` channels. `read` checks one shot and returns a function that gives the
 * bit of each channel; null for a shot to drop. Rejects if `read` throws.
 */
export async function packShots<Shot>(
  list: readonly Shot[],
  width: number,
  read: (shot: Shot) => ((channel: number) => boolean) | null,
): Promise<Shots & { readonly dropped: number }> {
  const bits = new Uint8Array(Math.ceil((width * list.length) / 8));
  const shotsPerTurn = Math.ceil(BITS_PER_TURN / width);
  let shots = 0;
  for (const [place, shot] of list.entries()) {
    if (place > 0 && place % shotsPerTurn === 0) await nextTurn();
    const isOne = read(shot);
    if (isOne === null) continue;
    for (let channel = 0, at = shots * width; channel < width; channel++, at++) {
      if (isOne(channel)) bits[at >>> 3] |= 0x80 >>> (at & 7);
    }
    shots++;
  }
  const dropped = list.length - shots;
  return { bits: bits.slice(0, Math.ceil((shots * width) / 8)), shots, dropped };
}
