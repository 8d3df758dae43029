import { hash } from 'node:crypto';
import { BackendError, type Provenance } from '../backend.ts';
import { circuitDepth, type NamedCircuit, superposition } from '../circuit.ts';
import type { JobPlan } from '../job.ts';
import {
  circuitOf,
  type Entangler,
  type Part,
  type PartPlan,
  type PulseCircuit,
  partCounts,
  partsOf,
  pulseDepth,
  shotsOfPart,
} from '../parts.ts';
import { bestPairs, bestQubits, type ChosenQubits, type Device } from './device.ts';
import { type BraketOptions, claimOf } from './options.ts';

/** Everything that a task was made of: with it, a repeated submission is the same to the last byte. JSON. */
export interface TaskPlan extends JobPlan {
  /** ARN of the device. */
  readonly device: string;
  /** Null on a simulator. */
  readonly natives: NativeGates | null;
  /** By channel: the physical qubit, or its place in a simulator's register. */
  readonly qubits: readonly number[];
  readonly parts: readonly Part[];
  readonly shotsOfPart: number;
  /** What the device asks for between polls, in milliseconds. */
  readonly pollMs: number | null;
  readonly calibration: Provenance['calibration'];
}

/**
 * Plans the task for at least `bits` bits on the device as it is now. Rejects what the device would not run,
 * or charge more for.
 */
export function planTask(
  device: Device,
  options: BraketOptions,
  price: number,
  bits: number,
  idempotencyKey: string,
): TaskPlan {
  const { circuit, qubits } = options;
  const perPart = shotsOfPart(circuit, bits, qubits);
  checkDevice(device, options.device.isSimulator, price);
  checkShots(device, circuit, perPart);
  const chosen = chosenQubits(device, options);
  return {
    device: device.arn,
    claim: claimOf(options),
    circuit,
    natives: device.isSimulator ? null : device.natives,
    qubits: chosen.physical,
    parts: partsOf(circuit, idempotencyKey),
    shotsOfPart: perPart,
    pollMs: device.pollMs,
    calibration: chosen.calibration,
  };
}

function checkDevice(device: Device, isSimulator: boolean, price: number): void {
  if (device.status === 'RETIRED') throw unfit(device, 'is retired');
  // The origin of every bit follows from this: what the ARN says must be what the service says.
  if (device.isSimulator !== isSimulator) {
    throw unfit(device, `is a ${device.isSimulator ? 'simulator' : 'QPU'}, which its ARN does not say`);
  }
  if (!device.isSimulator && device.natives === null) {
    throw unfit(device, 'has no native gates that this service writes');
  }
  if (device.pricePerShot !== null && device.pricePerShot > price) {
    throw unfit(device, `costs ${device.pricePerShot} USD a shot, price_per_shot is ${price}`);
  }
}

function checkShots(device: Device, circuit: PartPlan, perPart: number): void {
  const { all } = partCounts(circuit);
  if (perPart < device.shotsMin || perPart > device.shotsMax) {
    const bounds = `${device.shotsMin} to ${device.shotsMax}`;
    throw unfit(device, `takes ${bounds} shots of a program, ${perPart} are asked`);
  }
  if (all === 1) return;
  if (device.programSet === null) throw unfit(device, `takes one program a task; ${circuit} has ${all}`);
  if (all > device.programSet.programsMax || all * perPart > device.programSet.shotsMax) {
    const { programsMax, shotsMax } = device.programSet;
    throw unfit(device, `takes ${programsMax} programs and ${shotsMax} shots a task`);
  }
}

function chosenQubits(device: Device, options: BraketOptions): ChosenQubits {
  const { circuit, qubits: count, min_readout_fidelity: fidelityMin } = options;
  if (device.isSimulator) {
    if (count > device.qubitCount) throw unfit(device, `has ${device.qubitCount} qubits, ${count} are asked`);
    return { physical: [...new Array(count).keys()], calibration: null };
  }
  if (circuit !== 'bell-chsh') return bestQubits(device, count, fidelityMin);
  if (device.natives?.entangler == null)
    throw unfit(device, 'has no entangling gate that this service writes');
  return bestPairs(device, count, fidelityMin);
}

function unfit({ provider, name }: Device, what: string): BackendError {
  return new BackendError('permanent', `${provider} ${name} ${what}`);
}

/** The program of each part, in order. */
export function sourcesOf({ natives, qubits, parts }: TaskPlan): string[] {
  const written = new Map<Part, string>();
  return parts.map((part) => {
    const known = written.get(part);
    if (known !== undefined) return known;
    const source =
      natives === null
        ? simulatorProgram(superposition(qubits.length))
        : verbatimSource(circuitOf(part, qubits.length, natives.entangler), qubits, natives);
    written.set(part, source);
    return source;
  });
}

/** Depth of the circuit that makes bits. */
export function depthOf({ natives, qubits, parts }: TaskPlan): number {
  if (natives === null) return circuitDepth(superposition(qubits.length).circuit);
  const part = parts.find((each) => each !== 'x-test') ?? 'bits';
  return pulseDepth(circuitOf(part, qubits.length, natives.entangler));
}

/** `lang_version` of what this file writes: grows whenever the text of an unchanged circuit would change. */
export const BRAKET_PROGRAM_VERSION = '1.0.0';

/** How a machine spells the pulse: Rigetti rx and rz, IQM and AQT prx, IonQ gpi2. */
type PulseSpelling = 'prx' | 'gpi2' | 'rx-rz';

export interface NativeGates {
  readonly pulse: PulseSpelling;
  /** Null when the machine has none that this backend writes. */
  readonly entangler: Entangler | null;
}

/**
 * OpenQASM 3 for a QPU: a verbatim box of native gates on physical qubits, which Braket runs as it stands.
 * Channel i is physical qubit `physical[i]`.
 */
export function verbatimSource(
  circuit: PulseCircuit,
  physical: readonly number[],
  natives: NativeGates,
): string {
  const lines = ['OPENQASM 3.0;', `bit[${circuit.qubits}] b;`, '#pragma braket verbatim', 'box{'];
  for (const operation of circuit.operations) {
    if (operation.kind === 'pulse') {
      const qubit = `$${physical[operation.qubits[0]]}`;
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

/**
 * OpenQASM 3 for a simulator: virtual qubits, and the gates h alone, without the include file that Braket
 * does not take.
 */
export function simulatorProgram({ circuit }: NamedCircuit): string {
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
