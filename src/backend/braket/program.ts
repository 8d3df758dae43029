import { hash } from 'node:crypto';
import type { NamedCircuit } from '../named-circuits.ts';
import type { Entangler, PulseCircuit } from '../pulse-circuit.ts';

/** `lang_version` of what this file writes: grows whenever the text of an unchanged circuit would change. */
export const BRAKET_PROGRAM_VERSION = '1.0.0';

/** How a machine spells the pulse: Rigetti rx and rz, IQM and AQT prx, IonQ gpi2. */
type PulseSpelling = 'prx' | 'gpi2' | 'rx-rz';

export interface NativeGates {
  readonly pulse: PulseSpelling;
  /** Null when the machine has none that this adapter writes. */
  readonly entangler: Entangler | null;
}

/**
 * OpenQASM 3 for a QPU: a verbatim box of native gates on physical qubits, which Braket runs as it stands. Channel i is
 * physical qubit `physical[i]`.
 */
export function verbatimSource(
  circuit: PulseCircuit,
  physical: readonly number[],
  natives: NativeGates,
): string {
  const lines = ['OPENQASM 3.0;', `bit[${circuit.qubits}] b;`, '#pragma braket verbatim', 'box{'];
  for (const operation of circuit.operations) {
    if (operation.kind === 'pulse') {
      const qubit = `$${physical[operation.qubit]}`;
      lines.push(...pulseLines(natives.pulse, operation.eighths, qubit));
    } else {
      const [a, b] = operation.qubits;
      lines.push(`${entanglerCall(natives.entangler)} $${physical[a]}, $${physical[b]};`);
    }
  }
  lines.push('}', ...physical.map((qubit, channel) => `b[${channel}] = measure $${qubit};`));
  return `${lines.join('\n')}\n`;
}

function pulseLines(spelling: PulseSpelling, eighths: number, qubit: string): string[] {
  const phase = radians(eighths);
  if (spelling === 'prx') return [`prx(${Math.PI / 2}, ${phase}) ${qubit};`];
  if (spelling === 'gpi2') return [`gpi2(${phase}) ${qubit};`];
  // rz(-π) rx(π/2) rz(π) is rx(-π/2), which these machines have as well.
  if (eighths === 4) return [`rx(${-Math.PI / 2}) ${qubit};`];
  const turn = `rx(${Math.PI / 2}) ${qubit};`;
  return eighths === 0 ? [turn] : [`rz(${radians(8 - eighths)}) ${qubit};`, turn, `rz(${phase}) ${qubit};`];
}

/** In -π to π. */
function radians(eighths: number): number {
  return ((eighths > 4 ? eighths - 8 : eighths) * Math.PI) / 4;
}

function entanglerCall(entangler: Entangler | null): string {
  switch (entangler) {
    case 'zz':
    case 'xx':
      return `${entangler}(${Math.PI / 2})`;
    case 'ms':
      return `ms(0, 0, ${Math.PI / 2})`;
    default:
      return String(entangler);
  }
}

/** OpenQASM 3 for a simulator: virtual qubits, and the gates h alone, without the include file that Braket does not take. */
export function simulatorSource({ circuit }: NamedCircuit): string {
  const lines = ['OPENQASM 3.0;', `bit[${circuit.measured.length}] b;`, `qubit[${circuit.qubits}] q;`];
  for (const { gate, qubits } of circuit.gates) {
    lines.push(`${gate} ${qubits.map((qubit) => `q[${qubit}]`).join(', ')};`);
  }
  lines.push(...circuit.measured.map((qubit, channel) => `b[${channel}] = measure q[${qubit}];`));
  return `${lines.join('\n')}\n`;
}

/** The `action` of CreateQuantumTask: one program, or a program set of several that share one task. */
export function actionOf(sources: readonly string[]): string {
  const programs = sources.map((source) => ({
    braketSchemaHeader: { name: 'braket.ir.openqasm.program', version: '1' },
    source,
    inputs: {},
  }));
  if (programs.length === 1) return JSON.stringify(programs[0]);
  return JSON.stringify({
    braketSchemaHeader: { name: 'braket.ir.openqasm.program_set', version: '1' },
    programs,
  });
}

/** SHA-256 (hex) of the programs, in the order in which they run. */
export function sourcesSha256(sources: readonly string[]): string {
  return hash('sha256', sources.join(''), 'hex');
}
