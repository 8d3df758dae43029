import { assert } from '../../core/assert.ts';
import type { Circuit, Gate } from '../circuit.ts';
import type { RandomWords } from './coins.ts';
import { StateVector } from './state-vector.ts';

/**
 * A part of a circuit that no gate joins to the rest: its state factors out of the whole. Gates and qubits
 * are renumbered from 0. H on 156 qubits is 156 components of one qubit, which cost nothing.
 */
export interface Component {
  readonly qubits: number;
  readonly gates: readonly Gate[];
  /** The measured qubits (renumbered) and, beside each, the channel of the shot that it gives. */
  readonly measured: readonly number[];
  readonly channels: readonly number[];
}

/** The connected components of a circuit that are measured, in the order of their lowest qubit. */
export function componentsOf(circuit: Circuit): Component[] {
  const rootOf = connectedRoots(circuit);
  const members = Map.groupBy(rootOf.keys(), (qubit) => rootOf[qubit]);
  const gatesOf = Map.groupBy(circuit.gates, ({ qubits: [qubit] }) => rootOf[qubit]);
  const channelOf = new Map(circuit.measured.map((qubit, channel) => [qubit, channel]));

  const components: Component[] = [];
  for (const [root, qubits] of members) {
    const localOf = new Map(qubits.map((qubit, local) => [qubit, local]));
    const measured = qubits.filter((qubit) => channelOf.has(qubit));
    if (measured.length === 0) continue;
    components.push({
      qubits: qubits.length,
      gates: (gatesOf.get(root) ?? []).map((gate) => renumbered(gate, localOf)),
      measured: measured.map((qubit) => localOf.get(qubit)!),
      channels: measured.map((qubit) => channelOf.get(qubit)!),
    });
  }
  return components;
}

function renumbered(gate: Gate, localOf: ReadonlyMap<number, number>): Gate {
  const first = localOf.get(gate.qubits[0])!;
  if (gate.gate === 'cx') return { ...gate, qubits: [first, localOf.get(gate.qubits[1])!] };
  return { ...gate, qubits: [first] };
}

/** Union-find over the two-qubit gates, then every qubit's root. */
function connectedRoots(circuit: Circuit): number[] {
  const parent = Array.from({ length: circuit.qubits }, (_, qubit) => qubit);
  const find = (qubit: number): number => {
    while (parent[qubit] !== qubit) qubit = parent[qubit] = parent[parent[qubit]];
    return qubit;
  };
  for (const { qubits } of circuit.gates) {
    if (qubits.length === 2) parent[find(qubits[1])] = find(qubits[0]);
  }
  return parent.map((_, qubit) => find(qubit));
}

/** Readout error of one channel: e01 = P(reads 1 | state 0), e10 = P(reads 0 | state 1). */
export interface ReadoutError {
  readonly e01: number;
  readonly e10: number;
}

export interface Noise {
  /** One for all channels, or one for each. */
  readonly readout: ReadoutError | readonly ReadoutError[];
  /**
   * A coherent tilt of every qubit's start state, such that H and a perfect measurement give 1 with
   * probability 1/2 + bias. |bias| <= 1/2.
   */
  readonly bias: number;
  /**
   * Probability that a gate is followed by an error: one of the 3 (one qubit) or 15 (two qubits) Paulis other
   * than the identity on its qubits, each equally likely (Stim's DEPOLARIZE1 and DEPOLARIZE2).
   */
  readonly depolarizing: number;
}

/** What is checked once, and read by channel from then on. */
export interface CheckedNoise {
  readonly readout: readonly ReadoutError[];
  readonly bias: number;
  readonly depolarizing: number;
}

export function checkedNoise(noise: Noise, width: number): CheckedNoise {
  const isProbability = (value: number) => value >= 0 && value <= 1;
  const readout = isReadoutList(noise.readout) ? noise.readout : new Array(width).fill(noise.readout);
  assert(readout.length === width, 'readout errors: one for all channels or one for each');
  for (const { e01, e10 } of readout) {
    assert(
      isProbability(e01) && isProbability(e10) && e01 + e10 <= 1,
      'e01, e10 and their sum are probabilities',
    );
  }
  assert(Math.abs(noise.bias) <= 0.5, 'bias is within ±1/2');
  assert(isProbability(noise.depolarizing), 'depolarizing is a probability');
  return { readout, bias: noise.bias, depolarizing: noise.depolarizing };
}

function isReadoutList(readout: Noise['readout']): readout is readonly ReadoutError[] {
  return Array.isArray(readout);
}

/**
 * An error after gate `gate`: a Pauli per qubit of the gate as two bits (0 I, 1 X, 2 Y, 3 Z), first qubit
 * lowest.
 */
export interface PauliError {
  readonly gate: number;
  readonly pauli: number;
}

const PAULIS = ['x', 'y', 'z'] as const;

