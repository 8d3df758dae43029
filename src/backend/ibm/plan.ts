import { assert } from '../../core/assert.ts';
import type { JobPlan } from '../job.ts';

export interface Plan extends JobPlan {
  readonly isSimulator: boolean;
  readonly deviceQubits: number;
  readonly isPrivate: boolean;
  readonly plannedAtMs: number;
}

/** The gate of IBM's processors that the program is made of. */
export const BASIS_GATE = 'sx';

/**
 * The circuit of circuit.ts as the processor runs it. H is Rz(π/2) √X Rz(π/2), and on |0> and before a measurement the
 * turns about Z do nothing, so that H is one sx.
 *
 * OpenQASM 3 on physical qubits (`$n`, specification 3.0, Physical Qubits), one statement a line: nothing is
 * left to a transpiler. The leading barrier names every qubit of the device, so that whoever builds the
 * circuit from the text gives it the device's width; the last has all qubits measured at once.
 */
export function programOf({ qubits, deviceQubits }: Pick<Plan, 'qubits' | 'deviceQubits'>): string {
  assert(new Set(qubits).size === qubits.length, 'each channel has a qubit of its own');
  assert(Math.max(...qubits) < deviceQubits, 'the device has each qubit');
  const named = (physical: readonly number[]) => physical.map((qubit) => `$${qubit}`).join(', ');
  const all = Array.from({ length: deviceQubits }, (_, qubit) => qubit);
  return [
    'OPENQASM 3.0;',
    'include "stdgates.inc";',
    `bit[${qubits.length}] c;`,
    `barrier ${named(all)};`,
    ...qubits.map((qubit) => `${BASIS_GATE} $${qubit};`),
    `barrier ${named(qubits)};`,
    ...qubits.map((qubit, channel) => `c[${channel}] = measure $${qubit};`),
    '',
  ].join('\n');
}
