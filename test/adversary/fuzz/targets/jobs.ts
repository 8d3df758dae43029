import assert from 'node:assert/strict';
import { type ExpectedResult, readResult } from '../../../../src/backend/braket/result.ts';
import { decodeShots } from '../../../../src/backend/ionq/shots.ts';
import type { Shots } from '../../../../src/backend/shots.ts';
import { backendRefusal } from './backend.ts';
import { type FuzzTarget, JSON_WORDS } from './target.ts';

const SHOTS = 4;
const TASK: ExpectedResult = {
  taskArn: 'task',
  qubits: [3, 5, 7],
  shots: SHOTS,
  successfulShots: undefined,
};
/** With an odd first byte the service counts one shot as lost. The rest is results.json. */
const braket: FuzzTarget = {
  name: 'braket-result',
  words: JSON_WORDS,
  read: async (input) => {
    const isShort = ((input[0] ?? 0) & 1) === 1;
    const expected = isShort ? { ...TASK, successfulShots: SHOTS - 1 } : TASK;
    try {
      const { shots, rawSha256 } = await readResult(input.slice(1), expected);
      assert.match(rawSha256, /^[0-9a-f]{64}$/);
      assert.ok(shots.shots === SHOTS || shots.shots === expected.successfulShots, 'no shot is missing');
      assertPacked(shots, expected.qubits.length);
      return `${shots.shots} shots`;
    } catch (error) {
      return backendRefusal(error);
    }
  },
};

/** With an odd first byte the result is numbers, with an even one registers. */
const ionq: FuzzTarget = {
  name: 'ionq-shots',
  words: [...JSON_WORDS, '"8"'],
  read: async (input) => {
    const format = ((input[0] ?? 0) & 1) === 1 ? 'v1' : 'v2';
    try {
      const expected = { jobId: 'job', qubits: 3, shots: SHOTS } as const;
      const { dropped, ...shots } = await decodeShots(format, input.slice(1), expected);
      assert.equal(shots.shots + dropped, SHOTS, 'each shot is there or is counted as leaked');
      assertPacked(shots, expected.qubits);
      return `${format}: ${dropped} leaked`;
    } catch (error) {
      return backendRefusal(error);
    }
  },
};

/** Checks the bits of every shot, and that nothing follows the last. */
function assertPacked({ bits, shots }: Shots, width: number): void {
  assert.equal(bits.length, Math.ceil((shots * width) / 8));
  const unused = 8 * bits.length - shots * width;
  if (unused > 0) assert.equal(bits[bits.length - 1] & (2 ** unused - 1), 0, 'no bit behind the last shot');
}

export const JOB_TARGETS: readonly FuzzTarget[] = [braket, ionq];
