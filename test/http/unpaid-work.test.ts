import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../src/core/errors.ts';
import { UnpaidWork } from '../../src/http/unpaid-work.ts';

describe('work that nobody is known to pay for', () => {
  it('runs one piece at a time, in order, and refuses what exceeds the queue', async () => {
    const work = new UnpaidWork({ monotonicMs: () => 0 });
    const ran: number[] = [];
    let running = 0;
    const pieces = Array.from({ length: 40 }, (_, i) =>
      work.run(async () => {
        assert.equal(++running, 1);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        ran.push(i);
        if (i === 3) throw new Error('of the work');
      }),
    );
    const outcomes = await Promise.allSettled(pieces);
    assert.deepEqual(
      ran,
      Array.from({ length: 32 }, (_, i) => i),
    );
    for (const [i, outcome] of outcomes.entries()) {
      if (i === 3) assert.equal((outcome as PromiseRejectedResult).reason.message, 'of the work');
      else if (i < 32) assert.equal(outcome.status, 'fulfilled');
      else {
        const { reason } = outcome as PromiseRejectedResult;
        assert.ok(reason instanceof ApiError && reason.code === 'overloaded');
      }
    }
    assert.equal(await work.run(() => 7), 7, 'there is room again');
  });

  it('leaves the thread seven times as long as a piece took before the next', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    const work = new UnpaidWork({ monotonicMs: () => nowMs });
    await work.run(() => {
      nowMs += 20;
    });
    let hasBegun = false;
    const next = work.run(() => {
      hasBegun = true;
    });
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(139);
    await settle();
    assert.equal(hasBegun, false);
    t.mock.timers.tick(1);
    await next;
    assert.equal(hasBegun, true);
  });
});
