import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Account } from '../../src/account/directory.ts';
import { AccountShares } from '../../src/http/account-shares.ts';
import { DrawTurns, sharedTurn } from '../../src/http/draw-turns.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { ManualClock } from '../support/manual-clock.ts';

const accounts = Array.from({ length: 40 }, (_, number) => ({ record: { number } }) as Account);

/** Requests of account `number`; only their account is looked at. */
function requests(number: number, count: number) {
  return Array.from({ length: count }, () => ({
    number,
    exchange: { account: accounts[number] } as Exchange,
  }));
}

const numbersOf = (ready: readonly { readonly number: number }[]) => ready.map(({ number }) => number);

describe('requests for values that are ready in one turn', () => {
  it('are all served when they are of one account', () => {
    assert.equal(sharedTurn(requests(1, 500)).now.length, 500);
  });

  it('are served up to half of the turn for each account, in the order in which they came', () => {
    const { now, later } = sharedTurn([...requests(1, 32), ...requests(2, 10)]);
    assert.deepEqual(numbersOf(now), [...Array(10).fill(1), ...Array(10).fill(2)]);
    assert.deepEqual(numbersOf(later), Array(22).fill(1));
  });

  it('are served eight at least of each account', () => {
    assert.equal(sharedTurn([...requests(1, 32), ...requests(2, 1)]).now.length, 9);
  });

  it('are all served when no account has more than half of them', () => {
    const ready = accounts.flatMap((_, number) => requests(number, 10));
    assert.equal(sharedTurn(ready).now.length, 400);
  });

  it('are each served once, in the turn of the loop in which they came or later', async () => {
    const { add, served, sizes, turns } = turnsOf(new ManualClock());
    for (const each of [...requests(1, 30), ...requests(2, 9)]) add(each);
    assert.equal(await turns(39), 2, 'at once, but for those beyond the half of a turn');
    assert.deepEqual(sizes, [18, 21], 'alone, an account has the whole turn');
    assert.deepEqual(
      [1, 2].map((number) => served.filter((each) => each === number).length),
      [30, 9],
    );
  });

  it('are served while their account has time of the loop, by what its requests took before', async () => {
    const clock = new ManualClock();
    const { add, served, turns } = turnsOf(clock, ({ number }) => clock.advance(number === 1 ? 5 : 0));
    for (const each of [...requests(2, 1), ...requests(1, 8)]) add(each);
    await turns(3);
    assert.deepEqual(served, [2, 1, 1], 'nothing is known of the first, the second is charged with 5 ms');
    for (const each of requests(3, 1)) add(each);
    await turns(4);
    assert.equal(served.at(-1), 3, 'of 5 ms, 10 ms have made good a third');
    clock.advance(2.1);
    await turns(5);
    assert.equal(served.at(-1), 1, 'the account owes less than a millisecond');
    clock.advance(1_000);
    await turns(10);
  });

  it('are served before those of an account that owes some of its time', async () => {
    const clock = new ManualClock();
    const { add, served, turns } = turnsOf(clock, () => clock.advance(0.3));
    for (const each of [...requests(2, 1), ...requests(1, 3)]) add(each);
    await turns(4);
    for (const each of [...requests(1, 2), ...requests(3, 2)]) add(each);
    await turns(8);
    assert.deepEqual(served.slice(4), [3, 3, 1, 1]);
  });

  it('are late when they were held for longer than a large answer may wait for its turn', async () => {
    const clock = new ManualClock();
    const late: number[] = [];
    const { add, served } = turnsOf(clock, ({ number, exchange }) => {
      clock.advance(number === 1 ? 20 : 0);
      if (exchange.isLate) late.push(served.filter((each) => each === 1).length);
    });
    for (const each of requests(1, 15)) add(each);
    for (let passedMs = 0; passedMs < 800; passedMs++) {
      for (const each of requests(2, 1)) add(each);
      clock.advance(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // two at once, then one whenever less than 1 ms of what may be owed is left, which is every 47 ms
    assert.deepEqual(late, [13, 14, 15]);
  });

  it('have no such bound when nobody else has asked for a while', async () => {
    const clock = new ManualClock();
    const { add, sizes, turns } = turnsOf(clock, () => clock.advance(0.4));
    for (const each of [...requests(2, 1), ...requests(1, 1)]) add(each);
    await turns(2);
    clock.advance(1_000);
    for (const each of requests(1, 100)) add(each);
    await turns(102);
    assert.deepEqual(sizes, [2, 100]);
  });
});

/** Turns whose requests take as long as `serve` says, and what was served in each of them. */
function turnsOf(clock: ManualClock, serve: (each: ReturnType<typeof requests>[number]) => void = () => {}) {
  const served: number[] = [];
  const sizes: number[] = [];
  let size = 0;
  const shares = new AccountShares(clock);
  const waiting = new DrawTurns(clock, shares, () => {
    sizes.push(size);
    size = 0;
  });
  const add = (each: ReturnType<typeof requests>[number]) =>
    waiting.add(each.exchange, () => {
      size++;
      served.push(each.number);
      serve(each);
    });
  /** Turns of the loop until so many were served. */
  const turns = async (count: number) => {
    let passed = 0;
    for (; served.length < count; passed++) {
      assert.ok(passed < 10_000, 'all are served');
      await new Promise((resolve) => setImmediate(resolve));
    }
    return passed;
  };
  return { add, served, sizes, turns };
}
