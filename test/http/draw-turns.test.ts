import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Account } from '../../src/account/directory.ts';
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

  it('are each served once, after two turns of the loop or later', async () => {
    const { waiting, served, sizes, turns } = turnsOf(new ManualClock());
    for (const each of [...requests(1, 30), ...requests(2, 9)]) waiting.add(each);
    assert.equal(await turns(39), 3, 'their connections were read once more, and half of them waited');
    assert.deepEqual(sizes, [18, 21], 'alone, an account has the whole turn');
    assert.deepEqual(
      [1, 2].map((number) => served.filter((each) => each === number).length),
      [30, 9],
    );
  });

  it('take a millisecond of an account and turn while others ask too, in the order in which they came', async () => {
    const clock = new ManualClock();
    const { waiting, served, sizes, turns } = turnsOf(clock, ({ number }) =>
      clock.advance(number === 1 ? 0.4 : 0.1),
    );
    for (const each of [...requests(2, 8), ...requests(1, 8)]) waiting.add(each);
    await turns(16);
    assert.deepEqual(sizes, [11, 3, 2]);
    assert.deepEqual(served, [...Array(8).fill(2), ...Array(8).fill(1)]);
  });

  it('are late when they were held for longer than a front may be busy', async () => {
    const clock = new ManualClock();
    const late: number[] = [];
    const { waiting, turns } = turnsOf(clock, ({ number, exchange }) => {
      clock.advance(number === 1 ? 10 : 0.01);
      if (exchange.isLate) late.push(number);
    });
    for (const each of [...requests(2, 1), ...requests(1, 8)]) waiting.add(each);
    await turns(9);
    assert.deepEqual(
      late,
      [1, 1, 1],
      'the first began at 0 ms, so the last three begin after 50, 60 and 70 ms',
    );
  });

  it('have no such bound when nobody else has asked for a while', async () => {
    const clock = new ManualClock();
    const { waiting, sizes, turns } = turnsOf(clock, () => clock.advance(0.4));
    for (const each of [...requests(2, 1), ...requests(1, 1)]) waiting.add(each);
    await turns(2);
    clock.advance(1_000);
    for (const each of requests(1, 100)) waiting.add(each);
    await turns(102);
    assert.deepEqual(sizes, [2, 100]);
  });
});

/** Turns whose requests take as long as `serve` says, and what was served in each of them. */
function turnsOf(clock: ManualClock, serve: (each: ReturnType<typeof requests>[number]) => void = () => {}) {
  const served: number[] = [];
  const sizes: number[] = [];
  let size = 0;
  const waiting = new DrawTurns<ReturnType<typeof requests>[number]>(clock, {
    serve(each) {
      size++;
      served.push(each.number);
      serve(each);
    },
    endTurn() {
      sizes.push(size);
      size = 0;
    },
  });
  /** Turns of the loop until so many were served. */
  const turns = async (count: number) => {
    let passed = 0;
    for (; served.length < count; passed++) {
      assert.ok(passed < 100, 'all are served');
      await new Promise((resolve) => setImmediate(resolve));
    }
    return passed;
  };
  return { waiting, served, sizes, turns };
}
