import { BackendError, wholeShots } from '../backend.ts';
import { bestQubits } from '../circuit.ts';
import type { JobPlan } from '../job.ts';
import { calibrationOf, type Device, fidelityOf, type PulseSpelling, usableQubits } from './device.ts';
import type { BraketOptions } from './options.ts';

export interface TaskPlan extends JobPlan {
  /** Null on a simulator. */
  readonly pulse: PulseSpelling | null;
  /** What the device asks for between polls, in milliseconds. */
  readonly pollMs: number | null;
}

/**
 * Plans a task for at least `bits` bits on the device as it is now. Throws if the device would refuse it or charge
 * more.
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
  return {
    device: device.arn,
    claim: options.min_entropy,
    pulse: device.isSimulator ? null : device.pulse,
    shots,
    pollMs: device.pollMs,
    ...chosenQubits(device, options),
  };
}

function checkDevice(device: Device, isSimulator: boolean, price: number): void {
  if (device.status === 'RETIRED') throw unfit(device, 'is retired');
  // The origin of every bit follows from the ARN, so the service must agree with it.
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

function chosenQubits(device: Device, options: BraketOptions): Pick<TaskPlan, 'qubits' | 'calibration'> {
  const { qubits: count, min_readout_fidelity: fidelityMin } = options;
  if (device.isSimulator) {
    if (count > device.qubitCount) throw unfit(device, `has ${device.qubitCount} qubits, ${count} are asked`);
    return { qubits: [...new Array(count).keys()], calibration: null };
  }
  const usable = usableQubits(device, fidelityMin);
  if (usable.length < count) {
    const found = `qubits: ${count} asked, ${usable.length} have a readout fidelity of ${fidelityMin} or more`;
    throw new BackendError('retryable', `${device.provider} ${device.name}: ${found}`);
  }
  const qubits = bestQubits(usable, count, (qubit) => -(fidelityOf(device, qubit) ?? 1));
  return { qubits, calibration: calibrationOf(device, qubits) };
}

function unfit({ provider, name }: Device, what: string): BackendError {
  return new BackendError('permanent', `${provider} ${name} ${what}`);
}

const CALLS: Readonly<Record<PulseSpelling, string>> = {
  prx: `prx(${Math.PI / 2}, 0)`,
  gpi2: 'gpi2(0)',
  rx: `rx(${Math.PI / 2})`,
};

/**
 * Returns the OpenQASM 3 program: a quarter turn and a measurement of each qubit. For a QPU it is a verbatim box of
 * native gates on physical qubits, which Braket does not change. For a simulator it is h on virtual qubits, without the
 * include file, which Braket rejects. Channel i is `qubits[i]`.
 */
export function sourceOf({ pulse, qubits }: Pick<TaskPlan, 'pulse' | 'qubits'>): string {
  const named = qubits.map((qubit) => (pulse === null ? `q[${qubit}]` : `$${qubit}`));
  const gates = named.map((qubit) => `${pulse === null ? 'h' : CALLS[pulse]} ${qubit};`);
  return [
    'OPENQASM 3.0;',
    `bit[${qubits.length}] b;`,
    ...(pulse === null
      ? [`qubit[${qubits.length}] q;`, ...gates]
      : ['#pragma braket verbatim', 'box{', ...gates, '}']),
    ...named.map((qubit, channel) => `b[${channel}] = measure ${qubit};`),
    '',
  ].join('\n');
}

/** Returns the `action` of CreateQuantumTask. */
export function actionOf(source: string): string {
  return JSON.stringify({
    braketSchemaHeader: { name: 'braket.ir.openqasm.program', version: '1' },
    source,
    inputs: {},
  });
}
