import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dayOf, every, GuardedClock, periodEndMs, periodOf, systemWait } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { ManualClock } from '../support/manual-clock.ts';

it('systemWait ends after its time, or with the reason of its signal', async () => {
  await systemWait(0, new AbortController().signal);
  const stopping = new AbortController();
  const waiting = systemWait(3_600_000, stopping.signal);
  stopping.abort('stopped by the test');
  await assert.rejects(waiting, (error) => error === 'stopped by the test');
  await assert.rejects(systemWait(0, stopping.signal), (error) => error === 'stopped by the test');
});

it('a period is a calendar month in UTC, and its end is known', () => {
  const last = Date.UTC(2026, 11, 31, 23, 59, 59, 999);
  assert.equal(periodOf(last), 202612);
  assert.equal(periodEndMs(last), last + 1);
  assert.equal(periodOf(last + 1), 202701);
  assert.equal(dayOf(last + 1) - dayOf(last), 1);
});

describe('a guarded clock', () => {
  const DAY_MS = 86_400_000;
  const START_MS = Date.UTC(2026, 10, 22);

  /** A guarded clock over a manual one, on a machine whose time since boot goes with the monotonic time and its sleep. */
  function guarded() {
    const source = new ManualClock(START_MS, 5_000);
    const machine = { sleptMs: 0 };
    const clock = new GuardedClock(source, () => source.monotonic + machine.sleptMs + 60_000);
    return { source, machine, clock };
  }

  it('follows corrections of up to two minutes in either direction', () => {
    const { source, clock } = guarded();
    source.advance(1_000);
    source.wall += 120_000;
    assert.deepEqual([clock.wallMs(), clock.jumpMs()], [START_MS + 121_000, 0]);
    source.advance(1_000);
    source.wall -= 120_000;
    assert.deepEqual([clock.wallMs(), clock.jumpMs()], [START_MS + 2_000, 0]);
  });

  it('follows monotonic time when the system clock jumps, and reports the jump until the clock is back', () => {
    const { source, clock } = guarded();
    for (const jumpMs of [401 * DAY_MS, -401 * DAY_MS, 120_001]) {
      const beforeMs = clock.wallMs();
      source.wall += jumpMs;
      source.advance(60_000);
      assert.deepEqual([clock.wallMs(), clock.jumpMs()], [beforeMs + 60_000, jumpMs]);
      source.wall -= jumpMs;
      assert.deepEqual([clock.wallMs(), clock.jumpMs()], [beforeMs + 60_000, 0]);
    }
  });

  it('accepts a jump that the time since boot confirms, because the machine was suspended', () => {
    const { source, machine, clock } = guarded();
    source.wall += 3 * DAY_MS;
    machine.sleptMs = 3 * DAY_MS;
    assert.deepEqual([clock.wallMs(), clock.jumpMs()], [START_MS + 3 * DAY_MS, 0]);
    source.wall += 3 * DAY_MS; // and this time it was not
    source.advance(2_000);
    assert.deepEqual([clock.wallMs(), clock.jumpMs()], [START_MS + 3 * DAY_MS + 2_000, 3 * DAY_MS]);
  });

  it('does not drift from the monotonic clock over many small corrections', () => {
    const { source, clock } = guarded();
    for (let i = 0; i < 10_000; i++) {
      source.advance(1_000);
      source.wall += i % 2 === 0 ? 7 : -7;
      assert.equal(clock.wallMs(), source.wall);
    }
    source.wall += 10 * DAY_MS;
    assert.equal(clock.jumpMs(), 10 * DAY_MS);
  });
});

it('repeated work logs a lasting failure once a minute, and another one or the next at once', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const logged: unknown[] = [];
  const log = {
    ...silentLog,
    error: ({ reason }: Readonly<Record<string, unknown>>) => logged.push(reason),
  };
  let reason: string | undefined;
  const timer = every(250, log, 'do the work', async () => {
    if (reason !== undefined) throw new Error(reason);
  });
  const turns = async (count: number) => {
    for (let i = 0; i < count; i++) {
      t.mock.timers.tick(250);
      await new Promise(setImmediate); // the turn ends
    }
  };
  reason = 'a';
  await turns(240);
  assert.deepEqual(logged, ['a']);
  await turns(1);
  assert.deepEqual(logged, ['a', 'a']);
  reason = 'b';
  await turns(1);
  reason = undefined;
  await turns(1);
  reason = 'b';
  await turns(2);
  assert.deepEqual(logged, ['a', 'a', 'b', 'b']);
  clearInterval(timer);
});
