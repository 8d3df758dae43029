import type { Circuit, NativeGate } from '../circuits.ts';

/** The programs that a processor accepts. */
export interface Target {
  readonly gates: readonly string[];
  /** The qubits that exist. */
  readonly qubits: readonly number[];
  /** False for a simulator, whose qubits are virtual. */
  readonly isPhysical: boolean;
}

/** Lines that say nothing of a qubit: what the program is, its registers, and what keeps a compiler from changing it. */
const FRAME =
  /^(OPENQASM 3\.0;|include "stdgates\.inc";|(qu)?bit\[\d+\] \w;|barrier \$.*;|#pragma braket verbatim|box\{|\}|)$/;

/** Reads the OpenQASM 3 that the backends write, and no more of the language. Throws for what the target does not run. */
export function readProgram(text: string, { gates: known, qubits, isPhysical }: Target): Circuit {
  const gates: NativeGate[] = [];
  const measured: number[] = [];
  const qubitOf = (named: string): number => {
    const [, qubit] = (isPhysical ? /^\$(\d+)$/ : /^q\[(\d+)\]$/).exec(named) ?? [];
    if (qubit === undefined || !qubits.includes(Number(qubit))) throw new Error(`no such qubit: ${named}`);
    return Number(qubit);
  };
  for (const line of text.split('\n').filter((each) => !FRAME.test(each))) {
    const [, bit, from] = /^[bc]\[(\d+)\] = measure (\S+);$/.exec(line) ?? [];
    if (bit !== undefined) {
      if (Number(bit) !== measured.length) throw new Error('bits are measured in order');
      measured.push(qubitOf(from));
      continue;
    }
    const [, name, angles = '', on] = /^([a-z]\w*)(?:\(([^)]*)\))? (\S+);$/.exec(line) ?? [];
    if (name === undefined || !known.includes(name)) throw new Error(`not supported: ${line}`);
    if (measured.length > 0) throw new Error('a gate after a measurement');
    gates.push({ name, angles: angles === '' ? [] : angles.split(', ').map(Number), qubit: qubitOf(on) });
  }
  const [, width] = /^bit\[(\d+)\] [bc];$/m.exec(text) ?? [];
  if (Number(width) !== measured.length) throw new Error('every bit is measured');
  return { gates, measured };
}
