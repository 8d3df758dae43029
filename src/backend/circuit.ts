import { hash } from 'node:crypto';
import { assert } from '../core/assert.ts';

/** `lang_version`: grows whenever the canonical text of an unchanged circuit, or that of its programs, would change. */
export const CIRCUIT_COMPILER_VERSION = '1.0.0';

/** The only circuit: a quarter turn and a measurement of each qubit, by itself. */
export interface Circuit {
  /** `lang_circuit`, e.g. `superposition-16`. */
  readonly name: string;
  /** OpenQASM 3, one statement a line, LF at each end. */
  readonly text: string;
  /** SHA-256 (hex) of the text. */
  readonly sha256: string;
}

/** Layers of operations, measurement included: the depth that Qiskit's `depth()` reports. */
export const CIRCUIT_DEPTH = 2;

/** H on each of `qubits` qubits, all measured in the Z basis: every bit is an ideal coin. Channel i is qubit i. */
export function superposition(qubits: number): Circuit {
  assert(Number.isInteger(qubits) && qubits >= 1 && qubits <= 1024, 'a circuit has 1 to 1,024 qubits');
  const each = Array.from({ length: qubits }, (_, qubit) => qubit);
  const text = [
    'OPENQASM 3.0;',
    'include "stdgates.inc";',
    `qubit[${qubits}] q;`,
    `bit[${qubits}] c;`,
    ...each.map((qubit) => `h q[${qubit}];`),
    ...each.map((qubit) => `c[${qubit}] = measure q[${qubit}];`),
    '',
  ].join('\n');
  return { name: circuitName(qubits), text, sha256: hash('sha256', text, 'hex') };
}

export function circuitName(qubits: number): string {
  return `superposition-${qubits}`;
}

/** Of these qubits the `count` that lose the least, in ascending order. */
export function bestQubits(
  qubits: readonly number[],
  count: number,
  lossOf: (qubit: number) => number,
): number[] {
  return qubits
    .toSorted((a, b) => lossOf(a) - lossOf(b) || a - b)
    .slice(0, count)
    .sort((a, b) => a - b);
}
