import { objectIn } from '../../core/json.ts';
import { BackendError } from '../backend.ts';
import { jsonOf } from '../provider.ts';
import { packShots, type Shots } from '../shots.ts';

/** `v1`: a decimal number for each shot. `v2`: a register of bits for each shot, and which ions leaked. */
export type ShotFormat = 'v1' | 'v2';

export interface ExpectedShots {
  readonly jobId: string;
  readonly qubits: number;
  /** How many shots were run. The document must hold exactly as many. */
  readonly shots: number;
}

/**
 * Decodes a document of shots. Refuses anything but one whole outcome for each shot. Drops shots in which an ion had
 * left its two states (leaked).
 */
export async function decodeShots(
  format: ShotFormat,
  document: Uint8Array,
  expected: ExpectedShots,
): Promise<Shots & { readonly dropped: number }> {
  const json = jsonOf({ body: document });
  if (json === undefined) throw new BackendError('retryable', `${expected.jobId}: shots that are not JSON`);
  const list = format === 'v1' ? json : objectIn(json).shots;
  // An object holds a histogram or probabilities, from which no shots can be made.
  if (!Array.isArray(list))
    throw new BackendError('no_raw_shots', `${expected.jobId}: a result that is not a list of shots`);
  if (list.length !== expected.shots) throw refused(expected, `${list.length} shots of ${expected.shots}`);
  const read = format === 'v1' ? readNumber : readRegister;
  return packShots(list, expected.qubits, (shot) => read(shot, expected));
}

/** Reads a decimal number whose bit k, counted from the least significant, is qubit k. */
function readNumber(shot: unknown, expected: ExpectedShots): (qubit: number) => boolean {
  const { qubits } = expected;
  if (typeof shot !== 'string' || !/^\d{1,310}$/.test(shot))
    throw refused(expected, 'a shot that is not a number');
  const value = BigInt(shot); // up to 2^36 and more, too large for bit operations on a Number
  if (value >> BigInt(qubits) !== 0n) throw refused(expected, `a shot of more than ${qubits} qubits`);
  const bits = value.toString(2);
  return (qubit) => bits[bits.length - 1 - qubit] === '1';
}

/** Reads `output_all`, which holds every qubit, qubit 0 first. Returns null if an ion leaked. */
function readRegister(shot: unknown, expected: ExpectedShots): ((qubit: number) => boolean) | null {
  const { registers, leakage_bits: leakage } = objectIn(shot);
  if (Array.isArray(leakage) && leakage.some((bit) => bit !== 0)) return null;
  const bits = objectIn(registers).output_all;
  const isWhole = Array.isArray(bits) && bits.length === expected.qubits;
  if (!isWhole || !bits.every((bit) => bit === 0 || bit === 1)) {
    throw refused(expected, `a shot that is not ${expected.qubits} bits`);
  }
  return (qubit) => bits[qubit] === 1;
}

function refused({ jobId }: ExpectedShots, what: string): BackendError {
  return new BackendError('permanent', `${jobId}: ${what}`);
}
