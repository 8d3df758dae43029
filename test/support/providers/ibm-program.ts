import type { Circuit, NativeGate } from '../circuits.ts';

/** The processor that programs run on. */
export interface Target {
  readonly qubits: number;
  readonly basisGates: readonly string[];
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
 * Reads the OpenQASM 3 that the backend writes, and no more of the language, as strictly as IBM does: basis gates on its
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
  const gates: NativeGate[] = [];
  const measured: number[] = [];
  for (const line of lines.slice(4, -1)) {
    if (/^barrier \$\d+(, \$\d+)*;$/.test(line)) continue;
    const measurement = /^c\[(\d+)\] = measure \$(\d+);$/.exec(line);
    if (measurement === null) {
      if (measured.length > 0) throw notSupported('a gate after a measurement');
      gates.push(gateIn(line, target));
    } else {
      if (Number(measurement[1]) !== measured.length)
        throw new ProgramError(NOT_A_PROGRAM, 'bits out of order');
      measured.push(Number(measurement[2]));
    }
  }
  if (measured.length !== width || lines.at(-1) !== '')
    throw new ProgramError(NOT_A_PROGRAM, 'bits are missing');
  return { gates, measured };
}

function gateIn(line: string, { basisGates, qubits: width }: Target): NativeGate {
  const [, name, , angle, listed] = /^([a-z]\w*)(\((-?[\d.]+(?:e-?\d+)?)\))? \$(\d+);$/.exec(line) ?? [];
  if (name === undefined) throw new ProgramError(NOT_A_PROGRAM, `not understood: ${line}`);
  const qubit = Number(listed);
  if (!basisGates.includes(name) || qubit >= width) {
    throw notSupported(`the instruction ${name} on qubits (${qubit}) is not supported by the target system`);
  }
  return { name, angles: angle === undefined ? [] : [Number(angle)], qubit };
}

function notSupported(why: string): ProgramError {
  return new ProgramError(NOT_SUPPORTED, why);
}
