import type { GetDeviceResponse } from '@aws-sdk/client-braket';
import { isCount, isProbability, type JsonObject, listIn, objectIn, textIn } from '../../core/json.ts';
import type { Provenance } from '../../core/provenance.ts';
import { BackendError } from '../backend.ts';

/** Names of a quarter turn: prx of IQM and AQT, gpi2 of IonQ, rx of Rigetti. The first that a device has is used. */
export const PULSES = ['prx', 'gpi2', 'rx'] as const;
export type PulseSpelling = (typeof PULSES)[number];

/** The part of GetDevice's reply that this backend needs. Facts that a device does not publish are null. */
export interface Device {
  readonly arn: string;
  readonly provider: string;
  readonly name: string;
  /** True for SV1 and its like. */
  readonly isSimulator: boolean;
  /** ONLINE, OFFLINE or RETIRED. */
  readonly status: string;
  readonly qubitCount: number;
  /** Null for simulators, and for a device whose gates this backend cannot write. */
  readonly pulse: PulseSpelling | null;
  /** Bounds of the shots of one program. */
  readonly shotsMin: number;
  readonly shotsMax: number;
  /** USD per shot; null if the price has another unit. */
  readonly pricePerShot: number | null;
  readonly pollMs: number | null;
  readonly location: string | null;
  /** When the published properties were measured or refreshed (ISO 8601). */
  readonly updatedAt: string | null;
  /** When tasks run, in UTC. */
  readonly windows: readonly string[];
  readonly queue: readonly string[];
  /** By physical qubit, in ascending order. */
  readonly qubits: ReadonlyMap<number, QubitFigures>;
  /** Mean readout fidelity of a device that publishes no figures by qubit. */
  readonly readoutFidelity: number | null;
}

/**
 * Braket's names of a qubit's figures and those in provenance. IQM publishes P(reads 1 | prepared 0) and P(reads 0 |
 * prepared 1), most others only the fidelity.
 */
const FIGURES = new Map([
  ['READOUT', 'readout_fidelity'],
  ['READOUT_ERROR_0_TO_1', 'readout_e01'],
  ['READOUT_ERROR_1_TO_0', 'readout_e10'],
]);
/** Figures of a qubit by their names in provenance. */
type QubitFigures = ReadonlyMap<string, number>;

/**
 * Reads the reply. Ignores what a newer schema adds. Throws a permanent BackendError if a necessary fact is missing.
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

/** Parses `deviceCapabilities`, which is JSON in a string. */
function capabilitiesOf({ deviceArn, deviceCapabilities }: GetDeviceResponse): JsonObject {
  try {
    return objectIn(JSON.parse(String(deviceCapabilities)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new BackendError('retryable', `${deviceArn}: capabilities that are not JSON`);
  }
}

function pulseOf(gates: unknown): PulseSpelling | null {
  const names = new Set(listIn(gates).map((gate) => String(gate).toLowerCase()));
  return PULSES.find((gate) => names.has(gate)) ?? null;
}

/** Returns the qubits in the connectivity graph, with the published figures of each. */
function qubitsOf(paradigm: JsonObject, properties: JsonObject): Map<number, QubitFigures> {
  const graph = Object.keys(objectIn(objectIn(paradigm.connectivity).connectivityGraph));
  const names = graph.length > 0 ? graph : Object.keys(properties);
  const indices = names.length > 0 ? names.map(Number) : [...new Array(paradigm.qubitCount as number).keys()];
  return new Map(
    indices
      .filter(isCount)
      .sort((a, b) => a - b)
      .map((qubit) => [qubit, figuresOf(objectIn(properties[qubit]).oneQubitFidelity)]),
  );
}

function figuresOf(fidelities: unknown): QubitFigures {
  const figures = new Map<string, number>();
  for (const { fidelityType, fidelity } of listIn(fidelities).map(objectIn)) {
    const name = FIGURES.get(textIn(objectIn(fidelityType).name) ?? '');
    if (name !== undefined && isProbability(fidelity)) figures.set(name, fidelity);
  }
  return figures;
}

function meanFidelity(fidelities: unknown): number | null {
  const { fidelity } = objectIn(listIn(fidelities)[0]);
  return isProbability(fidelity) ? fidelity : null;
}

/**
 * Returns the qubits with a published fidelity of at least `fidelityMin`. On a device that publishes figures by qubit,
 * a qubit without a figure is not used either.
 */
export function usableQubits(device: Device, fidelityMin: number): number[] {
  const qubits = [...device.qubits.keys()];
  const isByQubit = qubits.some((qubit) => fidelityOf(device, qubit) !== null);
  const unknown = isByQubit ? Number.NEGATIVE_INFINITY : (device.readoutFidelity ?? 1);
  return qubits.filter((qubit) => (fidelityOf(device, qubit) ?? unknown) >= fidelityMin);
}

export function fidelityOf({ qubits }: Device, qubit: number): number | null {
  return qubits.get(qubit)?.get('readout_fidelity') ?? null;
}

/** Returns the figures that the device publishes for all of these qubits, by channel. */
export function calibrationOf(device: Device, physical: readonly number[]): Provenance['calibration'] {
  const columns = [...FIGURES.values()].flatMap((name) => {
    const figures = physical.flatMap((qubit) => device.qubits.get(qubit)?.get(name) ?? []);
    return figures.length === physical.length ? [[name, figures] as const] : [];
  });
  return {
    ...(device.updatedAt === null ? {} : { date: device.updatedAt }),
    physical_qubits: physical,
    ...Object.fromEntries(columns),
    ...(device.readoutFidelity === null ? {} : { readout_fidelity_mean: device.readoutFidelity }),
  };
}
