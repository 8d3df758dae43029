import { BackendError, type Provenance, wholeShots } from '../backend.ts';
import type { JobPlan } from '../job.ts';
import { bestQubits, type ChosenQubits, type Device, type PulseSpelling } from './device.ts';
import { type BraketOptions, claimOf } from './options.ts';

/** Everything that a task was made of: with it, a repeated submission is the same to the last byte. JSON. */
export interface TaskPlan extends JobPlan {
  /** ARN of the device. */
  readonly device: string;
  /** Null on a simulator. */
  readonly pulse: PulseSpelling | null;
  /** By channel: the physical qubit, or its place in a simulator's register. */
  readonly qubits: readonly number[];
  readonly shots: number;
  /** What the device asks for between polls, in milliseconds. */
  readonly pollMs: number | null;
  readonly calibration: Provenance['calibration'];
}

/**
 * Plans the task for at least `bits` bits on the device as it is now. Rejects what the device would not run,
 * or charge more for.
 */
export function planTask(device: Device, options: BraketOptions, price: number, bits: number): TaskPlan {
  const shots = wholeShots(bits, options.qubits);
  checkDevice(device, options.device.isSimulator, price);
  if (shots < device.shotsMin || shots > device.shotsMax) {
    throw unfit(
      device,
      `takes ${device.shotsMin} to ${device.shotsMax} shots of a program, ${shots} are asked`,
    );
  }
  const chosen = chosenQubits(device, options);
  return {
    device: device.arn,
    claim: claimOf(options),
    pulse: device.isSimulator ? null : device.pulse,
    qubits: chosen.physical,
    shots,
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
  if (!device.isSimulator && device.pulse === null) {
    throw unfit(device, 'has no native gates that this service writes');
  }
  if (device.pricePerShot !== null && device.pricePerShot > price) {
    throw unfit(device, `costs ${device.pricePerShot} USD a shot, price_per_shot is ${price}`);
  }
}

function chosenQubits(device: Device, options: BraketOptions): ChosenQubits {
  const { qubits: count, min_readout_fidelity: fidelityMin } = options;
  if (device.isSimulator) {
    if (count > device.qubitCount) throw unfit(device, `has ${device.qubitCount} qubits, ${count} are asked`);
    return { physical: [...new Array(count).keys()], calibration: null };
  }
  return bestQubits(device, count, fidelityMin);
}

function unfit({ provider, name }: Device, what: string): BackendError {
  return new BackendError('permanent', `${provider} ${name} ${what}`);
}

/** `lang_version` of what this file writes: grows whenever the text of an unchanged circuit would change. */
export const BRAKET_PROGRAM_VERSION = '1.0.0';

const CALLS: Readonly<Record<PulseSpelling, string>> = {
  prx: `prx(${Math.PI / 2}, 0)`,
  gpi2: 'gpi2(0)',
  rx: `rx(${Math.PI / 2})`,
};

/**
 * OpenQASM 3: a quarter turn and a measurement of each qubit. For a QPU a verbatim box of its native gates on physical
 * qubits, which Braket runs as it stands; for a simulator h on virtual qubits, without the include file that Braket does
 * not take. Channel i is `qubits[i]`.
 */
export function sourceOf({ pulse, qubits }: Pick<TaskPlan, 'pulse' | 'qubits'>): string {
  const [named, gates] =
    pulse === null
      ? [qubits.map((qubit) => `q[${qubit}]`), (calls: string[]) => [`qubit[${qubits.length}] q;`, ...calls]]
      : [
          qubits.map((qubit) => `$${qubit}`),
          (calls: string[]) => ['#pragma braket verbatim', 'box{', ...calls, '}'],
        ];
  const call = pulse === null ? 'h' : CALLS[pulse];
  return [
    'OPENQASM 3.0;',
    `bit[${qubits.length}] b;`,
    ...gates(named.map((qubit) => `${call} ${qubit};`)),
    ...named.map((qubit, channel) => `b[${channel}] = measure ${qubit};`),
    '',
  ].join('\n');
}

/** The `action` of CreateQuantumTask. */
export function actionOf(source: string): string {
  return JSON.stringify({
    braketSchemaHeader: { name: 'braket.ir.openqasm.program', version: '1' },
    source,
    inputs: {},
  });
}
