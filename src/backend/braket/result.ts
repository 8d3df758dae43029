import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type JsonObject, listIn, objectIn } from '../../core/json.ts';
import { BackendError } from '../backend.ts';
import { jsonOf } from '../http-call.ts';
import { type Part, type PartShots, ShotPacker } from '../parts.ts';
import type { TaskPlan } from './plan.ts';

/** Gives an object of the task's folder, verbatim; rejects when there is none. */
export type ReadObject = (key: string) => Promise<Uint8Array<ArrayBuffer>>;

export interface ExpectedResult extends Pick<TaskPlan, 'parts' | 'qubits' | 'shotsOfPart'> {
  readonly taskArn: string;
  /** Where the objects of the task lie, without a slash at the end. */
  readonly directory: string;
  /** Of the whole task; undefined when the service does not say. */
  readonly successfulShots: number | undefined;
}

export interface TaskResult {
  readonly parts: readonly PartShots[];
  /** SHA-256 (hex) of the objects read, in order. */
  readonly rawSha256: string;
}

const ONE_PROGRAM = 'braket.task_result.gate_model_task_result';
const PROGRAM_SET = 'braket.task_result.program_set_task_result';
const FAILED_PROGRAM = 'braket.task_result.program_set_executable_failure';

/**
 * Reads `results.json` and, for a program set, what it refers to. Only `measurements` counts: a result with
 * probabilities alone is refused, since shots made of them would be invented. Fewer shots than were asked for
 * are taken when the service itself counts so many as successful.
 */
export async function readResult(read: ReadObject, expected: ExpectedResult): Promise<TaskResult> {
  const objects = new Objects(read);
  const result = await objects.json(`${expected.directory}/results.json`);
  const name = schemaOf(result);
  const isOne = expected.parts.length === 1;
  if (name !== (isOne ? ONE_PROGRAM : PROGRAM_SET)) throw refused(expected, `a result of schema ${name}`);
  const measured = isOne ? [result] : await programResults(objects, result, expected);
  await checkTask(objects, result, expected);
  const parts: PartShots[] = [];
  for (const [at, part] of expected.parts.entries()) parts.push(await shotsOf(measured[at], part, expected));
  const total = parts.reduce((sum, { shots }) => sum + shots, 0);
  const asked = expected.parts.length * expected.shotsOfPart;
  if (total !== asked && total !== expected.successfulShots) {
    const said = expected.successfulShots ?? 'an unknown number';
    throw refused(expected, `${total} shots, ${asked} asked and ${said} counted as successful`);
  }
  return { parts, rawSha256: objects.sha256() };
}

/** Objects of the task's folder, hashed as they come, before anything decodes them. */
class Objects {
  readonly #read: ReadObject;
  readonly #hash = createHash('sha256');

  constructor(read: ReadObject) {
    this.#read = read;
  }

  async json(key: string): Promise<JsonObject> {
    const bytes = await this.#read(key);
    this.#hash.update(bytes);
    const value = jsonOf({ body: bytes });
    if (typeof value === 'object' && value !== null) return value as JsonObject;
    throw new BackendError('retryable', `${key} is not a JSON object`);
  }

  /** The value itself, or the object at that path below `folder`. */
  async follow(
    value: unknown,
    folder: string,
  ): Promise<{ readonly json: JsonObject; readonly folder: string }> {
    if (typeof value !== 'string') return { json: objectIn(value), folder };
    const key = `${folder}/${value}`;
    return { json: await this.json(key), folder: key.slice(0, key.lastIndexOf('/')) };
  }

  sha256(): string {
    return this.#hash.digest('hex');
  }
}

/**
 * The executable of every program, in order: results.json → programs/i/results.json →
 * programs/i/executables/0.json.
 */
async function programResults(
  objects: Objects,
  result: JsonObject,
  expected: ExpectedResult,
): Promise<JsonObject[]> {
  const programs = listIn(result.programResults);
  if (programs.length !== expected.parts.length) {
    throw refused(expected, `${programs.length} programs of ${expected.parts.length}`);
  }
  const measured: JsonObject[] = [];
  for (const each of programs) {
    const program = await objects.follow(each, expected.directory);
    const executables = listIn(program.json.executableResults);
    if (executables.length !== 1) throw refused(expected, `a program with ${executables.length} results`);
    measured.push((await objects.follow(executables[0], program.folder)).json);
  }
  return measured;
}

/** A result that names another task is another task's. */
async function checkTask(objects: Objects, result: JsonObject, expected: ExpectedResult): Promise<void> {
  const { json: metadata } = await objects.follow(result.taskMetadata, expected.directory);
  if (metadata.id !== expected.taskArn) throw refused(expected, `a result of task ${wordOf(metadata.id)}`);
}

/**
 * Bits checked and packed between two turns of the event loop: 1 ms where 4.2 Mbit took 80 ms in one go (Node
 * 22).
 */
const BITS_PER_TURN = 65_536;

async function shotsOf(measured: JsonObject, part: Part, expected: ExpectedResult): Promise<PartShots> {
  if (schemaOf(measured) === FAILED_PROGRAM) return { part, bits: new Uint8Array(0), shots: 0 };
  const { measurements } = measured;
  if (!Array.isArray(measurements)) {
    throw new BackendError('no_raw_shots', `${expected.taskArn}: a result without measurements by shot`);
  }
  if (measurements.length > expected.shotsOfPart) {
    throw refused(expected, `${measurements.length} shots of ${expected.shotsOfPart}`);
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
  return packer.take(part);
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
