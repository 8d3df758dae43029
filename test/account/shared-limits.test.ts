import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { createCell, Meter } from '../../src/account/meter.ts';
import { SharedLimits } from '../../src/account/shared-limits.ts';
import { type Allowance, TIER_ALLOWANCES } from '../../src/account/tiers.ts';
import { ApiError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Limits } from '../../src/ledger/sharing.ts';
import { LimitNodes } from '../support/limit-nodes.ts';
import { MemoryLimits } from '../support/memory-limits.ts';

const NODES = 3;

type Step =
  | { readonly do: 'enter'; readonly node: number; readonly credits: number; readonly isKept: boolean }
  | { readonly do: 'together'; readonly credits: number }
  | { readonly do: 'look' | 'crash' | 'lose' | 'late'; readonly node: number };

const node = fc.nat({ max: NODES - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('enter' as const),
      node,
      credits: fc.nat({ max: 40 }),
      isKept: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('together' as const), credits: fc.nat({ max: 9 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('look', 'crash', 'lose', 'late'), node }) },
);

describe('the limits of an account that nodes share', () => {
  it('are never exceeded, and can be spent to the last request and credit, whatever happens to nodes and replies', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 1, max: 60 }),
        fc.nat({ max: 200 }),
        async (steps, requests, credits) => {
          const nodes = await LimitNodes.start(NODES, {
            requestsPerMonth: requests,
            creditsPerMonth: credits,
          });
          for (const each of steps) {
            await take(nodes, each);
            requireWithin(nodes, requests, credits);
          }
          await nodes.spendAll(0, 1);
          const { requests: requestsOfCredits, credits: spent } = nodes.spent();
          assert.ok(spent === credits || requestsOfCredits === requests, `${spent} of ${credits} credits`);
          await nodes.spendAll(1, 0);
          requireWithin(nodes, requests, credits);
          assert.equal(nodes.spent().requests, requests);
        },
      ),
      { numRuns: 25, interruptAfterTimeLimit: 30_000 },
    );
  });

  it('gives a node the credits that it asks for and no more, so that all nodes report the same rest', async () => {
    const nodes = await LimitNodes.start(2, { requestsPerMonth: 100, creditsPerMonth: 1_000 });
    const [a, b] = nodes.nodes;
    const first = await a.enter(300);
    assert.equal(first?.creditsRemaining, 700);
    assert.equal((await b.enter(500))?.creditsRemaining, 200);
    assert.equal(await a.enter(201), undefined);
    assert.equal((await a.enter(200))?.creditsRemaining, 0);
  });

  it('gives a node within three seconds what a resting node holds', async () => {
    const nodes = await LimitNodes.start(2, { requestsPerMonth: 160, creditsPerMonth: 0 });
    const [a, b] = nodes.nodes;
    await a.enter(0); // this grants more than one
    assert.ok(a.meter.share().requestsGranted > 1);
    await nodes.spendAll(1, 0);
    assert.deepEqual(nodes.spent(), { requests: 160, credits: 0 });
    assert.equal(b.meter.share().requestsUsed, 159);
  });

  it('lets a node keep little more than it uses between two looks once everything is granted', async () => {
    const nodes = await LimitNodes.start(2, { requestsPerMonth: 160, creditsPerMonth: 0 });
    const [a, b] = nodes.nodes;
    const unused = () => a.meter.share().requestsGranted - a.meter.share().requestsUsed;
    for (let looks = 0; unused() > 3; looks++) {
      assert.ok(looks < 40, `${unused()} are held`);
      while (await b.enter(0));
      await a.enter(0);
      await nodes.look();
    }
    await nodes.look();
    assert.ok(await b.enter(0), 'the rest is there for the other');
  });

  it('gives each of two nodes half of the rate', async () => {
    const nodes = await LimitNodes.start(2, { requestsPerMinute: 10, requestsPerMonth: 100_000 });
    await nodes.look();
    let admitted = 0;
    for (let i = 0; i < 40; i++) if (await nodes.nodes[i % 2].enter(0)) admitted++;
    assert.equal(admitted, 14, 'two halves of a burst of 15');
  });

  it('grants nothing more of a limit that was lowered below what is already granted', async () => {
    const nodes = await LimitNodes.start(2, { requestsPerMonth: 1_000, creditsPerMonth: 0 });
    const [a, b] = nodes.nodes;
    await a.enter(0);
    const { requestsGranted } = a.meter.share();
    for (const { meter } of nodes.nodes) meter.configure({ ...nodes.allowance, requestsPerMonth: 2 });
    for (let looks = 0; looks < 2; looks++) await nodes.look();
    assert.ok((await b.enter(0)) === undefined || requestsGranted < 2);
    for (const { meter } of nodes.nodes) meter.configure({ ...nodes.allowance, requestsPerMonth: 200 });
    await nodes.look();
    assert.ok(await b.enter(0));
  });
});

