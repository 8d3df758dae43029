import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dayOf, ManualClock, periodEndMs, periodOf, systemClock } from '../../src/core/clock.ts';

describe('clocks and months', () => {
  it('name the calendar month in UTC and its end', () => {
    const last = Date.UTC(2026, 11, 31, 23, 59, 59, 999);
    assert.equal(periodOf(last), 202612);
    assert.equal(periodEndMs(last), last + 1);
    assert.equal(periodOf(last + 1), 202701);
    assert.equal(dayOf(last + 1) - dayOf(last), 1);
  });

  it('stand still until they are moved, and the real one goes on', () => {
    const clock = new ManualClock(5, 7);
    clock.advance(10);
    assert.deepEqual([clock.wallMs(), clock.monotonicMs()], [15, 17]);
    const first = systemClock.monotonicMs();
    assert.ok(systemClock.monotonicMs() >= first);
  });
});
