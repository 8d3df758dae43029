import { setImmediate } from 'node:timers/promises';
import { assert } from '../../core/assert.ts';
import type { Circuit } from '../circuit.ts';
import { MAX_READ_BITS } from '../shots.ts';
import { Coins } from './coins.ts';
import { type Component, componentsOf } from './components.ts';
import { claimedMinEntropyPerBit } from './entropy-claim.ts';
import type { CheckedNoise } from './noise.ts';
import { type ByteSource, RandomWords } from './randomness.ts';
import { coinProbability, OutcomeSampler } from './sampler.ts';
import { STATE_QUBITS_MAX } from './state-vector.ts';

/**
 * Work between two turns of the event loop, in nanoseconds as estimated below; about 5 ms. The weights are
 * rounded up from reads of 4 Mbit, timed in a loop on Node 22: 1.6 ns a bit of superposition-16, 95 ns a shot
 * of ghz-parity-8; the first use of an error history costs its state vector on top.
 */
const SLICE_NS = 5_000_000;
const COIN_NS = 4;
const DRAW_NS = 100;

/** The terminal measurement of a circuit under noise, any number of shots of it. */
export class Measurement {
  readonly width: number;
  /** H_submitter (SP 800-90B), see entropy-claim.ts. */
  readonly claimedMinEntropyPerBit: number;
  readonly #coins: Coins;
  readonly #samplers: readonly OutcomeSampler[];
  readonly #words: RandomWords;
  readonly #shotsPerSlice: number;

  constructor(circuit: Circuit, noise: CheckedNoise, source: ByteSource) {
    const components = componentsOf(circuit);
    assertSimulable(components);
    this.claimedMinEntropyPerBit = claimedMinEntropyPerBit(components, noise);
    this.width = noise.readout.length;
    this.#words = new RandomWords(source);
    // Channels of larger components are coins that always show 0; their outcomes are set on top.
    const heads = new Array<number>(this.width).fill(0);
    const samplers: OutcomeSampler[] = [];
    for (const component of components) {
      if (component.qubits === 1) heads[component.channels[0]] = coinProbability(component, noise);
      else samplers.push(new OutcomeSampler(component, noise, this.#words));
    }
    this.#coins = new Coins(heads);
    this.#samplers = samplers;
    const nsPerShot = this.width * COIN_NS + samplers.length * DRAW_NS;
    // Whole words of 32 shots: each slice then starts where the coins' pattern of channels starts.
    this.#shotsPerSlice = 32 * Math.max(1, Math.floor(SLICE_NS / nsPerShot / 32));
  }

  /**
   * Packed as RawRead says. Gives the event loop a turn between slices; an aborted signal rejects with its
   * reason.
   */
  async take(shots: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    signal.throwIfAborted();
    const bits = new Uint8Array(Math.ceil((shots * this.width) / 8));
    for (let shot = 0; shot < shots; shot += this.#shotsPerSlice) {
      if (shot > 0) {
        await setImmediate();
        signal.throwIfAborted();
      }
      this.#measure(bits, shot, Math.min(this.#shotsPerSlice, shots - shot));
    }
    return bits;
  }

  #measure(bits: Uint8Array, firstShot: number, shots: number): void {
    this.#coins.fill(bits, (firstShot * this.width) / 8, shots, this.#words);
    for (const sampler of this.#samplers) {
      for (let shot = firstShot; shot < firstShot + shots; shot++) {
        const outcome = sampler.draw();
        sampler.channels.forEach((channel, position) => {
          const at = shot * this.width + channel;
          bits[at >>> 3] |= ((outcome >>> position) & 1) << (7 - (at & 7));
        });
      }
    }
    this.#words.eraseUsed();
  }
}

function assertSimulable(components: readonly Component[]): void {
  for (const { qubits } of components) {
    assert(qubits <= STATE_QUBITS_MAX, `the circuit's gates join more than ${STATE_QUBITS_MAX} qubits`);
  }
}

assert(MAX_READ_BITS <= 2 ** 31, 'bit positions of a read are exact in 32-bit shifts');