async function take(nodes: LimitNodes, step: Step): Promise<void> {
  switch (step.do) {
    case 'enter': {
      const reservation = await nodes.nodes[step.node].enter(step.credits);
      if (!step.isKept) reservation?.release();
      return;
    }
    case 'together':
      await Promise.all(nodes.nodes.map((each) => each.enter(step.credits)));
      return;
    case 'look':
      await nodes.look();
      return;
    case 'crash':
      await nodes.restart(step.node);
      return;
    case 'lose': {
      const each = nodes.nodes[step.node];
      each.losesReplies = true;
      await each.enter(1);
      await each.shared.look();
      each.losesReplies = false;
      return;
    }
    case 'late':
      await nodes.nodes[step.node].repeatCalls();
  }
}

function requireWithin(nodes: LimitNodes, requests: number, credits: number): void {
  const spent = nodes.spent();
  assert.ok(spent.requests <= requests, `${spent.requests} of ${requests} requests spent`);
  assert.ok(spent.credits <= credits, `${spent.credits} of ${credits} credits spent`);
}

/** Starts a node with `accounts` accounts, numbered from 1 on. */
async function started(
  limits: Pick<Limits, 'askLimits'>,
  allowance: Partial<Allowance> = {},
  accounts = 1,
  log = silentLog,
) {
  const shared = new SharedLimits({ limits, log });
  const all = { ...TIER_ALLOWANCES.pro, ...allowance };
  const meters = Array.from({ length: accounts }, () => new Meter(createCell(all, true)));
  await Promise.all(meters.map((meter, i) => shared.add(i + 1, meter)));
  const granted = () => new Set(meters.map((meter) => meter.share().requestsGranted));
  const look = async (times: number) => {
    for (let n = 0; n < times; n++) await shared.look();
  };
  return { shared, meters, meter: meters[0], granted, look };
}

/** Wraps the limits and counts each call before it is answered. */
function counting(limits: Limits) {
  const noted = { calls: 0 };
  const askLimits: Limits['askLimits'] = (...call) => {
    noted.calls++;
    return limits.askLimits(...call);
  };
  return { askLimits, noted };
}

