import type { GetDeviceResponse } from '@aws-sdk/client-braket';
import { type JsonObject, listIn, objectIn, textIn } from '../../core/json.ts';
import { BackendError, type Provenance } from '../backend.ts';

/** How a machine spells a quarter turn: IQM and AQT prx, IonQ gpi2, Rigetti rx. The first that it has is taken. */
export const PULSES = ['prx', 'gpi2', 'rx'] as const;
export type PulseSpelling = (typeof PULSES)[number];

/** What GetDevice says, as far as this backend needs it. Facts that a device does not publish are null. */
export interface Device {
  readonly arn: string;
  readonly provider: string;
  readonly name: string;
  /** True for SV1 and its like. */
  readonly isSimulator: boolean;
  /** ONLINE, OFFLINE or RETIRED. */
  readonly status: string;
  readonly qubitCount: number;
  /** Null for a machine whose pulses this backend cannot write, and for simulators. */
  readonly pulse: PulseSpelling | null;
  /** Bounds of the shots of one program. */
  readonly shotsMin: number;
  readonly shotsMax: number;
  /** USD per shot; null where the price has another unit. */
  readonly pricePerShot: number | null;
  readonly pollMs: number | null;
  readonly location: string | null;
  /** When the published properties were measured or refreshed (ISO 8601). */
  readonly updatedAt: string | null;
  /** When tasks run, in UTC. */
  readonly windows: readonly string[];
  readonly queue: readonly string[];
  /** By physical qubit, in ascending order. */
  readonly qubits: ReadonlyMap<number, QubitCalibration>;
  /** Mean readout fidelity of a device that publishes no figures by qubit. */
  readonly readoutFidelity: number | null;
}

interface QubitCalibration {
  readonly readoutFidelity: number | null;
  /**
   * P(reads 1 | prepared 0) and P(reads 0 | prepared 1): IQM publishes both, most publish the fidelity alone.
   */
  readonly e01: number | null;
  readonly e10: number | null;
}

/**
 * Reads the reply. What a newer schema adds is not looked at; what is needed and not there is a permanent
 * error.
 */
export function deviceOf(reply: GetDeviceResponse): Device {
  const capabilities = capabilitiesOf(reply);
  const service = objectIn(capabilities.service);
  const paradigm = objectIn(capabilities.paradigm);
  const standardized = objectIn(capabilities.standardized);
  const [shotsMin, shotsMax] = listIn(service.shotsRange);
  const arn = reply.deviceArn ?? '';
  if (!isCount(shotsMin) || !isCount(shotsMax) || !isCount(paradigm.qubitCount)) {
    throw new BackendError('permanent', `${arn}: not a gate-model device: its shots or qubits are not given`);
  }
  const cost = objectIn(service.deviceCost);
  return {
    arn,
    provider: reply.providerName ?? '',
    name: reply.deviceName ?? '',
    isSimulator: reply.deviceType === 'SIMULATOR',
    status: reply.deviceStatus ?? '',
    qubitCount: paradigm.qubitCount,
    pulse: pulseOf(paradigm.nativeGateSet),
    shotsMin,
    shotsMax,
    pricePerShot: cost.unit === 'shot' && typeof cost.price === 'number' ? cost.price : null,
    pollMs: isCount(service.getTaskPollIntervalMillis) ? service.getTaskPollIntervalMillis : null,
    location: textIn(service.deviceLocation),
    updatedAt: textIn(standardized.updatedAt) ?? textIn(service.updatedAt),
    windows: listIn(service.executionWindows)
      .map(objectIn)
      .map((each) => `${each.executionDay} ${each.windowStartHour}-${each.windowEndHour} UTC`),
    queue: (reply.deviceQueueInfo ?? []).map(
      ({ queue, queuePriority, queueSize }) => `${queue} ${queuePriority ?? ''}: ${queueSize}`,
    ),
    qubits: qubitsOf(paradigm, objectIn(standardized.oneQubitProperties)),
    readoutFidelity: meanFidelity(standardized.readoutFidelity),
  };
}

