import { hash } from 'node:crypto';
import { circuitOf, type Part } from '../measured-parts.ts';
import type { PulseCircuit } from '../pulse-circuit.ts';

/** `lang_version` of what this file writes: grows whenever the text of an unchanged circuit would change. */
export const IONQ_PROGRAM_VERSION = '1.0.0';

/** The metadata of a job that holds its idempotency key: the API has no other place for one. */
export const KEY_METADATA = 'qrn_key';

export interface Program {
  readonly qubits: number;
  readonly parts: readonly Part[];
  readonly entangler: 'ms' | 'zz' | null;
}

/** The name of a part's circuit, by which its result is known again. */
export function partName(index: number): string {
  return `part-${String(index).padStart(2, '0')}`;
}

/** `input` of a job: native gates, which run as they are written; all qubits are measured at the end. */
function inputOf({ qubits, parts, entangler }: Program) {
  const circuits = parts.map((part) => nativeGates(circuitOf(part, qubits, entangler), entangler));
  if (circuits.length === 1) return { gateset: 'native', qubits, circuit: circuits[0] } as const;
  const named = circuits.map((circuit, index) => ({ name: partName(index), circuit }));
  return { gateset: 'native', qubits, circuits: named } as const;
}

/** IonQ counts angles in turns. ms takes a phase for each ion; its angle of 1/4 entangles fully, as that of zz. */
function nativeGates({ operations }: PulseCircuit, entangler: 'ms' | 'zz' | null) {
  return operations.map((operation) => {
    if (operation.kind === 'pulse') {
      return { gate: 'gpi2', target: operation.qubit, phase: operation.eighths / 8 };
    }
    const { qubits: targets } = operation;
    return entangler === 'ms'
      ? { gate: 'ms', targets, phases: [0, 0], angle: 0.25 }
      : { gate: 'zz', targets, angle: 0.25 };
  });
}

/**
 * The body of POST /jobs. Debiasing is off: it spreads the shots over variants of the circuit and gives back what it made of
 * them.
 */
export function jobBody(program: Program, backend: string, shots: number, idempotencyKey: string): string {
  return JSON.stringify({
    type: program.parts.length === 1 ? 'ionq.circuit.v1' : 'ionq.multi-circuit.v1',
    name: 'qrn',
    backend,
    shots,
    metadata: { [KEY_METADATA]: idempotencyKey },
    settings: { error_mitigation: { debiasing: false } },
    input: inputOf(program),
  });
}

/** SHA-256 (hex) of `input` as it is sent. */
export function inputSha256(program: Program): string {
  return hash('sha256', JSON.stringify(inputOf(program)), 'hex');
}
