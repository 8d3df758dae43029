import { setImmediate as nextTurn } from 'node:timers/promises';
import { type JsonObject, listIn, objectIn } from '../../core/json.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import { BackendError } from '../backend.ts';
import { jsonOf } from '../http-call.ts';
import { ShotPacker, type Shots } from '../shots.ts';
import type { TaskPlan } from './plan.ts';

/** Gives an object of the task's folder, verbatim; rejects when there is none. */
export type ReadObject = (key: string) => Promise<Uint8Array<ArrayBuffer>>;

export interface ExpectedResult extends Pick<TaskPlan, 'qubits' | 'shots'> {
  readonly taskArn: string;
  /** Where the objects of the task lie, without a slash at the end. */
  readonly directory: string;
  /** Undefined when the service does not say. */
  readonly successfulShots: number | undefined;
}

export interface TaskResult {
  readonly shots: Shots;
  /** SHA-256 (hex) of the object. */
  readonly rawSha256: string;
}

const ONE_PROGRAM = 'braket.task_result.gate_model_task_result';

/**
 * Reads `results.json`. Only `measurements` counts: a result with
 * probabilities alone is refused, since shots made of them would be invented. Fewer shots than were asked for
 * are taken when the service itself counts so many as successful.
 */
export async function readResult(read: ReadObject, expected: ExpectedResult): Promise<TaskResult> {
  const key = `${expected.directory}/results.json`;
  const bytes = await read(key);
  const rawSha256 = sha256Hex(bytes);
  const json = jsonOf({ body: bytes });
  if (typeof json !== 'object' || json === null) {
    throw new BackendError('retryable', `${key} is not a JSON object`);
  }
  const result = json as JsonObject;
  const name = schemaOf(result);
  if (name !== ONE_PROGRAM) throw refused(expected, `a result of schema ${name}`);
  // A result that names another task is another task's.
  const { id } = objectIn(result.taskMetadata);
  if (id !== expected.taskArn) throw refused(expected, `a result of task ${wordOf(id)}`);
  const shots = await shotsOf(result, expected);
  if (shots.shots !== expected.shots && shots.shots !== expected.successfulShots) {
    const said = expected.successfulShots ?? 'an unknown number';
    throw refused(
      expected,
      `${shots.shots} shots, ${expected.shots} asked and ${said} counted as successful`,
    );
  }
  return { shots, rawSha256 };
}

/**
 * Bits checked and packed between two turns of the event loop: 1 ms where 4.2 Mbit took 80 ms in one go (Node
 * 22).
 */
const BITS_PER_TURN = 65_536;

async function shotsOf(measured: JsonObject, expected: ExpectedResult): Promise<Shots> {
  const { measurements } = measured;
  if (!Array.isArray(measurements)) {
    throw new BackendError('no_raw_shots', `${expected.taskArn}: a result without measurements by shot`);
  }
  if (measurements.length > expected.shots) {
    throw refused(expected, `${measurements.length} shots of ${expected.shots}`);
  }
  const columns = columnsOf(measured.measuredQubits, expected);
  const packer = new ShotPacker(columns.order.length, measurements.length);
  const shotsPerTurn = Math.ceil(BITS_PER_TURN / columns.count);
  for (const [shot, row] of measurements.entries()) {
    if (shot > 0 && shot % shotsPerTurn === 0) await nextTurn();
    if (!Array.isArray(row) || row.length !== columns.count || !row.every((bit) => bit === 0 || bit === 1)) {
      throw refused(expected, `a shot that is not ${columns.count} bits`);
    }
    packer.add((channel) => row[columns.order[channel]] === 1);
  }
  return packer.take();
}

/** The column of each channel: `measurements[shot][i]` is of `measuredQubits[i]`. */
function columnsOf(measuredQubits: unknown, expected: ExpectedResult): { order: number[]; count: number } {
  const measured = listIn(measuredQubits);
  const order = expected.qubits.map((qubit) => measured.indexOf(qubit));
  if (new Set(measured).size !== measured.length || order.includes(-1)) {
    throw refused(expected, 'measured qubits that are not those of the circuit');
  }
  return { order, count: measured.length };
}

function schemaOf(json: JsonObject): string {
  return wordOf(objectIn(json.braketSchemaHeader).name);
}

/** Not `String`, which calls what an object says is its toString. */
function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : 'no name';
}

function refused({ taskArn }: ExpectedResult, what: string): BackendError {
  return new BackendError('permanent', `${taskArn}: ${what}`.slice(0, 400));
}
