import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RawRead } from '../../../src/backend/backend.ts';
import { HealthMonitor, type HealthVerdict } from '../../../src/pool/intake/health.ts';
import { PlainHealth } from '../../reference/health.ts';
import { fixedBytes, rawRead, repeatingBackend, soundBackend, stuckBackend } from '../../support/backends.ts';
import { packBits } from '../../support/bit-sequences.ts';
import { countingTurns } from '../fixtures.ts';

const NEVER = new AbortController().signal;
const MBIT = 1024 * 1024;

function packed(shots: readonly (readonly number[])[]): RawRead {
  return rawRead(packBits(shots.flat()), shots[0].length, shots.length);
}

const alarmsOf = (verdict: HealthVerdict) =>
  verdict.failures.map(({ test, channel, observed }) => `${test} ${channel} ${observed}`);

test('the fast tests raise the alarms of the plain ones for any reads', () => {
  const reads = fc.array(
    fc.record({
      shots: fc.integer({ min: 1, max: 2600 }),
      ones256: fc.constantFrom(96, 128, 128, 150, 163, 215, 250),
      label: fc.string({ maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.constantFrom(1, 0.8, 0.5), reads, (width, h, sequence) => {
      const plain = new PlainHealth(width, h);
      const monitor = new HealthMonitor({ width, minEntropyPerBit: h });
      for (const [index, { shots, ones256, label }] of sequence.entries()) {
        const levels = new Uint8Array(shots * width);
        fixedBytes(`${index} ${label}`)(levels);
        const rows = Array.from({ length: shots }, (_, shot) =>
          Array.from(levels.subarray(shot * width, (shot + 1) * width), (level) => (level < ones256 ? 1 : 0)),
        );
        const verdict = monitor.check(packed(rows));
        const expected = plain.check(rows);
        assert.deepEqual(alarmsOf(verdict), expected.alarms);
        if (monitor.state().intermittentInARow < 5) assert.equal(verdict.grade, expected.grade);
        if (verdict.grade === 'permanent') return; // latched: the twin knows no latch
      }
    }),
    { numRuns: 120 },
  );
});

test('checkInSlices gives the verdict of check, with turns of the event loop between slices', async () => {
  for (const backend of [soundBackend('slices'), stuckBackend()]) {
    const read = await backend.read(MBIT, NEVER);
    const options = { width: read.width, minEntropyPerBit: 0.8 };
    const whole = new HealthMonitor(options);
    const sliced = new HealthMonitor(options);
    const { result: verdict, turns } = await countingTurns(() => sliced.checkInSlices(read));
    assert.deepEqual(verdict, whole.check(read));
    assert.deepEqual(sliced.state(), whole.state());
    assert.ok(turns > 0);
  }
});

test('a sound source passes, and its counters state what was tested', async () => {
  const monitor = new HealthMonitor({ width: 16, minEntropyPerBit: 1 });
  const sound = soundBackend();
  const first = monitor.check(await sound.read(MBIT, NEVER));
  const second = monitor.check(await sound.read(MBIT, NEVER));
  assert.deepEqual([first.grade, second.grade, first.failures], ['pass', 'pass', []]);
  const { longestRun, mostMatches, ...rest } = first.counters;
  assert.deepEqual(rest, {
    samples: MBIT,
    rctFailures: 0,
    aptFailures: 0,
    startupFailures: 0,
    replayFailures: 0,
  });
  assert.ok(longestRun >= 12 && longestRun < 31 && mostMatches > 512 && mostMatches < 609);
});

test('a repeat is recognized for 64 reads, but not among reads too short to differ by chance', () => {
  const read = (label: string, shots: number) => {
    const bits = new Uint8Array(shots / 8);
    fixedBytes(label)(bits);
    return rawRead(bits, 1, shots);
  };
  const monitor = new HealthMonitor({ width: 1, minEntropyPerBit: 1 });
  monitor.check(read('first', 2048));
  for (let i = 0; i < 63; i++) assert.equal(monitor.check(read(`other ${i}`, 2048)).grade, 'pass');
  assert.deepEqual(alarmsOf(monitor.check(read('first', 2048))), ['replay null 64']);
  const short = new HealthMonitor({ width: 1, minEntropyPerBit: 1 });
  short.check(read('startup', 1024));
  for (let i = 0; i < 3; i++)
    assert.equal(short.check(rawRead(Uint8Array.of(0x53, 0x53, 0x53, 0x53), 1, 32)).grade, 'pass');
});

test('a permanent failure is final: a sound read is refused without a test', async () => {
  const monitor = new HealthMonitor({ width: 16, minEntropyPerBit: 1 });
  monitor.check(await stuckBackend().read(MBIT, NEVER));
  const refused = monitor.check(await soundBackend('after the repair').read(MBIT, NEVER));
  assert.equal(refused.grade, 'permanent');
  assert.equal(refused.counters.samples, 0);
  assert.equal(monitor.state().latchedBy.length, 2);
});

test('the state is plain JSON, and its counts add up', async () => {
  const monitor = new HealthMonitor({ width: 16, minEntropyPerBit: 1 });
  const repeating = repeatingBackend();
  for (let i = 0; i < 2; i++) monitor.check(await repeating.read(MBIT, NEVER));
  const state = monitor.state();
  assert.deepEqual(JSON.parse(JSON.stringify(state)), state);
  assert.deepEqual(
    [
      state.reads,
      state.intermittentReads,
      state.intermittentInARow,
      state.startupPassed,
      state.totals.samples,
    ],
    [2, 1, 1, true, MBIT],
  );
  assert.deepEqual(
    [state.rctCutoffs, state.aptCutoffs],
    [
      { intermittent: 31, permanent: 61 },
      { intermittent: 609, permanent: 652 },
    ],
  );
});

test('the monitor throws for a claim outside (0, 1], another layout or a read that is not its shots', () => {
  for (const minEntropyPerBit of [0, -1, 1.01, Number.NaN, 1e-9]) {
    assert.throws(() => new HealthMonitor({ width: 1, minEntropyPerBit }), /InvariantError/);
  }
  const monitor = new HealthMonitor({ width: 2, minEntropyPerBit: 1 });
  assert.throws(() => monitor.check(rawRead(new Uint8Array(4), 1, 32)), /one channel layout/);
  assert.throws(() => monitor.check(rawRead(new Uint8Array(4), 2, 17)), /exactly its shots/);
  assert.throws(() => monitor.check(rawRead(new Uint8Array(4), 2, 8)), /exactly its shots/);
});