describe('a node of several', () => {
  it('begins a month with what the books already have of it', async () => {
    const limits = new MemoryLimits();
    limits.book(1, { requests: 98, credits: 60 });
    const { meter } = await started(limits.node('a'), { requestsPerMonth: 100, creditsPerMonth: 50 });
    const { requestsGranted, creditsGranted } = meter.share();
    assert.deepEqual([requestsGranted, creditsGranted], [1, 0]);
    assert.deepEqual(meter.left(limits.period), { period: limits.period, requests: 2, credits: 0 });
  });

  it('answers overloaded with a retry in a second when asked for an account that has no shared limits', async () => {
    const shared = new SharedLimits({ limits: new MemoryLimits().node('a'), log: silentLog });
    await assert.rejects(shared.ask(7, 1), ({ code, facts }: ApiError) => {
      assert.deepEqual([code, facts.retryAfterS], ['overloaded', 1]);
      return true;
    });
  });

  it('logs a fault in asking, but not a ledger that is away or that it has closed', async () => {
    const told: unknown[] = [];
    const log = { ...silentLog, error: (facts: object) => void told.push(facts) };
    let fault: Error = new ApiError('storage_unavailable', { retryAfterS: 1 });
    const { shared } = await started({ askLimits: () => Promise.reject(fault) }, {}, 1, log);
    await shared.look();
    assert.deepEqual(told, []);
    fault = new Error('broken');
    await shared.look();
    assert.deepEqual(told, [{ err: fault }]);
    await shared.close();
    await shared.look();
    assert.equal(told.length, 1);
    await assert.rejects(shared.ask(1, 1), { code: 'overloaded' });
  });

  it('looks four times a second, and gives back what is unused when it ends', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const memory = new MemoryLimits();
    const { noted, ...limits } = counting(memory.node('a'));
    const { shared, meter } = await started(limits);
    assert.ok(meter.enter(0, 0).hasRequest);
    shared.start();
    t.mock.timers.tick(249);
    await turn();
    assert.equal(noted.calls, 1);
    t.mock.timers.tick(1);
    for (; noted.calls < 3; await turn()) t.mock.timers.tick(250);
    await shared.close();
    assert.equal(memory.granted(1, memory.period).requests, 1);
    const before = noted.calls;
    shared.start();
    t.mock.timers.tick(1_000);
    await turn();
    assert.equal(noted.calls, before);
  });

  it('holds as many requests as its rate admits, and replaces the used ones at each look', async () => {
    const nodes = await LimitNodes.start(2, { requestsPerMinute: 600, requestsPerMonth: 100_000 });
    for (let looks = 0; looks < 2; looks++) await nodes.look(); // the first node learns that there is another
    const [node] = nodes.nodes;
    const held = () => node.meter.share().requestsGranted - node.meter.share().requestsUsed;
    assert.equal(held(), 450);
    for (let i = 0; i < 450; i++) assert.ok(await node.enter(0), `request ${i}`);
    assert.equal(await node.enter(0), undefined, 'its part of the burst');
    assert.equal(held(), 0);
    await nodes.look();
    assert.equal(held(), 450);
  });

  it('holds part of a new month and of a new account before a request comes', async () => {
    const memory = new MemoryLimits();
    const { shared, meter } = await started(memory.node('a'));
    assert.deepEqual([meter.share().period, meter.share().requestsGranted], [202_611, 750]);
    memory.period = 202_612;
    await shared.look();
    assert.deepEqual([meter.share().period, meter.share().requestsGranted], [202_612, 750]);
  });

  it('holds the whole burst of a resting account once the other node has stopped', async () => {
    const memory = new MemoryLimits();
    const allowance = { requestsPerMinute: 600, requestsPerMonth: 1_000_000 };
    await started(memory.node('stops'), allowance);
    const { granted, look } = await started(memory.node('stays'), allowance);
    await look(3);
    assert.deepEqual(granted(), new Set([450]));
    memory.settle('stops', () => ({ requests: 0, credits: 0 }));
    await look(3);
    assert.deepEqual(granted(), new Set([900]));
  });

  it('takes no more when less is left than the bursts of all nodes', async () => {
    const memory = new MemoryLimits();
    const allowance = { requestsPerMinute: 600, requestsPerMonth: 1_000 }; // half is granted at first
    await (await started(memory.node('rests'), allowance)).look(20);
    assert.equal(memory.granted(1, memory.period).requests, 500);
  });

  it('holds the burst of a new month although it had given up its holding of the last one', async () => {
    // With one account, and with so many that the account is not among those that the look asks for.
    for (const accounts of [1, 40]) {
      const memory = new MemoryLimits();
      const [rests, uses] = await Promise.all(
        ['rests', 'uses'].map((name) => started(memory.node(name), { requestsPerMonth: 10_000 }, accounts)),
      );
      let nowMs = 0;
      for (let looks = 0; looks < 80; looks++) {
        for (const meter of uses.meters) while (meter.enter(nowMs, 0).hasRequest);
        nowMs += 60_000;
        await uses.shared.look();
        await rests.shared.look();
      }
      assert.deepEqual(rests.granted(), new Set([0]));
      memory.period = 202_612;
      await rests.look(3);
      assert.deepEqual(rests.granted(), new Set([375]));
    }
  });

  it('gives up the holding of a resting account as soon as it hears that everything is granted', async () => {
    const ACCOUNTS = 600; // fifty in each look, and all in twelve, which take three seconds
    const allowance = { ...TIER_ALLOWANCES.enterprise, requestsPerMonth: 4 };
    const memory = new MemoryLimits();
    const rests = await started(memory.node('rests'), allowance, ACCOUNTS);
    const other = await started(memory.node('other'), allowance, ACCOUNTS);
    assert.equal(rests.meters[599].share().requestsGranted, 2);
    assert.ok(other.meters[599].enter(0, 0).hasRequest);
    await other.shared.look();
    assert.equal(memory.granted(600, memory.period).requests, 4);
    await rests.look(12);
    assert.equal(rests.meters[599].share().requestsGranted, 0);
  });

  /** A node with one account of which all requests are granted; `during.call` runs while a call is under way. */
  async function startAllGranted() {
    const limits = new MemoryLimits().node('a');
    const during: { call: (() => void) | undefined } = { call: undefined };
    const askLimits: Limits['askLimits'] = async (...call) => {
      const answer = await limits.askLimits(...call);
      during.call?.();
      return answer;
    };
    const allowance = { ...TIER_ALLOWANCES.enterprise, requestsPerMonth: 1, creditsPerMonth: 100 };
    return { ...(await started({ askLimits }, allowance)), during };
  }

  it('keeps credits for the request that asked, even if it looks between their grant and their use', async () => {
    const { shared, meter, look, during } = await startAllGranted();
    const reservation = meter.enter(0, 0);
    await look(3);
    assert.ok(meter.isAllGranted);
    const looked: Promise<void>[] = [];
    during.call = () => {
      during.call = undefined;
      for (let times = 0; times < 3; times++) looked.push(shared.look());
    };
    await shared.ask(1, 40);
    assert.equal(meter.share().creditsGranted, 40);
    await Promise.all(looked);
    const front = meter.enter(0, 0); // a refusal on another front: the account has changed since its last turn
    assert.ok(!front.hasRequest);
    await shared.look();
    assert.ok(reservation.takeCredits(40));
  });

  it('gives back credits that no request took', async () => {
    const { shared, meter } = await startAllGranted();
    await shared.ask(1, 40);
    await shared.look();
    assert.equal(meter.share().creditsGranted, 40);
    await shared.look();
    assert.equal(meter.share().creditsGranted, 0);
  });

  it('reports its holding until the ledger has received it, however long the account rests', async () => {
    let isAway = true;
    const told: number[] = [];
    const askLimits: Limits['askLimits'] = async (_order, asks) => {
      if (isAway) throw new ApiError('storage_unavailable');
      told.push(...asks.map(({ requestsGranted }) => requestsGranted));
      return { grants: [], nodes: 1, period: 0 };
    };
    const { shared, look } = await started({ askLimits });
    await look(20);
    isAway = false;
    await shared.look();
    assert.deepEqual(told, [0]);
  });

  it('holds what its newest call says, even if an older call arrives late', async () => {
    const memory = new MemoryLimits();
    const node = memory.node('a');
    const call = (order: number, requestsGranted: number, requestsWanted: number) =>
      node.askLimits(order, [
        {
          ...{ accountNumber: 1, period: memory.period, requestsTotal: 1_000, creditsTotal: 0 },
          ...{ requestsGranted, requestsUsed: 0, creditsGranted: 0, creditsUsed: 0 },
          ...{ requestsWanted, creditsWanted: 0 },
        },
      ]);
    await call(1, 0, 10);
    const { grants } = await call(3, 5, 5); // it had given up five, which the lost second call was to tell, and asks for them back
    assert.equal(grants[0].requestsGranted, 10);
    await call(2, 5, 0);
    assert.equal(memory.granted(1, memory.period).requests, 10);
  });

  it('does not ask the ledger when it ends with nothing to give back', async () => {
    const { noted, ...limits } = counting(new MemoryLimits().node('a'));
    await (await started(limits, {}, 0)).shared.close();
    assert.equal(noted.calls, 0);
  });
});

