import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { NO_KEY, type Owner, THIS_MACHINE } from '../../src/fair/budget.ts';
import { Fair } from '../../src/fair/fair.ts';
import { ManualClock } from '../support/manual-clock.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A loop whose time passes while work runs, and a quarter of a millisecond where nothing does. */
class Loop {
  readonly clock = new ManualClock();
  readonly fair = new Fair(this.clock);
  /** The owners of the pieces that ran, in order. */
  readonly ran: Owner[] = [];
  readonly usedMs = new Map<Owner, number>();
  readonly #tick: () => void;

  constructor(t: TestContext) {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    this.#tick = () => t.mock.timers.tick(1);
  }

  /** Work that takes so long; `next` runs behind it. */
  add(owner: Owner, tookMs: number, { costUs = 0, next }: { costUs?: number; next?: () => void } = {}): void {
    const run = () => {
      this.ran.push(owner);
      this.use(owner, tookMs);
      next?.();
    };
    this.fair.run(owner, { costUs, run });
  }

  use(owner: Owner, ms: number): void {
    this.clock.advance(ms);
    this.usedMs.set(owner, (this.usedMs.get(owner) ?? 0) + ms);
  }

  /** An owner that always has work waiting. */
  keepBusy(owner: Owner, tookMs: number, options: { costUs?: number } = {}): void {
    this.add(owner, tookMs, { ...options, next: () => this.keepBusy(owner, tookMs, options) });
  }

  /** Returns how long it really took. */
  async pass(ms: number): Promise<number> {
    const startMs = this.clock.monotonicMs();
    while (this.clock.monotonicMs() < startMs + ms) await this.turn();
    return this.clock.monotonicMs() - startMs;
  }

  async turn(): Promise<void> {
    const before = this.ran.length;
    this.#tick();
    await nextTurn();
    if (this.ran.length === before) this.clock.advance(0.25);
  }

  /** The part of the time that passes which each owner uses. */
  async shares(ms: number): Promise<(owner: Owner) => number> {
    await this.pass(ms / 4); // until all is as it goes on
    this.usedMs.clear();
    const passedMs = await this.pass(ms);
    return (owner) => (this.usedMs.get(owner) ?? 0) / passedMs;
  }
}

function isAbout(share: number, expected: number): void {
  assert.ok(share > 0.9 * expected && share < 1.1 * expected, `${share} where ${expected} is due`);
}

