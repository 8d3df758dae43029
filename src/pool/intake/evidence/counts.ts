import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChshWitness, RawRead } from '../../../backend/backend.ts';
import { CHSH_SETTINGS } from '../../../backend/circuit.ts';

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

/** The wins of one pair, over clusters. */
export interface PairWins {
  /** Mean over the clusters of the share of their ordered runs that won; a run that did not come is lost. */
  readonly mean: number;
  /** Mean of the squares of these shares. */
  readonly meanSquare: number;
}

/**
 * Counts the Bell tests of a read of an even width, whose channels 2k and 2k + 1 are the sides of pair k. A
 * run wins when its sides are equal, in setting (1, 1) when they differ. Gives one entry a pair.
 */
export async function winsPerPair(
  { bits, width }: Pick<RawRead, 'bits' | 'width'>,
  { settings, clusterShots, shotsOrdered }: ChshWitness,
): Promise<PairWins[]> {
  const pairs = width / 2;
  const sums = new Float64Array(pairs);
  const squares = new Float64Array(pairs);
  const wins = new Uint32Array(pairs);
  let cluster = 0;
  let shot = 0;
  let left = clusterShots[0];
  const endClusters = () => {
    for (; left === 0 && cluster < clusterShots.length; left = clusterShots[++cluster] ?? 0) {
      for (let pair = 0; pair < pairs; pair++) {
        const share = wins[pair] / shotsOrdered;
        sums[pair] += share;
        squares[pair] += share * share;
      }
      wins.fill(0);
    }
  };
  endClusters(); // those without a shot
  await inSlices(settings.length, width, (_, to) => {
    for (; shot < to; shot++) {
      const differs = settings[shot] === DIFFERS ? 1 : 0;
      for (let pair = 0, at = shot * width; pair < pairs; pair++, at += 2) {
        wins[pair] += 1 ^ differs ^ bitAt(bits, at) ^ bitAt(bits, at + 1);
      }
      left--;
      if (left === 0) endClusters();
    }
  });
  const clusters = clusterShots.length;
  return Array.from(sums, (sum, pair) => ({ mean: sum / clusters, meanSquare: squares[pair] / clusters }));
}

/** The setting (1, 1): the only one in which sides that differ win. */
const DIFFERS = CHSH_SETTINGS.findIndex(([a, b]) => a === 1 && b === 1);

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
