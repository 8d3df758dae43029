import { BackendError, type Provenance } from '../backend.ts';
import { circuitDepth } from '../circuit.ts';
import { circuitOf, type Part, type PartPlan, partCounts, partsOf, shotsOfPart } from '../measured-parts.ts';
import { superposition } from '../named-circuits.ts';
import { pulseDepth } from '../pulse-circuit.ts';
import type { Device } from './device.ts';
import { type BraketOptions, claimOf } from './options.ts';
import { type NativeGates, simulatorSource, verbatimSource } from './program.ts';
import { bestPairs, bestQubits, type ChosenQubits } from './selection.ts';

/** Everything that a task was made of: with it, a repeated submission is the same to the last byte. JSON. */
export interface TaskPlan {
  /** ARN of the device. */
  readonly device: string;
  /** Min-entropy per bit that was claimed of it: qubits and circuit were chosen to bear that, and no more. */
  readonly claim: number;
  readonly circuit: PartPlan;
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

/** Plans the task for at least `bits` bits on the device as it is now. Rejects what the device would not run, or charge more for. */
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
        ? simulatorSource(superposition(qubits.length))
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
