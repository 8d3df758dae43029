import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { newDecision, rateLimitOf, rateWords } from '../../src/account/rate.ts';
import {
  admitLeased,
  LEASE_WORDS,
  leaseWanted,
  setLeaseRate,
  takeLease,
} from '../../src/account/rate-lease.ts';
import { SharedLimits } from '../../src/account/shared-limits.ts';
import { UNLIMITED } from '../../src/account/tiers.ts';
import { silentLog } from '../../src/core/log.ts';
import { LimitNodes, type LimitStore } from '../support/limit-nodes.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type LimitFaults, MemoryLimits } from '../support/memory-limits.ts';
import { sharedLimitsContract } from './shared-limits.contract.ts';

sharedLimitsContract('the model', async () => memoryStore(), 25);

function memoryStore(faults: LimitFaults = {}): LimitStore {
  const memory = new MemoryLimits(faults);
  let started = 0;
  const names = new Map<object, string>();
  return {
    async start(clock) {
      const name = `node ${++started}`;
      const limits = memory.node(name, clock);
      names.set(limits, name);
      return limits;
    },
    async settle(limits, account, spent) {
      const nothing = { requests: 0, credits: 0 };
      memory.settle(names.get(limits)!, (each) => (each === account ? spent : nothing));
    },
  };
}

/** Spends what it can of 160 requests while a call reaches the ledger twice and a node dies. */
async function spendWith(faults: LimitFaults): Promise<number> {
  const nodes = await LimitNodes.start(memoryStore(faults), 2, 160, 0);
  const [other, node] = nodes.nodes;
  await other.enter(0);
  await node.enter(0);
  await node.repeatCalls();
  await nodes.restart(0);
  await nodes.spendAll(1, 0);
  return nodes.spent().requests;
}

describe('a node of several', () => {
  it('keeps what it was granted and does not use for a minute, and then gives it back', async () => {
    const nodes = await LimitNodes.start(memoryStore(), 1, 100_000, 0);
    nodes.clock.advance(40_000);
    const [node] = nodes.nodes;
    const { meter, shared } = node;
    await node.enter(0);
    await shared.look();
    const { requestsGranted } = meter.share();
    assert.ok(requestsGranted > 1, 'more was granted than asked for');
    nodes.clock.advance(59_999);
    await shared.look();
    assert.equal(meter.share().requestsGranted, requestsGranted);
    nodes.clock.advance(1);
    await shared.look();
    assert.equal(meter.share().requestsGranted, 1);
  });

  it('does not ask the ledger at its end when it has nothing to give back', async () => {
    let calls = 0;
    const askLimits = async () => {
      calls++;
      return { grants: [], recalled: [], period: 0 };
    };
    const shared = new SharedLimits({ limits: { askLimits }, clock: new ManualClock(), log: silentLog });
    await shared.close();
    assert.equal(calls, 0);
  });
});

describe('a lease of the rate', () => {
  it('is wanted for those who wait, and for a quarter of what was used in the last second', () => {
    const limit = rateLimitOf(60_000);
    const state = new Float64Array(rateWords(64));
    const lease = new Float64Array(LEASE_WORDS);
    setLeaseRate(lease, limit.requestsPerMinute);
    takeLease(lease, { rateLeased: 40, rateLevel: 40 }, 0, 0);
    for (let i = 0; i < 40; i++) admitLeased(state, lease, 0, limit, newDecision());
    assert.equal(leaseWanted(lease, 1, 0), 10);
    assert.equal(leaseWanted(lease, 1, 500), 5);
    assert.equal(leaseWanted(lease, 1, 1_000), 1);
    assert.equal(leaseWanted(lease, 0, 0), 0, 'nobody waits');
  });

  it('is never wanted without a limit', () => {
    const lease = new Float64Array(LEASE_WORDS);
    setLeaseRate(lease, UNLIMITED);
    assert.equal(leaseWanted(lease, 3, 0), 0);
  });
});

describe('the rate that nodes share', () => {
  const rateStep = fc.record({
    node: fc.nat({ max: 2 }),
    together: fc.integer({ min: 1, max: 8 }),
    passMs: fc.oneof(fc.constant(0), fc.nat({ max: 400 }), fc.nat({ max: 20_000 })),
    happens: fc.constantFrom('nothing', 'nothing', 'nothing', 'crash', 'lose'),
  });

  it('is never more than one bucket would admit in a second longer, whatever happens to nodes and replies', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rateStep, { minLength: 10, maxLength: 60 }),
        fc.integer({ min: 1, max: 900 }),
        async (steps, perMinute) => {
          const nodes = await LimitNodes.startRate(memoryStore(), 3, perMinute);
          const times: number[] = [];
          for (const { node, together, passMs, happens } of steps) {
            nodes.clock.advance(passMs);
            if (happens === 'crash') await nodes.restart(node);
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
    const nodes = await LimitNodes.startRate(memoryStore(), 2, 600);
    for (let i = 0; i < 9 * 60 * 2; i++) {
      nodes.clock.advance(111.2);
      assert.ok(await nodes.nodes[i % 2].enter(0), `request ${i}, 9 a second of 10`);
    }
  });
});

/** In no stretch of time more than the burst and what the rate adds in a time one second longer. */
function requireRate(times: readonly number[], perMinute: number): void {
  for (const [first, from] of times.entries()) {
    for (let last = first; last < times.length; last++) {
      const most = Math.floor(perMinute * 1.5) + ((times[last] - from + 1_000) * perMinute) / 60_000;
      assert.ok(
        last - first + 1 <= most + 1e-3,
        `${last - first + 1} in ${times[last] - from} ms, of ${most}`,
      );
    }
  }
}

describe('a fault that is planted in the limits that nodes share', () => {
  const faults: readonly [string, LimitFaults, (spent: number) => boolean][] = [
    ['no fault', {}, (spent) => spent === 160],
    ['a node that takes a grant twice', { takesTwice: true }, (spent) => spent > 160],
    ['a node that is never settled', { settlesNothing: true }, (spent) => spent < 160],
  ];
  for (const [name, fault, isSeen] of faults) {
    it(`shows in what can be spent: ${name}`, async () => {
      const spent = await spendWith(fault);
      assert.ok(isSeen(spent), `${spent} of 160 requests`);
    });
  }

  it('shows as overspending: grants that ignore what is left', async () => {
    const nodes = await LimitNodes.start(memoryStore({ ignoresTotal: true }), 2, 10, 0);
    for (let i = 0; i < 11; i++) await nodes.nodes[i % 2].enter(0);
    assert.equal(nodes.spent().requests, 11);
  });

  it('shows as a burst beyond the limit: leases that the shared bucket does not count', async () => {
    const nodes = await LimitNodes.startRate(memoryStore({ leasesForNothing: true }), 2, 10);
    for (let i = 0; i < 40; i++) await nodes.nodes[i % 2].enter(0);
    assert.equal(nodes.spent().requests, 30);
  });
});
