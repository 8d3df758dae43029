import { hash } from 'node:crypto';
import { assert } from '../core/assert.ts';

/** `lang_version`. Increase it whenever the text of an unchanged circuit, or of its programs, changes. */
export const CIRCUIT_COMPILER_VERSION = '1.0.0';

/** The only circuit: a quarter turn of each qubit and its measurement. No gate joins qubits. */
export interface Circuit {
  /** `lang_circuit`, e.g. `superposition-16`. */
  readonly name: string;
  /** OpenQASM 3, one statement a line, each line ended by LF. */
  readonly text: string;
  /** SHA-256 (hex) of the text. */
  readonly sha256: string;
}

/** Layers of operations, with the measurement, as Qiskit's `depth()` counts them. */
export const CIRCUIT_DEPTH = 2;

/** Returns H on each qubit and a measurement of all in the Z basis: every bit is ideally fair. Channel i is qubit i. */
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

/** Returns the `count` qubits with the least loss, in ascending order. */
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
