import { minEntropyOf, Z_995 } from './confidence.ts';

export interface CollisionEstimate {
  /** v: collisions seen. */
  readonly collisions: number;
  /** Sum of the times to collision: the samples used. */
  readonly samplesUsed: number;
  readonly mean: number;
  readonly deviation: number;
  /** Lower end of the 99 % interval of the mean, not below 2. */
  readonly meanLower: number;
  readonly p: number;
  /** Bits per bit. */
  readonly minEntropy: number;
}

/**
 * Collision estimate (SP 800-90B 6.3.2) of bits, one per byte. Null when fewer than two collisions are
 * seen.
 */
export function collision(bits: Uint8Array): CollisionEstimate | null {
  let collisions = 0;
  let sumOfSquares = 0;
  let at = 0;
  // Among three bits two are equal, so the time to a collision is 2 (00, 11) or 3 (all other triples).
  while (at < bits.length - 1) {
    const time = bits[at] === bits[at + 1] ? 2 : 3;
    if (at + time > bits.length) break;
    collisions++;
    sumOfSquares += time * time;
    at += time;
  }
  if (collisions < 2) return null;
  const mean = at / collisions;
  const deviation = Math.sqrt((sumOfSquares - at * mean) / (collisions - 1));
  const meanLower = Math.max(2, mean - (Z_995 * deviation) / Math.sqrt(collisions));
  // With q = 1 - p the expected time of 6.3.2 collapses to 2 + 2pq = 2 + 2p - 2p^2, a quadratic in p; it has
  // no root above 1/2 when the mean exceeds 2.5, and then entropy is full.
  const p = meanLower < 2.5 ? 0.5 + Math.sqrt(1.25 - 0.5 * meanLower) : 0.5;
  return { collisions, samplesUsed: at, mean, deviation, meanLower, p, minEntropy: minEntropyOf(p) };
}
