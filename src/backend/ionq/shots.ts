import { setImmediate as nextTurn } from 'node:timers/promises';
import { objectIn } from '../../core/json.ts';
import { BackendError } from '../backend.ts';
import { jsonOf } from '../http-call.ts';
import { ShotPacker, type Shots } from '../shots.ts';

/** `v1`: decimal numbers, one a shot. `v2`: registers of bits, one a shot, and what leaked. */
export type ShotFormat = 'v1' | 'v2';

export interface ExpectedShots {
  readonly jobId: string;
  readonly qubits: number;
  /** Shots that were run: exactly so many must be there. */
  readonly shots: number;
}

export interface DecodedShots {
  readonly shots: Shots;
  /** Shots that were dropped because an ion had left its two states. */
  readonly leaked: number;
}

/** Shots decoded between two turns of the event loop: about 1 ms of 36 qubits. */
const SHOTS_PER_TURN = 2_000;

/** Decodes one document of shots. Anything but one whole outcome for each shot is refused. */
export async function decodeShots(
  format: ShotFormat,
  document: Uint8Array,
  expected: ExpectedShots,
): Promise<DecodedShots> {
  const list = shotsIn(format, document, expected);
  if (list.length !== expected.shots) throw refused(expected, `${list.length} shots of ${expected.shots}`);
  const packer = new ShotPacker(expected.qubits, list.length);
  const add = format === 'v1' ? addNumber : addRegister;
  let leaked = 0;
  for (const [at, shot] of list.entries()) {
    if (at > 0 && at % SHOTS_PER_TURN === 0) await nextTurn();
    if (!add(packer, shot, expected)) leaked++;
  }
  return { shots: packer.take(), leaked };
}

function shotsIn(format: ShotFormat, document: Uint8Array, expected: ExpectedShots): readonly unknown[] {
  const json = jsonOf({ body: document });
  if (json === undefined) throw new BackendError('retryable', `${expected.jobId}: shots that are not JSON`);
  const list = format === 'v1' ? json : objectIn(json).shots;
  // A histogram or probabilities are an object: nobody makes shots of them.
  if (!Array.isArray(list))
    throw new BackendError('no_raw_shots', `${expected.jobId}: a result that is not a list of shots`);
  return list;
}

/** A decimal number whose bit k, counted from the least significant, is qubit k. */
function addNumber(packer: ShotPacker, shot: unknown, expected: ExpectedShots): boolean {
  const { qubits } = expected;
  if (typeof shot !== 'string' || !/^\d{1,310}$/.test(shot))
    throw refused(expected, 'a shot that is not a number');
  const value = BigInt(shot); // 2^36 and more: no bit operation on a Number reaches that far
  if (value >> BigInt(qubits) !== 0n) throw refused(expected, `a shot of more than ${qubits} qubits`);
  const bits = value.toString(2);
  packer.add((qubit) => bits[bits.length - 1 - qubit] === '1');
  return true;
}

/** `output_all` holds every qubit, the first one first. False when the shot leaked and was dropped. */
function addRegister(packer: ShotPacker, shot: unknown, expected: ExpectedShots): boolean {
  const { registers, leakage_bits: leakage } = objectIn(shot);
  if (Array.isArray(leakage) && leakage.some((bit) => bit !== 0)) return false;
  const bits = objectIn(registers).output_all;
  const isWhole = Array.isArray(bits) && bits.length === expected.qubits;
  if (!isWhole || !bits.every((bit) => bit === 0 || bit === 1)) {
    throw refused(expected, `a shot that is not ${expected.qubits} bits`);
  }
  packer.add((qubit) => bits[qubit] === 1);
  return true;
}

function refused({ jobId }: ExpectedShots, what: string): BackendError {
  return new BackendError('permanent', `${jobId}: ${what}`);
}
