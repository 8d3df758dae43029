import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SharedLimits } from '../../src/account/shared-limits.ts';
import { silentLog } from '../../src/core/log.ts';
import { LimitNodes, type LimitStore } from '../support/limit-nodes.ts';
import { type LimitFaults, MemoryLimits } from '../support/memory-limits.ts';
import { sharedLimitsContract } from './shared-limits.contract.ts';

sharedLimitsContract('the model', async () => memoryStore(), 25);

function memoryStore(faults: LimitFaults = {}): LimitStore {
  const memory = new MemoryLimits(faults);
  let started = 0;
  const names = new Map<object, string>();
  return {
    async start() {
      const name = `node ${++started}`;
      const limits = memory.node(name);
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
  it('asks for many requests at once, and gives back half of what it does not use at each look', async () => {
    const nodes = await LimitNodes.start(memoryStore(), 1, 100_000, 0);
    const [node] = nodes.nodes;
    const granted = () => node.meter.share().requestsGranted;
    await node.enter(0);
    assert.equal(granted(), 1_024);
    await node.shared.look();
    assert.equal(granted(), 1 + 511);
  });

  it('does not ask the ledger at its end when it has nothing to give back', async () => {
    let calls = 0;
    const askLimits = async () => {
      calls++;
      return { grants: [], nodes: 1, period: 0 };
    };
    const shared = new SharedLimits({ limits: { askLimits }, log: silentLog });
    await shared.close();
    assert.equal(calls, 0);
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
          const nodes = await LimitNodes.startRate(memoryStore(), 3, perMinute);
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
    const nodes = await LimitNodes.startRate(memoryStore(), 2, 600);
    for (let i = 0; i < 9 * 60 * 2; i++) {
      nodes.clock.advance(111.2);
      assert.ok(await nodes.nodes[i % 2].enter(0), `request ${i}, 9 a second of 10`);
    }
  });
});

/** In no stretch of time more than the burst and what the rate adds meanwhile. */
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

  it('shows as a burst beyond the limit: a node that is told of no other', async () => {
    const nodes = await LimitNodes.startRate(memoryStore({ countsOneNode: true }), 2, 10);
    await nodes.look();
    for (let i = 0; i < 40; i++) await nodes.nodes[i % 2].enter(0);
    assert.equal(nodes.spent().requests, 30);
  });
});
