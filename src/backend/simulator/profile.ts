import { readFileSync } from 'node:fs';
import { isObject } from '../../core/json.ts';
import { OptionError } from '../definition.ts';
import type { ReadoutError } from './qubits.ts';

/** The readout errors that a real device's provider publishes, for the simulator to have. */
export interface DeviceProfile {
  readonly device: string;
  /** As the provider writes it; null when it gives none. */
  readonly date: string | null;
  /** One for each qubit of the device. */
  readonly readout: readonly ReadoutError[];
}

const EXPECTED = 'the path of IBM backend properties or of an IonQ characterization, as JSON';

/**
 * Parses the option: a path, or the word `none`. Reads the file, so that a wrong one is found with the
 * configuration.
 */
export function profileOption(path: string): DeviceProfile | null {
  if (path === 'none') return null;
  return profileOf(readJson(path));
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new OptionError(`${EXPECTED} (${path}: ${code})`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new OptionError(`${EXPECTED} (${path} is not JSON)`);
  }
}

/** The profile in a parsed file of either provider. */
function profileOf(json: unknown): DeviceProfile {
  if (isObject(json) && Array.isArray(json['qubits'])) return ibmProfile(json, json['qubits']);
  if (isObject(json)) return ionqProfile(json);
  throw new OptionError(EXPECTED);
}

/** `GET /backends/{id}/properties`: a list of named properties for each qubit. */
function ibmProfile(json: Readonly<Record<string, unknown>>, qubits: readonly unknown[]): DeviceProfile {
  const { backend_name: device, last_update_date: date } = json;
  if (typeof device !== 'string' || qubits.length === 0) throw new OptionError(EXPECTED);
  const readout = qubits.map((properties, qubit) => {
    const published = (name: string) => {
      const named = Array.isArray(properties) ? properties.filter(isObject) : [];
      return named.find((property) => property['name'] === name)?.['value'];
    };
    // Where the two are not told apart, `readout_error` is their mean.
    const both = published('readout_error');
    const e01 = published('prob_meas1_prep0') ?? both;
    const e10 = published('prob_meas0_prep1') ?? both;
    return { e01: rate(e01, `qubit ${qubit}`), e10: rate(e10, `qubit ${qubit}`) };
  });
  return { device, date: typeof date === 'string' ? date : null, readout };
}

/**
 * `GET /backends/{b}/characterizations`, or one of its entries: a median of the fidelity of preparation and measurement over
 * all qubits. The simulated qubits all have it, half of the loss on either outcome being e01 = e10 = 1 -
 * fidelity.
 */
function ionqProfile(json: Readonly<Record<string, unknown>>): DeviceProfile {
  const list = json['characterizations'];
  const newest: unknown = Array.isArray(list) ? list[0] : json;
  if (!isObject(newest)) throw new OptionError(EXPECTED);
  const { backend: device, date, qubits, fidelity } = newest;
  const spam = isObject(fidelity) && isObject(fidelity['spam']) ? fidelity['spam']['median'] : undefined;
  if (typeof device !== 'string' || typeof qubits !== 'number' || !(qubits >= 1 && qubits <= 1024)) {
    throw new OptionError(EXPECTED);
  }
  const error = 1 - rate(spam, 'fidelity.spam.median');
  return {
    device,
    date: typeof date === 'string' ? date : null,
    readout: new Array(Math.floor(qubits)).fill({ e01: error, e10: error }),
  };
}

function rate(value: unknown, what: string): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    throw new OptionError(`${EXPECTED} (${what} has no readout error)`);
  }
  return value;
}

/** The `count` qubits that are read best, by number, as a backend of the real device would pick them. */
export function bestQubits({ readout }: DeviceProfile, count: number): readonly number[] {
  const loss = (qubit: number) => readout[qubit].e01 + readout[qubit].e10;
  return readout
    .map((_, qubit) => qubit)
    .sort((a, b) => loss(a) - loss(b))
    .slice(0, count)
    .sort((a, b) => a - b);
}
