import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Account } from '../../src/account/directory.ts';
import { DrawTurns, sharedTurn } from '../../src/http/draw-turns.ts';
import type { Exchange } from '../../src/http/exchange.ts';

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
    const served: number[] = [];
    let turns = 0;
    const sizes: number[] = [];
    const waiting = new DrawTurns<ReturnType<typeof requests>[number]>((ready) => {
      assert.ok(turns >= 1, 'their connections were read once more');
      sizes.push(ready.length);
      served.push(...numbersOf(ready));
    });
    for (const each of [...requests(1, 30), ...requests(2, 9)]) waiting.add(each);
    for (; served.length < 39 && turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(sizes, [18, 21], 'alone, an account has the whole turn');
    assert.deepEqual(
      [1, 2].map((number) => served.filter((each) => each === number).length),
      [30, 9],
    );
  });
});