describe('the rate that nodes share', () => {
  const rateStep = fc.record({
    node: fc.nat({ max: 2 }),
    together: fc.integer({ min: 1, max: 8 }),
    passMs: fc.oneof(fc.constant(0), fc.nat({ max: 400 }), fc.nat({ max: 20_000 })),
    happens: fc.constantFrom('nothing', 'nothing', 'nothing', 'lose'),
  });

  it('is never more over all nodes than one bucket would admit, whatever happens to nodes and replies', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rateStep, { minLength: 10, maxLength: 60 }),
        fc.integer({ min: 2, max: 900 }),
        async (steps, perMinute) => {
          const nodes = await LimitNodes.start(3, {
            requestsPerMinute: perMinute,
            requestsPerMonth: 100_000,
          });
          await nodes.look();
          const times: number[] = [];
          for (const { node, together, passMs, happens } of steps) {
            nodes.clock.advance(passMs);
            const each = nodes.nodes[node];
            each.losesReplies = happens === 'lose';
            const before = nodes.spent().requests;
            await Promise.all(Array.from({ length: together }, () => each.enter(0)));
            for (let n = nodes.spent().requests - before; n > 0; n--) times.push(nodes.clock.monotonicMs());
            each.losesReplies = false;
          }
          requireRate(times, perMinute);
        },
      ),
      { numRuns: 60, interruptAfterTimeLimit: 30_000 },
    );
  });

  it('lets through all requests of a client that stays below it on each of two nodes', async () => {
    const nodes = await LimitNodes.start(2, { requestsPerMinute: 600, requestsPerMonth: 100_000 });
    for (let i = 0; i < 9 * 60 * 2; i++) {
      nodes.clock.advance(111.2);
      assert.ok(await nodes.nodes[i % 2].enter(0), `request ${i}, 9 a second of 10`);
    }
  });
});

/** Asserts that no stretch of time has more requests than the burst and what the rate adds meanwhile. */
function requireRate(times: readonly number[], perMinute: number): void {
  for (const [first, from] of times.entries()) {
    for (let last = first; last < times.length; last++) {
      const most = Math.max(3, Math.floor(perMinute * 1.5)) + ((times[last] - from) * perMinute) / 60_000;
      assert.ok(
        last - first + 1 <= most + 1e-3,
        `${last - first + 1} in ${times[last] - from} ms, of ${most}`,
      );
    }
  }
}
