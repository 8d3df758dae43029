import type { Circuit, Gate } from '../../../src/backend/circuit.ts';
import { plainGates } from '../circuits.ts';

/** The processor that programs run on. */
export interface Target {
  readonly qubits: number;
  readonly basisGates: readonly string[];
  /** Both directions of each pair. */
  readonly couplingMap: readonly (readonly number[])[];
}

/** Why IBM fails a job before it runs. */
export class ProgramError extends Error {
  override name = 'ProgramError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const NOT_SUPPORTED = 1517;
const NOT_A_PROGRAM = 1603;

/**
 * Reads the OpenQASM 3 that the backend writes, and no more of the language, as strictly as IBM does: basis gates on coupled
 * qubits, a first statement that gives the circuit the width of the device, each bit measured once. Throws a ProgramError.
 */
export function readProgram(text: string, target: Target): Circuit {
  const lines = text.split('\n');
  const head = ['OPENQASM 3.0;', 'include "stdgates.inc";'];
  head.forEach((line, at) => {
    if (lines[at] !== line) throw new ProgramError(NOT_A_PROGRAM, `line ${at + 1}: ${line} expected`);
  });
  const width = Number(/^bit\[(\d+)\] c;$/.exec(lines[2])?.[1]);
  if (!(width >= 1)) throw new ProgramError(NOT_A_PROGRAM, 'line 3: a register expected');
  const everything = Array.from({ length: target.qubits }, (_, qubit) => `$${qubit}`).join(', ');
  if (lines[3] !== `barrier ${everything};`)
    throw notSupported('the circuit has not the width of the device');
  const gates: Gate[] = [];
  const measured: number[] = [];
  for (const line of lines.slice(4, -1)) {
    if (/^barrier \$\d+(, \$\d+)*;$/.test(line)) continue;
    const measurement = /^c\[(\d+)\] = measure \$(\d+);$/.exec(line);
    if (measurement === null) {
      if (measured.length > 0) throw notSupported('a gate after a measurement');
      gates.push(...gatesIn(line, target));
    } else {
      if (Number(measurement[1]) !== measured.length)
        throw new ProgramError(NOT_A_PROGRAM, 'bits out of order');
      measured.push(Number(measurement[2]));
    }
  }
  if (measured.length !== width || lines.at(-1) !== '')
    throw new ProgramError(NOT_A_PROGRAM, 'bits are missing');
  return { qubits: target.qubits, gates, measured };
}

function gatesIn(line: string, { basisGates, couplingMap, qubits: width }: Target): Gate[] {
  const [, gate, , angle, list] =
    /^([a-z]\w*)(\((-?[\d.]+(?:e-?\d+)?)\))? (\$\d+(?:, \$\d+)*);$/.exec(line) ?? [];
  if (gate === undefined) throw new ProgramError(NOT_A_PROGRAM, `not understood: ${line}`);
  const qubits = list.split(', ').map((name) => Number(name.slice(1)));
  const isOnDevice = qubits.every((qubit) => qubit < width);
  const isCoupled = qubits.length !== 2 || couplingMap.some(([a, b]) => a === qubits[0] && b === qubits[1]);
  if (!basisGates.includes(gate) || !isOnDevice || !isCoupled) {
    throw notSupported(
      `the instruction ${gate} on qubits (${qubits.join(', ')}) is not supported by the target system`,
    );
  }
  const known = { sx: 1, x: 1, rz: 1, cz: 2 }[gate];
  if (known !== qubits.length) throw new ProgramError(NOT_A_PROGRAM, `not understood: ${line}`);
  return plainGates(gate, angle === undefined ? [] : [Number(angle)], qubits);
}

function notSupported(why: string): ProgramError {
  return new ProgramError(NOT_SUPPORTED, why);
}
