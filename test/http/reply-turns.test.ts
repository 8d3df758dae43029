import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Budget } from '../../src/fair/budget.ts';
import { ReplyTurns } from '../../src/http/reply-turns.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** Asks for so many unpaid replies at once; the numbers of those that were written are in the list. */
function unpaid(turns: ReplyTurns, count: number, whose = -1): number[] {
  const written: number[] = [];
  for (let i = 0; i < count; i++) {
    if (turns.hasRoomForUnpaid()) written.push(i);
    else turns.afterUnpaid(() => written.push(i), whose);
  }
  return written;
}

/** Calls `step` until as many are written, and gives how often. */
async function stepsUntil(
  written: readonly number[],
  count: number,
  step: () => void | Promise<void>,
): Promise<number> {
  let steps = 0;
  for (; written.length < count; steps++) {
    assert.ok(steps < 1_000, 'every reply is written some time');
    await step();
  }
  return steps;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('replies that no account pays for', () => {
  const tickOf = (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    return () => t.mock.timers.tick(1);
  };

  it('leave at once while nobody pays', () => {
    assert.equal(unpaid(new ReplyTurns(new ManualClock()), 32).length, 32);
  });

  it('leave a millisecond apart beside paid ones, however many turns the loop makes', async (t) => {
    const tick = tickOf(t);
    const turns = new ReplyTurns(new ManualClock());
    turns.paid();
    const written = unpaid(turns, 32);
    for (let i = 0; i < 100; i++) await nextTurn();
    assert.equal(written.length, 1);
    assert.equal(await stepsUntil(written, 32, tick), 31);
    assert.deepEqual(written, [...Array(32).keys()]);
  });

  it('leave four a millisecond where 4,000 wait, and are all sent within 3,000', async (t) => {
    const tick = tickOf(t);
    const turns = new ReplyTurns(new ManualClock());
    const written: number[] = [];
    turns.paid();
    assert.ok(turns.hasRoomForUnpaid());
    for (let i = 0; i < 4_000; i++) turns.afterUnpaid(() => written.push(i), -1);
    let steps = 0;
    for (; written.length < 4_000; steps++) {
      assert.ok(steps < 3_000);
      if (steps % 32 === 0) turns.paid();
      const before = written.length;
      tick();
      assert.ok(written.length - before <= 4, `${written.length - before} replies in a turn`);
    }
    assert.ok(steps > 2_000, `${steps} turns`);
  });

  it('wait three times as long as it took to make others, and no longer than 100 ms', (t) => {
    const tick = tickOf(t);
    const clock = new ManualClock();
    const turns = new ReplyTurns(clock);
    turns.paid();
    assert.ok(turns.hasRoomForUnpaid());
    let written = 0;
    for (let i = 0; i < 30; i++) {
      turns.afterUnpaid(() => {
        written++;
        turns.spendOnUnpaid(() => clock.advance(6));
      }, -1);
    }
    for (let ms = 0; ms < 190; ms++) tick();
    const before = written;
    assert.ok(before >= 9 && before <= 11, `${before} in 190 ms, of which a page and its pause take 19`);
    turns.spendOnUnpaid(() => clock.advance(60_000));
    for (let ms = 0; ms < 120; ms++) tick();
    assert.equal(written - before, 2, 'a pause of 100 ms and not of minutes');
  });

  it('wait for one of every other account, not for all that another has waiting', (t) => {
    const tick = tickOf(t);
    const turns = new ReplyTurns(new ManualClock());
    turns.paid();
    const flood = unpaid(turns, 900);
    const refused = unpaid(turns, 2, 7);
    for (let i = 0; i < 4; i++) tick();
    assert.deepEqual(
      [flood, refused],
      [
        [0, 1, 2],
        [0, 1],
      ],
    );
  });

  it('hold the memory of a body once, however many wait with it', () => {
    const turns = new ReplyTurns(new ManualClock());
    const memory = new Budget(6_000);
    const shared = new Uint8Array(5_000);
    const totals = [shared, shared.subarray(9), new Uint8Array(7)].map((body, owner) => {
      assert.ok(turns.retain(body, memory, owner));
      return memory.total;
    });
    assert.deepEqual(totals, [5_000, 5_000, 5_007]);
    assert.equal(turns.retain(new Uint8Array(1_000), memory, 3), false);
    turns.letGo(shared);
    assert.equal(memory.total, 5_007);
    turns.letGo(shared);
    assert.equal(memory.total, 7);
  });

  it('leave at once again when nobody has paid for 64 turns', async (t) => {
    const tick = tickOf(t);
    const turns = new ReplyTurns(new ManualClock());
    turns.paid();
    await stepsUntil(unpaid(turns, 60), 60, tick);
    for (let i = 0; i < 10; i++) {
      unpaid(turns, 1);
      tick();
      await nextTurn();
    }
    assert.equal(unpaid(turns, 20).length, 20);
  });
});

describe('the turn of the loop in which a request comes', () => {
  it('has the time of its first request, and the next turn a time of its own', async () => {
    const now = { wallMs: 1_000, monotonicMs: 5 };
    const turns = new ReplyTurns({ wallMs: () => now.wallMs, monotonicMs: () => now.monotonicMs });
    const first = turns.current();
    Object.assign(now, { wallMs: 1_004, monotonicMs: 9 });
    assert.equal(turns.current(), first);
    assert.deepEqual(first, { wallMs: 1_000, monotonicMs: 5 });
    await nextTurn();
    assert.deepEqual(turns.current(), { wallMs: 1_004, monotonicMs: 9 });
  });
});
