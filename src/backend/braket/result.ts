import { isObject, type JsonObject, listIn, objectIn } from '../../core/json.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import { BackendError } from '../backend.ts';
import { jsonOf } from '../provider.ts';
import { packShots, type Shots } from '../shots.ts';
import type { TaskPlan } from './plan.ts';

export interface ExpectedResult extends Pick<TaskPlan, 'qubits' | 'shots'> {
  readonly taskArn: string;
  /** Undefined if the service does not say. */
  readonly successfulShots: number | undefined;
}

const ONE_PROGRAM = 'braket.task_result.gate_model_task_result';

/**
 * Resolves to the shots of `results.json`, and its SHA-256 (hex). Reads only `measurements`: a result with
 * probabilities alone is refused, since shots made of them would be invented. Accepts fewer shots than were asked for
 * if the service counts as many as successful.
 */
export async function readResult(
  document: Uint8Array,
  expected: ExpectedResult,
): Promise<{ readonly shots: Shots; readonly rawSha256: string }> {
  const rawSha256 = sha256Hex(document);
  const result = jsonOf({ body: document });
  if (!isObject(result)) {
    throw new BackendError('retryable', `${expected.taskArn}: a result that is not a JSON object`);
  }
  const name = wordOf(objectIn(result.braketSchemaHeader).name);
  if (name !== ONE_PROGRAM) throw refused(expected, `a result of schema ${name}`);
  // The result must name the task.
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

async function shotsOf(measured: JsonObject, expected: ExpectedResult): Promise<Shots> {
  const { measurements } = measured;
  if (!Array.isArray(measurements)) {
    throw new BackendError('no_raw_shots', `${expected.taskArn}: a result without measurements by shot`);
  }
  if (measurements.length > expected.shots) {
    throw refused(expected, `${measurements.length} shots of ${expected.shots}`);
  }
  const { order, count } = columnsOf(measured.measuredQubits, expected);
  return packShots(measurements, order.length, (row: unknown) => {
    if (!Array.isArray(row) || row.length !== count || !row.every((bit) => bit === 0 || bit === 1)) {
      throw refused(expected, `a shot that is not ${count} bits`);
    }
    return (channel) => row[order[channel]] === 1;
  });
}

/** Returns the column of each channel. `measurements[shot][i]` is the bit of `measuredQubits[i]`. */
function columnsOf(measuredQubits: unknown, expected: ExpectedResult): { order: number[]; count: number } {
  const measured = listIn(measuredQubits);
  const order = expected.qubits.map((qubit) => measured.indexOf(qubit));
  if (new Set(measured).size !== measured.length || order.includes(-1)) {
    throw refused(expected, 'measured qubits that are not those of the circuit');
  }
  return { order, count: measured.length };
}

/** Returns a text as it is. Does not use `String`, which would call a toString member of the reply. */
function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : 'no name';
}

function refused({ taskArn }: ExpectedResult, what: string): BackendError {
  return new BackendError('permanent', `${taskArn}: ${what}`.slice(0, 400));
}
