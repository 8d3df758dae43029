import { setImmediate as nextTurn } from 'node:timers/promises';
import { CHSH_SETTINGS } from '../../../backend/circuit.ts';

/**
 * Bits counted between two turns of the event loop: 1 ms at 2 ns a bit, 5 ms before the loops are compiled (4 Mbit counted in a
 * loop, Node 22, two shared cores).
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

export interface ChshCounts {
  /** Shots by setting, in the order of CHSH_SETTINGS. */
  readonly shots: Uint32Array;
  /** Of pair p in setting s, at p * 4 + s: shots in which its two sides were equal. */
  readonly equal: Uint32Array;
}

/** Counts the Bell tests of a read of an even width: channels 2k and 2k + 1 are the sides of pair k. */
export async function chshCounts(bits: Uint8Array, width: number, settings: Uint8Array): Promise<ChshCounts> {
  const kinds = CHSH_SETTINGS.length;
  const shots = new Uint32Array(kinds);
  for (const setting of settings) shots[setting]++;
  const equal = new Uint32Array((width / 2) * kinds);
  await inSlices(settings.length, width, (from, to) => {
    for (let shot = from; shot < to; shot++) {
      const setting = settings[shot];
      const end = (shot + 1) * width;
      for (let at = shot * width, cell = setting; at < end; at += 2, cell += kinds) {
        equal[cell] += 1 ^ bitAt(bits, at) ^ bitAt(bits, at + 1);
      }
    }
  });
  return { shots, equal };
}

/** S = E00 + E01 + E10 - E11 of one pair, E = P(equal) - P(different); every setting has shots. */
export function chshValue({ shots, equal }: ChshCounts, pair: number): number {
  let s = 0;
  CHSH_SETTINGS.forEach(([a, b], setting) => {
    const correlation = (2 * equal[pair * CHSH_SETTINGS.length + setting]) / shots[setting] - 1;
    s += a === 1 && b === 1 ? -correlation : correlation;
  });
  return s;
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
