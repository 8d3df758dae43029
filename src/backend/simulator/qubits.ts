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
  /** A coherent tilt of every qubit, such that H and a perfect measurement give 1 with probability 1/2 + bias. */
  readonly bias: number;
}

/** The probability that each channel shows 1. */
function onesProbabilities({ readout, bias }: Noise): number[] {
  assert(Math.abs(bias) <= 0.5, 'a tilt leaves a probability');
  const one = 0.5 + bias;
  return readout.map(({ e01, e10 }) => {
    assert(e01 >= 0 && e10 >= 0 && e01 + e10 <= 1, 'e01, e10 and their sum are probabilities');
    return (1 - one) * e01 + one * (1 - e10);
  });
}

/**
 * Min-entropy per raw bit that the simulated device may claim (H_submitter), against somebody who knows the
 * noise: for every shot which readouts were replaced.
 *
 * A readout with errors (e01, e10) is a perfect one with probability 1 - f, f = e01 + e10, and a fixed answer
 * otherwise, so that a qubit whose likelier outcome has q is guessed with at most
 *
 *   guess <= min(1, q (1 + f)),   H = -log2(guess).
 *
 * For an ideal H this is exactly 1 - log2(1 + e01 + e10). It is never above the entropy of the bias that is seen from
 * outside, in which e01 and e10 may cancel. The claim is the worst qubit's.
 */
export function claimedMinEntropyPerBit({ readout, bias }: Noise): number {
  const likelier = 0.5 + Math.abs(bias);
  const guesses = readout.map(({ e01, e10 }) => Math.min(1, likelier * (1 + e01 + e10)));
  return Math.max(0, -Math.log2(Math.max(...guesses)));
}

assert(MAX_READ_BITS <= 2 ** 31, 'bit positions of a read are exact in 32-bit shifts');

/** Bits tossed between two turns of the event loop: about 2 ms at 1.6 ns each (Node 22). */
const SLICE_BITS = 2 ** 20;

/**
 * H on each qubit and a measurement, under noise. No gate joins qubits, so the state is a product and every channel is a
 * coin with a probability of its own: sampling the coins is sampling the circuit, exactly.
 */
export class MeasuredQubits {
  readonly width: number;
  readonly #coins: Coins;
  readonly #words: RandomWords;
  /** Whole words of 32 shots: each slice then starts where the coins' pattern of channels starts. */
  readonly #shotsPerSlice: number;

  constructor(noise: Noise, source: ByteSource) {
    this.width = noise.readout.length;
    this.#coins = new Coins(onesProbabilities(noise));
    this.#words = new RandomWords(source);
    this.#shotsPerSlice = 32 * Math.max(1, Math.floor(SLICE_BITS / this.width / 32));
  }

  /** Packed as RawRead says. An aborted signal rejects with its reason. */
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
