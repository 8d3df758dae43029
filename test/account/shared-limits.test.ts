import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
    settle: (limits, account, spent) => memory.settle(names.get(limits)!, spent, account),
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
});
