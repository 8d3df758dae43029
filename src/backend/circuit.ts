import { hash } from 'node:crypto';
import { assert } from '../core/assert.ts';

/** `lang_version`: grows whenever the canonical text of an unchanged circuit would change. */
export const CIRCUIT_COMPILER_VERSION = '1.0.0';

/** One gate, named as in OpenQASM 3's stdgates.inc. `cx` takes control, then target; angles are radians. */
export type Gate =
  | { readonly gate: 'h' | 'x' | 'y' | 'z'; readonly qubits: readonly [number] }
  | { readonly gate: 'ry' | 'rz'; readonly qubits: readonly [number]; readonly angle: number }
  | { readonly gate: 'cx'; readonly qubits: readonly [number, number] };

/**
 * A circuit as data: every qubit starts in |0>, the gates run in order, measurement (Z basis) is terminal.
 */
export interface Circuit {
  readonly qubits: number;
  readonly gates: readonly Gate[];
  /** The qubits that are measured; the i-th gives channel i of every shot. */
  readonly measured: readonly number[];
}

/**
 * Layers of operations on the longest path, measurement included: the depth that Qiskit's `depth()` reports.
 */
export function circuitDepth({ qubits: count, gates, measured }: Wiring): number {
  const layerOf = new Uint32Array(count);
  for (const { qubits } of gates) {
    let layer = 0;
    for (const qubit of qubits) layer = Math.max(layer, layerOf[qubit]);
    for (const qubit of qubits) layerOf[qubit] = layer + 1;
  }
  for (const qubit of measured) layerOf[qubit]++;
  return layerOf.reduce((deepest, layer) => Math.max(deepest, layer), 0);
}

/** Of a circuit in whatever gates: what acts on what. */
interface Wiring extends Pick<Circuit, 'qubits' | 'measured'> {
  readonly gates: readonly { readonly qubits: readonly number[] }[];
}

/**
 * The canonical text: OpenQASM 3, one statement a line, LF at each end. Angles are the shortest decimals that
 * read back to the same double, so that equal circuits have equal texts.
 */
export function circuitText(circuit: Circuit): string {
  const lines = ['OPENQASM 3.0;', 'include "stdgates.inc";'];
  lines.push(`qubit[${circuit.qubits}] q;`, `bit[${circuit.measured.length}] c;`);
  for (const gate of circuit.gates) {
    // `+ 0` turns -0 into 0: one angle, one spelling.
    const angle = 'angle' in gate ? `(${gate.angle + 0})` : '';
    lines.push(`${gate.gate}${angle} ${gate.qubits.map((qubit) => `q[${qubit}]`).join(', ')};`);
  }
  circuit.measured.forEach((qubit, channel) => {
    lines.push(`c[${channel}] = measure q[${qubit}];`);
  });
  return `${lines.join('\n')}\n`;
}

/** SHA-256 (hex) of the canonical text. */
export function circuitSha256(circuit: Circuit): string {
  return hash('sha256', circuitText(circuit), 'hex');
}

/** A circuit that answers and certificates can name. */
export interface NamedCircuit {
  /** `lang_circuit`, e.g. `superposition-16`. */
  readonly name: string;
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
  return { name: `bell-chsh-${a}${b}`, circuit: { qubits: 2, gates, measured: [0, 1] } };
}
