import { BackendError } from '../backend.ts';
import { BASIS_GATES } from '../physical-circuit.ts';
import {
  type Architecture,
  architectureOf,
  type Calibration,
  calibrationOf,
  chosenPairs,
  chosenQubits,
  type Quality,
} from './calibration.ts';
import type { IbmCloud } from './cloud.ts';
import { listIn, numberIn, objectIn, textIn } from './json.ts';
import type { CircuitName } from './plan.ts';

/** What `/backends` says of the device now. A fact that it does not give is null. */
export interface DeviceState {
  /** `online`, `paused`, `offline`. */
  readonly word: string | null;
  readonly queue: number | null;
  readonly waitSeconds: number | null;
  /** E.g. `Heron r2`. */
  readonly processor: string | null;
  readonly isSimulator: boolean;
}

/** The qubits of a job, by channel, and what the calibration says of them. */
export interface Choice {
  /** Empty when too few are good enough. */
  readonly qubits: readonly number[];
  /** What was looked for, for an error when nothing was found. */
  readonly why: string;
  readonly deviceQubits: number;
  readonly isSimulator: boolean;
  readonly e01: readonly number[];
  readonly e10: readonly number[];
  readonly calibrationDate: string | null;
}

/** One processor, as the instance sees it. */
export class Device {
  readonly name: string;
  readonly #cloud: IbmCloud;

  constructor(name: string, cloud: IbmCloud) {
    this.name = name;
    this.#cloud = cloud;
  }

  async state(signal: AbortSignal): Promise<DeviceState> {
    const { devices } = await this.#cloud.get('/backends?fields=wait_time_seconds', signal);
    const listed = listIn(devices).map(objectIn);
    const device = listed.find(({ name }) => name === this.name);
    if (device === undefined) {
      const names = listed.map(({ name }) => name).join(', ');
      throw new BackendError('permanent', `the instance has no ${this.name}; it has: ${names.slice(0, 200)}`);
    }
    const { family, revision } = objectIn(device.processor_type);
    return {
      word: textIn(objectIn(device.status).name) ?? textIn(device.status),
      queue: numberIn(device.queue_length),
      waitSeconds: numberIn(objectIn(device.wait_time_seconds).average) ?? numberIn(device.wait_time_seconds),
      processor: textIn(family) === null ? null : `${family} r${revision}`,
      isSimulator: device.is_simulator === true,
    };
  }

  async choose(circuit: CircuitName, quality: Quality, signal: AbortSignal): Promise<Choice> {
    const architecture = await this.#architecture(circuit, signal);
    const calibration = await this.#calibration(signal);
    const qubits =
      circuit === 'bell-chsh'
        ? chosenPairs(architecture, calibration, quality).flat()
        : chosenQubits(calibration, quality);
    const figures = qubits.map((qubit) => calibration.readout[qubit]!); // chosen by these figures
    const what = circuit === 'bell-chsh' ? 'coupled pair of qubits' : 'qubit';
    return {
      qubits,
      why: `no ${what} meets max_readout_error ${quality.maxReadoutError} and max_gate_error ${quality.maxGateError}`,
      deviceQubits: architecture.qubits,
      isSimulator: architecture.isSimulator,
      e01: figures.map(({ e01 }) => e01),
      e10: figures.map(({ e10 }) => e10),
      calibrationDate: calibration.date,
    };
  }

  /** The calibration with this id; null when IBM does not give it any more. */
  async calibrationBy(id: string, signal: AbortSignal): Promise<Calibration | null> {
    const path = `${this.#path('properties')}?calibration_id=${encodeURIComponent(id)}`;
    const reply = await this.#cloud.send({ method: 'GET', path, accepts: [400, 404], signal });
    return reply.status === 200 ? calibrationOf(this.#cloud.object(reply, path)) : null;
  }

  async #calibration(signal: AbortSignal): Promise<Calibration> {
    return calibrationOf(await this.#cloud.get(this.#path('properties'), signal));
  }

  async #architecture(circuit: CircuitName, signal: AbortSignal): Promise<Architecture> {
    const architecture = architectureOf(await this.#cloud.get(this.#path('configuration'), signal));
    if (architecture === null)
      throw new BackendError('permanent', `${this.name}: its configuration names no qubits`);
    const needed = BASIS_GATES.filter((gate) => circuit === 'bell-chsh' || gate !== 'cz');
    const missing = needed.filter((gate) => !architecture.basisGates.includes(gate));
    if (missing.length > 0) {
      throw new BackendError(
        'permanent',
        `${this.name} has no ${missing.join(', ')}: ${circuit} does not run there`,
      );
    }
    return architecture;
  }

  #path(part: 'configuration' | 'properties'): string {
    return `/backends/${encodeURIComponent(this.name)}/${part}`;
  }
}