/** Outcome probabilities of a component's measured qubits, before readout, when exactly `errors` happen. */
export function outcomeProbabilities(
  component: Component,
  bias: number,
  errors: readonly PauliError[] = [],
): Float64Array<ArrayBuffer> {
  const state = new StateVector(component.qubits);
  if (bias !== 0) {
    // H Ry(θ)|0> gives 1 with probability (1 - sin θ) / 2, so θ = -asin(2 bias).
    const angle = -Math.asin(2 * bias);
    for (let qubit = 0; qubit < component.qubits; qubit++)
      state.apply({ gate: 'ry', qubits: [qubit], angle });
  }
  let next = 0;
  component.gates.forEach((gate, index) => {
    state.apply(gate);
    if (next < errors.length && errors[next].gate === index) applyPauli(state, gate, errors[next++].pauli);
  });
  assert(Math.abs(state.norm() - 1) < 1e-9, 'gates are unitary: the norm of the state is 1');
  return state.probabilities(component.measured);
}

function applyPauli(state: StateVector, gate: Gate, pauli: number): void {
  gate.qubits.forEach((qubit, position) => {
    const which = (pauli >>> (2 * position)) & 3;
    if (which !== 0) state.apply({ gate: PAULIS[which - 1], qubits: [qubit] });
  });
}

/**
 * Sends outcome probabilities through the readout errors: one 2×2 confusion matrix per measured qubit, in
 * place. Sampling the result is the same as sampling first and flipping bits afterwards.
 */
export function applyReadout(probabilities: Float64Array, errors: readonly ReadoutError[]): void {
  errors.forEach(({ e01, e10 }, position) => {
    const stride = 1 << position;
    for (let zero = 0; zero < probabilities.length; zero++) {
      if ((zero & stride) !== 0) continue;
      const p0 = probabilities[zero];
      const p1 = probabilities[zero | stride];
      probabilities[zero] = p0 * (1 - e01) + p1 * e10;
      probabilities[zero | stride] = p0 * e01 + p1 * (1 - e10);
    }
  });
}

/**
 * When errors strike, over an endless run of shots: the gaps between errors are geometric, so a shot without
 * an error costs one comparison, however many gates it has.
 */
export class ErrorClock {
  readonly #gates: readonly Gate[];
  readonly #logKept: number;
  readonly #words: RandomWords;
  /** Gates that still run without an error. */
  #gap: number;

  constructor(gates: readonly Gate[], probability: number, words: RandomWords) {
    this.#gates = gates;
    this.#logKept = Math.log1p(-probability);
    this.#words = words;
    this.#gap = this.#drawGap();
  }

  /** The errors of the next shot, in the order of their gates. */
  nextShot(): readonly PauliError[] {
    if (this.#gap >= this.#gates.length) {
      this.#gap -= this.#gates.length;
      return NO_ERRORS;
    }
    const errors: PauliError[] = [];
    let gate = this.#gap;
    while (gate < this.#gates.length) {
      const kinds = this.#gates[gate].qubits.length === 2 ? 15 : 3;
      errors.push({ gate, pauli: 1 + this.#words.below(kinds) });
      gate += 1 + this.#drawGap();
    }
    this.#gap = gate - this.#gates.length;
    return errors;
  }

  /** P(gap >= k) = (1 - p)^k: the inverse of the distribution at 1 - u, which lies in (0, 1]. */
  #drawGap(): number {
    return Math.floor(Math.log(1 - this.#words.uniform()) / this.#logKept);
  }
}

export const NO_ERRORS: readonly PauliError[] = Object.freeze([]);

/**
 * Min-entropy per raw bit that the simulated device may claim (H_submitter), against somebody who knows the
 * noise: for every shot which gates failed and which readouts were replaced.
 *
 * A readout with errors (e01, e10) is a perfect one with probability 1 - f, f = e01 + e10, and a fixed answer
 * otherwise. Let pMax be the likeliest outcome of k noiseless measured qubits. Where a set F of readouts is
 * fixed, the rest is guessed with at most 2^|F| pMax (a marginal sums 2^|F| outcomes), so all are guessed
 * with at most pMax · Π(1 + f_i). With probability 1 - (1 - p)^gates some gate failed, which is counted as
 * known:
 *
 *   guess <= (1 - p)^gates · min(1, pMax · Π(1 + f_i)) + 1 - (1 - p)^gates,   H = -log2(guess) / k.
 *
 * For one ideal H and one readout this is exactly 1 - log2(1 + e01 + e10). It is never above the entropy of
 * the bias that is seen from outside, in which e01 and e10 may cancel. The claim is the worst component's.
 */
export function claimedMinEntropyPerBit(components: readonly Component[], noise: CheckedNoise): number {
  let claim = 1;
  for (const component of components) {
    const guess = guessingProbability(component, noise);
    claim = Math.min(claim, -Math.log2(guess) / component.measured.length);
  }
  return Math.max(0, claim);
}

function guessingProbability(component: Component, noise: CheckedNoise): number {
  let guess = outcomeProbabilities(component, noise.bias).reduce((most, p) => Math.max(most, p), 0);
  for (const channel of component.channels) {
    const { e01, e10 } = noise.readout[channel];
    guess *= 1 + e01 + e10;
  }
  const allGatesWork = (1 - noise.depolarizing) ** component.gates.length;
  return allGatesWork * Math.min(1, guess) + (1 - allGatesWork);
}
