import { setImmediate } from 'node:timers/promises';
import { assert } from '../../core/assert.ts';
import { MAX_READ_BITS } from '../backend.ts';
import type { Shots } from '../shots.ts';
import { type ByteSource, Coins, RandomWords } from './coins.ts';

/** Readout error of one channel: e01 = P(reads 1 | state 0), e10 = P(reads 0 | state 1). */
export interface ReadoutError {
  readonly e01: number;
  readonly e10: number;
}

export interface Noise {
  /** By channel. */
  readonly readout: readonly ReadoutError[];
  /** A coherent tilt of every qubit. H and a perfect measurement then give 1 with probability 1/2 + bias. */
  readonly bias: number;
}

/** Returns the probability that each channel shows 1. */
function onesProbabilities({ readout, bias }: Noise): number[] {
  assert(Math.abs(bias) <= 0.5, 'a tilt leaves a probability');
  const one = 0.5 + bias;
  return readout.map(({ e01, e10 }) => {
    assert(e01 >= 0 && e10 >= 0 && e01 + e10 <= 1, 'e01, e10 and their sum are probabilities');
    return (1 - one) * e01 + one * (1 - e10);
  });
}

/**
 * Returns the min-entropy per raw bit that the simulated device may claim (H_submitter), against an adversary who knows
 * the noise: for every shot, which readouts were replaced.
 *
 * A readout with errors (e01, e10) is perfect with probability 1 - f, f = e01 + e10, and a fixed answer otherwise. So
 * the adversary guesses a qubit whose likelier outcome has probability q with at most
 *
 *   guess <= min(1, q (1 + f)),   H = -log2(guess).
 *
 * For an ideal H this is exactly 1 - log2(1 + e01 + e10). It is never above the entropy of the bias in the bits, in
 * which e01 and e10 may cancel. The claim is that of the worst qubit.
 */
export function claimedMinEntropyPerBit({ readout, bias }: Noise): number {
  const likelier = 0.5 + Math.abs(bias);
  const guesses = readout.map(({ e01, e10 }) => Math.min(1, likelier * (1 + e01 + e10)));
  return Math.max(0, -Math.log2(Math.max(...guesses)));
}

assert(MAX_READ_BITS <= 2 ** 31, 'bit positions of a read are exact in 32-bit shifts');

/** Bits made between two turns of the event loop: about 2 ms at 1.6 ns each (Node 22). */
const SLICE_BITS = 2 ** 20;

/**
 * Measures qubits after an H on each, under noise. No gate joins qubits, so the state is a product, and every channel
 * is an independent coin with a probability of its own. Tossing the coins samples the circuit exactly.
 */
export class MeasuredQubits {
  readonly width: number;
  readonly #coins: Coins;
  readonly #words: RandomWords;
  /** A multiple of 32, so that each slice begins where the coins' assignment of channels begins. */
  readonly #shotsPerSlice: number;

  constructor(noise: Noise, source: ByteSource) {
    this.width = noise.readout.length;
    this.#coins = new Coins(onesProbabilities(noise));
    this.#words = new RandomWords(source);
    this.#shotsPerSlice = 32 * Math.max(1, Math.floor(SLICE_BITS / this.width / 32));
  }

  /** Resolves to shots, packed like RawRead.bits. Rejects with the reason of an aborted signal. */
  async take(shots: number, signal: AbortSignal): Promise<Shots> {
    signal.throwIfAborted();
    const bits = new Uint8Array(Math.ceil((shots * this.width) / 8));
    for (let shot = 0; shot < shots; shot += this.#shotsPerSlice) {
      if (shot > 0) {
        await setImmediate();
        signal.throwIfAborted();
      }
      const count = Math.min(this.#shotsPerSlice, shots - shot);
      this.#coins.fill(bits, (shot * this.width) / 8, count, this.#words);
      this.#words.eraseUsed();
    }
    return { bits, shots };
  }
}
