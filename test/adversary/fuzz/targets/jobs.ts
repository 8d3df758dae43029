import assert from 'node:assert/strict';
import { BackendError } from '../../../../src/backend/backend.ts';
import { type ExpectedResult, readResult } from '../../../../src/backend/braket/result.ts';
import { decodeShots } from '../../../../src/backend/ionq/shots.ts';
import type { PartShots } from '../../../../src/backend/parts.ts';
import { backendRefusal } from './backend.ts';
import { type FuzzTarget, JSON_WORDS } from './target.ts';

const SHOTS = 4;
const ONE: ExpectedResult = {
  taskArn: 'task',
  directory: 'd',
  parts: ['bits'],
  qubits: [3, 5, 7],
  shotsOfPart: SHOTS,
  successfulShots: undefined,
};
/** Two programs, of which one may have failed. */
const SET: ExpectedResult = { ...ONE, parts: ['bits', 'x-test'], successfulShots: SHOTS };

/** An odd first byte: the task was one program. The rest is its results.json; nothing else is there. */
const braket: FuzzTarget = {
  name: 'braket-result',
  words: [...JSON_WORDS, 'braket.task_result.program_set_executable_failure', '"results.json"'],
  read: async (input) => {
    const expected = ((input[0] ?? 0) & 1) === 1 ? ONE : SET;
    const read = async (key: string) => {
      if (key !== 'd/results.json') throw new BackendError('retryable', 'there is no such object');
      return input.slice(1);
    };
    try {
      const { parts, rawSha256 } = await readResult(read, expected);
      assert.match(rawSha256, /^[0-9a-f]{64}$/);
      const shots = parts.reduce((sum, each) => sum + each.shots, 0);
      assert.ok(shots === SHOTS * parts.length || shots === expected.successfulShots, 'no shot is missing');
      for (const part of parts) assertPacked(part, expected.qubits.length);
      return `${parts.length} parts, ${shots} shots`;
    } catch (error) {
      return backendRefusal(error);
    }
  },
};

/** An odd first byte: numbers; an even one: registers. */
const ionq: FuzzTarget = {
  name: 'ionq-shots',
  words: [...JSON_WORDS, '"8"'],
  read: async (input) => {
    const format = ((input[0] ?? 0) & 1) === 1 ? 'v1' : 'v2';
    try {
      const expected = { jobId: 'job', part: 'bits', qubits: 3, shots: SHOTS } as const;
      const { shots, leaked } = await decodeShots(format, input.slice(1), expected);
      assert.equal(shots.shots + leaked, SHOTS, 'each shot is there or is counted as leaked');
      assertPacked(shots, expected.qubits);
      return `${format}: ${leaked} leaked`;
    } catch (error) {
      return backendRefusal(error);
    }
  },
};

/** Bits of every shot, and nothing behind the last. */
function assertPacked({ bits, shots }: PartShots, width: number): void {
  assert.equal(bits.length, Math.ceil((shots * width) / 8));
  const unused = 8 * bits.length - shots * width;
  if (unused > 0) assert.equal(bits[bits.length - 1] & (2 ** unused - 1), 0, 'no bit behind the last shot');
}

export const JOB_TARGETS: readonly FuzzTarget[] = [braket, ionq];