/** `deviceCapabilities` is JSON in a string. */
function capabilitiesOf({ deviceArn, deviceCapabilities }: GetDeviceResponse): JsonObject {
  try {
    return objectIn(JSON.parse(String(deviceCapabilities)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new BackendError('retryable', `${deviceArn}: capabilities that are not JSON`);
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isProbability(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function pulseOf(gates: unknown): PulseSpelling | null {
  const names = new Set(listIn(gates).map((gate) => String(gate).toLowerCase()));
  return PULSES.find((gate) => names.has(gate)) ?? null;
}

/** The qubits that gates can reach, and what is published of each. */
function qubitsOf(paradigm: JsonObject, properties: JsonObject): Map<number, QubitCalibration> {
  const graph = Object.keys(objectIn(objectIn(paradigm.connectivity).connectivityGraph));
  const names = graph.length > 0 ? graph : Object.keys(properties);
  const indices = names.length > 0 ? names.map(Number) : [...new Array(paradigm.qubitCount as number).keys()];
  return new Map(
    indices
      .filter(isCount)
      .sort((a, b) => a - b)
      .map((qubit) => [qubit, qubitCalibrationOf(objectIn(properties[qubit]).oneQubitFidelity)]),
  );
}

function qubitCalibrationOf(fidelities: unknown): QubitCalibration {
  const figures = new Map<string, number>();
  for (const each of listIn(fidelities).map(objectIn)) {
    const name = textIn(objectIn(each.fidelityType).name);
    if (name !== null && isProbability(each.fidelity)) figures.set(name, each.fidelity);
  }
  return {
    readoutFidelity: figures.get('READOUT') ?? null,
    e01: figures.get('READOUT_ERROR_0_TO_1') ?? null,
    e10: figures.get('READOUT_ERROR_1_TO_0') ?? null,
  };
}

function meanFidelity(fidelities: unknown): number | null {
  const { fidelity } = objectIn(listIn(fidelities)[0]);
  return isProbability(fidelity) ? fidelity : null;
}

/**
 * Bad qubits are normal: one whose published figure is below `fidelityMin` is never used, nor one without a figure on a
 * device that gives figures by qubit.
 */
export function usableQubits({ qubits, readoutFidelity }: Device, fidelityMin: number): number[] {
  const hasFigures = [...qubits.values()].some((qubit) => qubit.readoutFidelity !== null);
  if (!hasFigures)
    return readoutFidelity === null || readoutFidelity >= fidelityMin ? [...qubits.keys()] : [];
  return [...qubits].flatMap(([qubit, { readoutFidelity: own }]) =>
    own !== null && own >= fidelityMin ? [qubit] : [],
  );
}

/** What the device publishes of these qubits, by channel. */
export function calibrationOf(device: Device, physical: readonly number[]): Provenance['calibration'] {
  const figures = physical.map((qubit) => device.qubits.get(qubit));
  return {
    ...(device.updatedAt === null ? {} : { date: device.updatedAt }),
    physical_qubits: physical,
    ...column('readout_fidelity', figures, ({ readoutFidelity }) => readoutFidelity),
    ...column('readout_e01', figures, ({ e01 }) => e01),
    ...column('readout_e10', figures, ({ e10 }) => e10),
    ...(device.readoutFidelity === null ? {} : { readout_fidelity_mean: device.readoutFidelity }),
  };
}

/** A list by channel, when the device gives the figure for every channel; else nothing. */
function column(
  name: string,
  figures: readonly (QubitCalibration | undefined)[],
  figureOf: (qubit: QubitCalibration) => number | null,
): Record<string, number[]> {
  const list: number[] = [];
  for (const qubit of figures) {
    const figure = qubit === undefined ? null : figureOf(qubit);
    if (figure === null) return {};
    list.push(figure);
  }
  return { [name]: list };
}
