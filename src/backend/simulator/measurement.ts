import { setImmediate } from 'node:timers/promises';
import { assert } from '../../core/assert.ts';
import { MAX_READ_BITS } from '../backend.ts';
import type { Circuit } from '../circuit.ts';
import { type ByteSource, Coins, RandomWords } from './coins.ts';
import {
  applyReadout,
  type CheckedNoise,
  type Component,
  claimedMinEntropyPerBit,
  componentsOf,
  ErrorClock,
  NO_ERRORS,
  outcomeProbabilities,
  type PauliError,
} from './noise.ts';
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

/** Doubles that the tables of one component's error histories may hold together: 8 MiB. */
const TABLE_DOUBLES_MAX = 2 ** 20;

/** P(1) of a component of one qubit, with all its noise: such components are tossed in bulk as coins. */
export function coinProbability(component: Component, noise: CheckedNoise): number {
  const [, ideal] = outcomeProbabilities(component, noise.bias);
  // A depolarising step commutes with every one-qubit gate and shrinks the Bloch vector by 1 - 4p/3 (of X, Y
  // and Z, two flip any one axis), so all of them act on P(1) - 1/2 at the end.
  const kept = (1 - (4 / 3) * noise.depolarizing) ** component.gates.length;
  const p1 = Math.min(1, Math.max(0, 0.5 + kept * (ideal - 0.5)));
  const { e01, e10 } = noise.readout[component.channels[0]];
  return (1 - p1) * e01 + p1 * (1 - e10);
}

/** Draws whole outcomes of a component of several qubits. Shots with the same errors share one table. */
export class OutcomeSampler {
  /** The channels that bit 0, 1, … of an outcome belong to. */
  readonly channels: readonly number[];
  readonly #component: Component;
  readonly #noise: CheckedNoise;
  readonly #words: RandomWords;
  readonly #errors: ErrorClock | undefined;
  readonly #noiseless: Float64Array;
  readonly #tables = new Map<string, Float64Array>();
  readonly #tablesMax: number;

  constructor(component: Component, noise: CheckedNoise, words: RandomWords) {
    this.channels = component.channels;
    this.#component = component;
    this.#noise = noise;
    this.#words = words;
    if (noise.depolarizing > 0 && component.gates.length > 0) {
      this.#errors = new ErrorClock(component.gates, noise.depolarizing, words);
    }
    this.#noiseless = this.#tableFor(NO_ERRORS);
    this.#tablesMax = Math.max(1, Math.floor(TABLE_DOUBLES_MAX / this.#noiseless.length));
  }

  /** The outcome of the next shot: bit i is what channels[i] reads. */
  draw(): number {
    const errors = this.#errors === undefined ? NO_ERRORS : this.#errors.nextShot();
    return search(errors.length === 0 ? this.#noiseless : this.#sharedTable(errors), this.#words.uniform());
  }

  #sharedTable(errors: readonly PauliError[]): Float64Array {
    const key = errors.map(({ gate, pauli }) => `${gate}:${pauli}`).join();
    let table = this.#tables.get(key);
    if (table === undefined) {
      table = this.#tableFor(errors);
      if (this.#tables.size >= this.#tablesMax) this.#tables.clear();
      this.#tables.set(key, table);
    }
    return table;
  }

  #tableFor(errors: readonly PauliError[]): Float64Array {
    const probabilities = outcomeProbabilities(this.#component, this.#noise.bias, errors);
    applyReadout(
      probabilities,
      this.#component.channels.map((channel) => this.#noise.readout[channel]),
    );
    return cumulative(probabilities);
  }
}

/**
 * Turns probabilities into their running sum, in place, which reaches exactly 1 at the last possible outcome.
 */
function cumulative(probabilities: Float64Array): Float64Array {
  let lastPossible = 0;
  let sum = 0;
  for (let outcome = 0; outcome < probabilities.length; outcome++) {
    if (probabilities[outcome] > 0) lastPossible = outcome;
    sum += probabilities[outcome];
    probabilities[outcome] = sum;
  }
  return probabilities.fill(1, lastPossible);
}

/** The first outcome whose running sum is above u: never one of probability 0, since u < 1. */
function search(table: Float64Array, u: number): number {
  let low = 0;
  let high = table.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (table[middle] > u) high = middle;
    else low = middle + 1;
  }
  return low;
}
