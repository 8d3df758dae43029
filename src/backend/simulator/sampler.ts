import type { Component } from './components.ts';
import {
  applyReadout,
  type CheckedNoise,
  ErrorClock,
  NO_ERRORS,
  outcomeProbabilities,
  type PauliError,
} from './noise.ts';
import type { RandomWords } from './randomness.ts';

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
