import { assert } from '../../core/assert.ts';
import type { JobPlan } from '../job.ts';

export interface Plan extends JobPlan {
  readonly isSimulator: boolean;
  readonly deviceQubits: number;
  readonly isPrivate: boolean;
  readonly plannedAtMs: number;
}

/** The only gate in the program, a native gate of IBM's processors. */
export const BASIS_GATE = 'sx';

/**
 * Returns the circuit of circuit.ts as the processor runs it. H is Rz(π/2) √X Rz(π/2). On |0> and before a measurement
 * the turns about Z have no effect, so H is one sx.
 *
 * The program is OpenQASM 3 on physical qubits (`$n`, specification 3.0, Physical Qubits), one statement a line, so
 * that nothing is left to a transpiler. The first barrier names every qubit of the device, so that a circuit built from
 * the text has the device's width. The second one has all qubits measured at the same time.
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
