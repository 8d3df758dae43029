import { isProbability, type JsonObject, listIn, numberIn, objectIn, textIn } from '../../core/json.ts';
import type { Provenance } from '../../core/provenance.ts';
import { BackendError } from '../backend.ts';
import { bestQubits } from '../circuit.ts';
import type { ReadoutError } from '../simulator/qubits.ts';
import type { IbmCloud } from './cloud.ts';
import type { IbmOptions } from './options.ts';
import { BASIS_GATE, type Plan } from './plan.ts';

/** What `/backends` says of the device now. Missing facts are null. */
export interface DeviceState {
  /** `online`, `paused`, `offline`. */
  readonly word: string | null;
  readonly queue: number | null;
  readonly waitSeconds: number | null;
  /** E.g. `Heron r2`. */
  readonly processor: string | null;
  readonly isSimulator: boolean;
}

/** The qubits for a job; none if no qubit is good enough. */
type Choice = Pick<Plan, 'qubits' | 'deviceQubits' | 'isSimulator' | 'calibration'>;

/** A processor that the instance may use. */
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

  async choose(quality: Quality, signal: AbortSignal): Promise<Choice> {
    const architecture = await this.#architecture(signal);
    const calibration = calibrationOf(await this.#cloud.get(this.#path('properties'), signal));
    const qubits = chosenQubits(calibration, quality);
    return { qubits, ...architecture, calibration: figuresOf(calibration, qubits) };
  }

  /**
   * Resolves to the figures of the qubits in the calibration with this id; null if IBM has it no more or it lacks a
   * qubit.
   */
  async figuresBy(
    id: string,
    qubits: readonly number[],
    signal: AbortSignal,
  ): Promise<Provenance['calibration']> {
    const path = `${this.#path('properties')}?calibration_id=${encodeURIComponent(id)}`;
    const figures = figuresOf(calibrationOf(await this.#cloud.get(path, signal, [400, 404])), qubits);
    return figures === null ? null : { id, ...figures };
  }

  /** Resolves to the facts of the device that do not change from day to day. */
  async #architecture(signal: AbortSignal): Promise<Pick<Choice, 'deviceQubits' | 'isSimulator'>> {
    const { n_qubits, simulator, basis_gates } = await this.#cloud.get(this.#path('configuration'), signal);
    const deviceQubits = numberIn(n_qubits);
    if (deviceQubits === null || !Number.isInteger(deviceQubits) || deviceQubits < 1)
      throw new BackendError('permanent', `${this.name}: its configuration names no qubits`);
    if (!listIn(basis_gates).includes(BASIS_GATE))
      throw new BackendError(
        'permanent',
        `${this.name} has no ${BASIS_GATE}: the program does not run there`,
      );
    return { deviceQubits, isSimulator: simulator === true };
  }

  #path(part: 'configuration' | 'properties'): string {
    return `/backends/${encodeURIComponent(this.name)}/${part}`;
  }
}

/** The figures that IBM measures regularly (`/backends/{id}/properties`). Figures that are not published are null. */
export interface Calibration {
  /** `last_update_date`, verbatim. */
  readonly date: string | null;
  /** By qubit; null for a qubit without figures, and for one that is marked as not operational. */
  readonly readout: readonly (ReadoutError | null)[];
  /** Error rates of sx, by qubit. */
  readonly gateErrors: ReadonlyMap<number, number>;
}

export function calibrationOf(properties: JsonObject): Calibration {
  const gateErrors = new Map<number, number>();
  for (const entry of listIn(properties.gates)) {
    const { gate, qubits, parameters } = objectIn(entry);
    const error = figuresIn(parameters).get('gate_error');
    if (gate === BASIS_GATE && error !== undefined) gateErrors.set(Number(listIn(qubits)[0]), error);
  }
  return {
    date: textIn(properties.last_update_date),
    readout: listIn(properties.qubits).map(readoutOf),
    gateErrors,
  };
}

function readoutOf(parameters: unknown): ReadoutError | null {
  const figures = figuresIn(parameters);
  // If IBM does not publish the two rates, `readout_error` is their mean.
  const both = figures.get('readout_error');
  const e01 = figures.get('prob_meas1_prep0') ?? both;
  const e10 = figures.get('prob_meas0_prep1') ?? both;
  if (e01 === undefined || e10 === undefined || figures.get('operational') === 0) return null;
  return isProbability(e01) && isProbability(e10) ? { e01, e10 } : null;
}

/** Returns the values of a list of `{name, value, unit, date}` by name. */
function figuresIn(parameters: unknown): ReadonlyMap<string, number> {
  const figures = new Map<string, number>();
  for (const parameter of listIn(parameters)) {
    const { name, value } = objectIn(parameter);
    const figure = numberIn(value);
    if (typeof name === 'string' && figure !== null) figures.set(name, figure);
  }
  return figures;
}

/** The limits that a qubit must meet, and how many qubits are used at most. */
type Quality = Pick<IbmOptions, 'max_readout_error' | 'max_gate_error' | 'qubits'>;

/**
 * Returns the qubits to measure, in ascending order: of those that meet the limits, the ones with the least readout
 * error. A dead qubit has no figures, or a `gate_error` of 1.
 */
export function chosenQubits(calibration: Calibration, quality: Quality): number[] {
  const lossOf = (qubit: number) => {
    const figures = calibration.readout[qubit];
    return figures === null ? 1 : figures.e01 + figures.e10;
  };
  return bestQubits(goodQubits(calibration, quality), quality.qubits, lossOf);
}

function goodQubits(calibration: Calibration, quality: Quality): number[] {
  const good: number[] = [];
  calibration.readout.forEach((readout, qubit) => {
    if (readout === null || readout.e01 + readout.e10 > quality.max_readout_error) return;
    if ((calibration.gateErrors.get(qubit) ?? 1) <= quality.max_gate_error) good.push(qubit);
  });
  return good;
}

/** Returns the figures of the qubits in the form of a provenance; null if a qubit has none. */
function figuresOf({ date, readout }: Calibration, qubits: readonly number[]) {
  const figures = qubits.map((qubit) => readout[qubit] ?? null);
  if (!figures.every((each) => each !== null)) return null;
  return {
    ...(date !== null && { date }),
    qubits,
    readout_e01: figures.map(({ e01 }) => e01),
    readout_e10: figures.map(({ e10 }) => e10),
  };
}
