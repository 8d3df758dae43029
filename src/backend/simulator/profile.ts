import { readFileSync } from 'node:fs';
import { type JsonObject, numberIn, objectIn, textIn } from '../../core/json.ts';
import { OptionError } from '../definition.ts';
import { calibrationOf } from '../ibm/device.ts';
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
  return Array.isArray(objectIn(json).qubits) ? ibmProfile(objectIn(json)) : ionqProfile(objectIn(json));
}

/** `GET /backends/{id}/properties`. */
function ibmProfile(json: JsonObject): DeviceProfile {
  const device = textIn(json.backend_name);
  const { date, readout } = calibrationOf(json);
  if (device === null || readout.length === 0) throw new OptionError(EXPECTED);
  return { device, date, readout: readout.map((errors) => errors ?? UNREADABLE) };
}

/** A qubit of which nothing is published, or that is out of order. */
const UNREADABLE = { e01: 1, e10: 1 };

/**
 * `GET /backends/{b}/characterizations`, or one of its entries: a median of the fidelity of preparation and measurement over
 * all qubits. The simulated qubits all have it, half of the loss on either outcome being e01 = e10 = 1 -
 * fidelity.
 */
function ionqProfile(json: JsonObject): DeviceProfile {
  const { characterizations } = json;
  const newest = Array.isArray(characterizations) ? objectIn(characterizations[0]) : json;
  const [device, qubits] = [textIn(newest.backend), numberIn(newest.qubits) ?? 0];
  const fidelity = numberIn(objectIn(objectIn(newest.fidelity).spam).median) ?? -1;
  if (device === null || !(qubits >= 1 && qubits <= 1024) || !(fidelity >= 0 && fidelity <= 1)) {
    throw new OptionError(EXPECTED);
  }
  const errors = { e01: 1 - fidelity, e10: 1 - fidelity };
  return { device, date: textIn(newest.date), readout: new Array(Math.floor(qubits)).fill(errors) };
}
