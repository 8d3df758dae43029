import type { Circuit, NativeGate } from '../circuits.ts';

/** What a device takes, of its published capabilities. */
export interface ProgramRules {
  /** Null for a simulator: virtual qubits, no verbatim boxes. */
  readonly nativeGates: readonly string[] | null;
  /** Physical qubits that exist. */
  readonly qubits: readonly number[];
}

/** Reads the programs that Braket would take of the backend, and refuses the rest in the words of a validation error. */
export function parseProgram(source: string, rules: ProgramRules): Circuit {
  const lines = source.trimEnd().split('\n');
  const expected = rules.nativeGates === null ? /^qubit\[\d+\] q;$/ : /^#pragma braket verbatim$/;
  if (lines[0] !== 'OPENQASM 3.0;' || !/^bit\[\d+\] b;$/.test(lines[1]) || !expected.test(lines[2])) {
    throw new Error(`Unsupported header: ${lines.slice(0, 3).join(' ')}`);
  }
  const body = lines.slice(3).filter((line) => line !== 'box{' && line !== '}');
  const gates: NativeGate[] = [];
  const measured: number[] = [];
  const qubitOf = (text: string): number => {
    const match = /^(?:\$(\d+)|q\[(\d+)\])$/.exec(text);
    const isPhysical = rules.nativeGates !== null;
    const found = match?.[isPhysical ? 1 : 2];
    if (found === undefined || !rules.qubits.includes(Number(found)))
      throw new Error(`No such qubit: ${text}`);
    return Number(found);
  };
  for (const line of body) {
    const measurement = /^b\[(\d+)\] = measure (\S+);$/.exec(line);
    if (measurement !== null) {
      if (Number(measurement[1]) !== measured.length) throw new Error('Bits are measured in order');
      measured.push(qubitOf(measurement[2]));
      continue;
    }
    const call = /^([a-z0-9]+)(?:\(([^)]*)\))? (\S+);$/.exec(line);
    if (call === null) throw new Error(`Cannot parse: ${line}`);
    const [, name, parameters = '', qubit] = call;
    if (!(rules.nativeGates ?? ['h']).includes(name)) throw new Error(`${name} is not a native gate`);
    const angles = parameters === '' ? [] : parameters.split(', ').map(Number);
    gates.push({ name, angles, qubit: qubitOf(qubit) });
  }
  if (Number(/\d+/.exec(lines[1])![0]) !== measured.length) throw new Error('Every bit is measured');
  return { gates, measured };
}
