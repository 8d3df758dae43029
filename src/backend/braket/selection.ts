import { BackendError, type Provenance } from '../backend.ts';
import type { Device, QubitCalibration } from './device.ts';

/** Physical qubits by channel, and what the device publishes of them, as Provenance.calibration has it. */
export interface ChosenQubits {
  readonly physical: readonly number[];
  readonly calibration: Provenance['calibration'];
}

/**
 * The `count` best qubits by readout fidelity, in ascending order. Bad qubits are normal: one whose published figure is below
 * `fidelityMin` is never used, nor one without a figure on a device that gives figures by qubit.
 */
export function bestQubits(device: Device, count: number, fidelityMin: number): ChosenQubits {
  const usable = usableQubits(device, fidelityMin);
  if (usable.length < count) throw tooFew(device, `qubits: ${count} asked`, usable.length, fidelityMin);
  const physical = usable
    .sort((a, b) => fidelityOf(device, b) - fidelityOf(device, a) || a - b)
    .slice(0, count)
    .sort((a, b) => a - b);
  return { physical, calibration: calibrationOf(device, physical, []) };
}

/** Disjoint pairs that a gate can join, the best first; channels 2k and 2k + 1 are the two qubits of pair k. */
export function bestPairs(device: Device, count: number, fidelityMin: number): ChosenQubits {
  const usable = usableQubits(device, fidelityMin);
  const chosen: (readonly [number, number])[] = [];
  const taken = new Set<number>();
  for (const [a, b] of rankedPairs(device, usable)) {
    if (2 * chosen.length >= count) break;
    if (taken.has(a) || taken.has(b)) continue;
    taken.add(a).add(b);
    chosen.push([a, b]);
  }
  if (2 * chosen.length < count) {
    throw tooFew(device, `pairs: ${count / 2} asked`, chosen.length, fidelityMin);
  }
  const physical = chosen.flat();
  return { physical, calibration: calibrationOf(device, physical, chosen) };
}

function rankedPairs(device: Device, usable: readonly number[]): (readonly [number, number])[] {
  const known = new Set(usable);
  const published = [...device.pairs].flatMap(([name, fidelity]) => {
    const [a, b] = name.split('-').map(Number);
    if (!known.has(a) || !known.has(b)) return [];
    return [{ pair: [a, b] as const, score: fidelity * fidelityOf(device, a) * fidelityOf(device, b) }];
  });
  if (published.length > 0) return published.sort((a, b) => b.score - a.score).map(({ pair }) => pair);
  if (!device.isFullyConnected) return [];
  return usable.flatMap((a, at) =>
    at % 2 === 0 && at + 1 < usable.length ? [[a, usable[at + 1]] as const] : [],
  );
}

function usableQubits({ qubits, readoutFidelity }: Device, fidelityMin: number): number[] {
  const hasFigures = [...qubits.values()].some((qubit) => qubit.readoutFidelity !== null);
  if (!hasFigures)
    return readoutFidelity === null || readoutFidelity >= fidelityMin ? [...qubits.keys()] : [];
  return [...qubits].flatMap(([qubit, { readoutFidelity: own }]) =>
    own !== null && own >= fidelityMin ? [qubit] : [],
  );
}

function fidelityOf(device: Device, qubit: number): number {
  return device.qubits.get(qubit)?.readoutFidelity ?? device.readoutFidelity ?? 1;
}

function tooFew(device: Device, what: string, found: number, fidelityMin: number): BackendError {
  const bound = `readout fidelity of ${fidelityMin} or more`;
  return new BackendError(
    'retryable',
    `${device.provider} ${device.name}: ${what}, ${found} have a ${bound}`,
  );
}

function calibrationOf(
  device: Device,
  physical: readonly number[],
  pairs: readonly (readonly [number, number])[],
): Provenance['calibration'] {
  const figures = physical.map((qubit) => device.qubits.get(qubit));
  const pairFidelities = pairs.map(([a, b]) => device.pairs.get(`${Math.min(a, b)}-${Math.max(a, b)}`));
  return {
    ...(device.updatedAt === null ? {} : { date: device.updatedAt }),
    physical_qubits: physical,
    ...column('readout_fidelity', figures, ({ readoutFidelity }) => readoutFidelity),
    ...column('readout_e01', figures, ({ e01 }) => e01),
    ...column('readout_e10', figures, ({ e10 }) => e10),
    ...(device.readoutFidelity === null ? {} : { readout_fidelity_mean: device.readoutFidelity }),
    ...(pairs.length > 0 && pairFidelities.every((each) => each !== undefined)
      ? { pair_fidelity: pairFidelities as number[] }
      : {}),
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
