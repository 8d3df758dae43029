import { assert } from '../core/assert.ts';
import type { Circuit, Gate } from './circuit.ts';

/** A circuit that answers and certificates can name. */
export interface NamedCircuit {
  /** `lang_circuit`, e.g. `superposition-16`. */
  readonly name: string;
  /** Version of this definition: the same name and version always have the same canonical text. */
  readonly version: string;
  readonly circuit: Circuit;
}

const qubitsUpTo = (count: number) => Array.from({ length: count }, (_, qubit) => qubit);
const h = (qubit: number): Gate => ({ gate: 'h', qubits: [qubit] });
const cx = (control: number, target: number): Gate => ({ gate: 'cx', qubits: [control, target] });
const ry = (qubit: number, angle: number): Gate => ({ gate: 'ry', qubits: [qubit], angle });

function assertWidth(count: number): void {
  assert(Number.isInteger(count) && count >= 1 && count <= 1024, 'a named circuit has 1 to 1,024 qubits');
}

/** H on each of `qubits` qubits: every measured bit is an ideal coin. The circuit that makes entropy. */
export function superposition(qubits: number): NamedCircuit {
  assertWidth(qubits);
  const measured = qubitsUpTo(qubits);
  return {
    name: `superposition-${qubits}`,
    version: '1.0.0',
    circuit: { qubits, gates: measured.map(h), measured },
  };
}

/**
 * H twice on each qubit: the X-basis check of `superposition`. Ideally every bit is 0, so the rate of ones is
 * the error e_x of the source-independent bound H >= 1 - 2 log2(sqrt(e_x) + sqrt(1 - e_x)) (Vallone et al.,
 * arXiv:1401.7917). It makes no entropy.
 */
export function xCheck(qubits: number): NamedCircuit {
  assertWidth(qubits);
  const measured = qubitsUpTo(qubits);
  return {
    name: `x-check-${qubits}`,
    version: '1.0.0',
    circuit: { qubits, gates: [...measured.map(h), ...measured.map(h)], measured },
  };
}

/** The four pairs of measurement settings of a CHSH run, in the order of S = E00 + E01 + E10 - E11. */
export const CHSH_SETTINGS = [
  [0, 0],
  [0, 1],
  [1, 0],
  [1, 1],
] as const;
export type ChshSetting = (typeof CHSH_SETTINGS)[number];

const CHSH_ANGLES_A = [0, Math.PI / 2] as const;
const CHSH_ANGLES_B = [Math.PI / 4, -Math.PI / 4] as const;

/**
 * |Φ+> on two qubits, each turned into its measurement basis by Ry(-angle). E = P(equal) - P(different) is
 * cos(a - b), so S reaches 2 sqrt 2 (Clauser, Horne, Shimony, Holt 1969). On one chip this is a witness that
 * assumes no crosstalk, never device-independent evidence.
 */
export function bellChsh([a, b]: ChshSetting): NamedCircuit {
  const gates = [h(0), cx(0, 1), ry(0, -CHSH_ANGLES_A[a]), ry(1, -CHSH_ANGLES_B[b])];
  return { name: `bell-chsh-${a}${b}`, version: '1.0.0', circuit: { qubits: 2, gates, measured: [0, 1] } };
}

/**
 * GHZ on `qubits` qubits, measured in the X basis: X⊗…⊗X stabilises the state with +1, so ideally each shot
 * has an even number of ones. The rate of odd shots is the parity error.
 */
export function ghzParity(qubits: number): NamedCircuit {
  assertWidth(qubits);
  assert(qubits >= 2, 'a GHZ state has at least two qubits');
  const measured = qubitsUpTo(qubits);
  const chain = measured.slice(1).map((qubit) => cx(qubit - 1, qubit));
  return {
    name: `ghz-parity-${qubits}`,
    version: '1.0.0',
    circuit: { qubits, gates: [h(0), ...chain, ...measured.map(h)], measured },
  };
}