describe('the time of a front’s loop', () => {
  it('is not measured for an account that is alone: all its requests run in one turn', async (t) => {
    const loop = new Loop(t);
    for (let i = 0; i < 500; i++) loop.add(1, 0.05);
    await loop.turn();
    assert.equal(loop.ran.length, 500, 'all that came together is one turn');
  });

  it('is the same for all requests of one turn: that of the first', async () => {
    const clock = new ManualClock();
    const fair = new Fair(clock);
    const first = fair.now();
    clock.advance(5);
    assert.equal(fair.now(), first);
    await nextTurn();
    const { wallMs, monotonicMs } = first;
    assert.deepEqual(fair.now(), { wallMs: wallMs + 5, monotonicMs: monotonicMs + 5 });
  });

  it('is given up after 50 ms by an owner who is alone, and the rest runs in order', async (t) => {
    const loop = new Loop(t);
    const ran: number[] = [];
    for (let i = 0; i < 30; i++) loop.add(NO_KEY, 10, { next: () => ran.push(i) });
    await loop.turn();
    assert.equal(ran.length, 5);
    loop.add(1, 0);
    await loop.turn();
    assert.ok(loop.ran.indexOf(1) < 12, 'an account that asks meanwhile is served');
    await loop.pass(2_000);
    assert.deepEqual(ran, [...Array(30).keys()]);
  });

  it('is shared by two busy accounts, a third each, whatever their work costs and however much of it waits', async (t) => {
    const loop = new Loop(t);
    loop.keepBusy(1, 0.05);
    for (let i = 0; i < 32; i++) loop.keepBusy(2, 4);
    const shares = await loop.shares(4_000);
    isAbout(shares(1), 1 / 3);
    isAbout(shares(2), 1 / 3);
  });

  it('includes the stated cost of a piece besides its measured time', async (t) => {
    const loop = new Loop(t);
    loop.keepBusy(1, 0.05, { costUs: 150 });
    loop.keepBusy(2, 0.2);
    const shares = await loop.shares(1_000);
    isAbout(shares(1), 1 / 12);
    isAbout(shares(2), 1 / 3);
  });

  it('is charged for work that is done later, when the next piece begins', async (t) => {
    const loop = new Loop(t);
    const begin = () =>
      loop.add(1, 0, {
        costUs: 25,
        next: () =>
          setImmediate(() => {
            loop.fair.spend(1, () => loop.use(1, 5));
            begin();
          }),
      });
    for (let i = 0; i < 32; i++) begin();
    loop.keepBusy(2, 0.1);
    isAbout((await loop.shares(2_000))(1), 1 / 3);
  });

  it('is left to accounts by half, whatever clients without a key and programs on this machine request', async (t) => {
    const loop = new Loop(t);
    for (let i = 0; i < 100; i++) {
      loop.keepBusy(NO_KEY, i % 10, { costUs: 250 });
      loop.keepBusy(THIS_MACHINE, 0.05, { costUs: 250 });
    }
    loop.keepBusy(1, 0.5);
    const shares = await loop.shares(2_000);
    assert.ok(shares(NO_KEY) <= 0.26, `${shares(NO_KEY)} without a key`);
    assert.ok(shares(NO_KEY) + shares(THIS_MACHINE) <= 0.5);
    assert.ok(shares(THIS_MACHINE) > 0.01, 'a flood without a key does not starve probes of this machine');
    assert.ok(shares(1) >= 0.5, `${shares(1)} of the account`);
  });

  it('goes to clients without a key while no account requests anything', async (t) => {
    const loop = new Loop(t);
    for (let i = 0; i < 300; i++) loop.add(NO_KEY, 0.1, { costUs: 250 });
    await loop.turn();
    assert.equal(loop.ran.length, 300);
  });

  it('goes to the owner who has used least, and then from one owner to the next', async (t) => {
    const loop = new Loop(t);
    for (const owner of [1, 1, 1, 2, 3]) loop.add(owner, 0.3);
    await loop.turn();
    assert.deepEqual(loop.ran, [1, 2, 3, 1, 1]);
    loop.ran.length = 0;
    for (const owner of [1, 1, 4]) loop.add(owner, 0.3);
    await loop.turn();
    assert.equal(loop.ran[0], 4);
  });

  it('makes no owner wait longer because it once used very much', async (t) => {
    const loop = new Loop(t);
    loop.add(2, 0);
    loop.add(1, 60_000);
    loop.add(1, 0);
    await loop.turn();
    loop.keepBusy(2, 0.1);
    await loop.pass(60);
    assert.equal(loop.ran.filter((owner) => owner === 1).length, 2);
  });

  it('starves nobody: every request runs once, in the order of its owner, within a bound', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const piece = fc.record({
      owner: fc.constantFrom(NO_KEY, THIS_MACHINE, 1, 2, 3),
      tookMs: fc.integer({ min: 0, max: 3 }),
      pauseMs: fc.constantFrom(0, 0, 0, 1, 150),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 60 }), async (pieces) => {
        t.mock.timers.reset();
        const loop = new Loop(t);
        const orders = new Map<Owner, number[]>();
        let workMs = 0;
        for (const [i, { owner, tookMs, pauseMs }] of pieces.entries()) {
          workMs += tookMs + 1;
          loop.add(owner, tookMs, {
            costUs: owner < 0 ? 250 : 25,
            next: () => orders.set(owner, [...(orders.get(owner) ?? []), i]),
          });
          await loop.pass(pauseMs);
        }
        // none has less than a quarter of the time, and each may wait for what it was charged at most
        await loop.pass(5 * workMs + 200);
        for (const [owner, order] of orders) {
          const asked = [...pieces.keys()].filter((i) => pieces[i].owner === owner);
          assert.deepEqual(order, asked);
        }
        assert.equal(loop.ran.length, pieces.length);
      }),
      { seed: 20261126, numRuns: 20 },
    );
  });

  it('serves even the last of thousands who pay nothing within seconds', async (t) => {
    const loop = new Loop(t);
    loop.keepBusy(1, 0.5);
    for (let i = 0; i < 4_000; i++) loop.add(NO_KEY, 0, { costUs: 250 });
    await loop.pass(3_000);
    assert.equal(loop.ran.filter((owner) => owner === NO_KEY).length, 4_000);
  });
});
