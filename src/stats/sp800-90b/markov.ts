import { minEntropyOf } from './confidence.ts';

/** Length of the chain whose most likely path is weighed (SP 800-90B 6.3.3). */
const CHAIN_LENGTH = 128;

export interface MarkovEstimate {
  /** Pr[0] and Pr[1]. */
  readonly initial: readonly [number, number];
  /** transition[a][b]: probability that b follows a; 0 for both when a never occurs before the last place. */
  readonly transition: readonly [readonly [number, number], readonly [number, number]];
  /** Probability of the most likely chain of 128 bits. */
  readonly pMax: number;
  /** Bits per bit. */
  readonly minEntropy: number;
}

/** Markov estimate (SP 800-90B 6.3.3) of at least two bits, one per byte. */
export function markov(bits: Uint8Array): MarkovEstimate {
  const pairs = new Int32Array(4);
  for (let i = 1; i < bits.length; i++) pairs[(bits[i - 1] << 1) | bits[i]]++;
  const [count00, count01, count10, count11] = pairs;
  const zeros = count00 + count01 + (bits[bits.length - 1] === 0 ? 1 : 0);
  const initial = [zeros / bits.length, 1 - zeros / bits.length] as const;
  const transition = [row(count00, count01), row(count10, count11)] as const;
  const chainBits = lowestChainBits(initial, transition);
  return { initial, transition, pMax: 2 ** -chainBits, minEntropy: Math.min(chainBits / CHAIN_LENGTH, 1) };
}

function row(toZero: number, toOne: number): readonly [number, number] {
  const total = toZero + toOne;
  return total === 0 ? [0, 0] : [toZero / total, toOne / total];
}

/** -log2 of the most likely of the six chains of 6.3.3; at most 128. */
function lowestChainBits(
  initial: readonly [number, number],
  transition: readonly [readonly [number, number], readonly [number, number]],
): number {
  // An impossible step costs infinitely many bits, so a chain that needs one is never the lowest.
  const [start0, start1] = initial.map(minEntropyOf);
  const [[t00, t01], [t10, t11]] = transition.map((probabilities) => probabilities.map(minEntropyOf));
  return Math.min(
    CHAIN_LENGTH,
    start0 + 127 * t00, // 00...0
    start0 + 64 * t01 + 63 * t10, // 0101...01
    start0 + t01 + 126 * t11, // 011...1
    start1 + t10 + 126 * t00, // 100...0
    start1 + 64 * t10 + 63 * t01, // 1010...10
    start1 + 127 * t11, // 11...1
  );
}
