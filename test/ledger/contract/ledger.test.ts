import { openTestLedger } from '../../support/ledger-folder.ts';
import { NOON_MS } from '../../support/ledger-records.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { MemoryNodes } from '../../support/memory-nodes.ts';
import { contract, onFolder } from './ledgers.ts';
import { inTurn, nodesContract } from './nodes.contract.ts';

contract(
  'memory',
  async () => {
    const clock = new ManualClock(NOON_MS);
    const ledger = memoryLedger(clock, { keepsPending: true });
    const current = () => ledger;
    return { ledger, clock, reopen: async () => ledger, current, close: () => ledger.close() };
  },
  { withoutBackup: 'it forgets with its process' },
);

contract(
  'two nodes in memory in turn',
  async () => {
    const clock = new ManualClock(NOON_MS);
    const nodes = new MemoryNodes(clock);
    const start = () => inTurn(['a', 'b'].map((name) => nodes.start(name)));
    let ledger = start();
    const reopen = async () => (ledger = start());
    return { ledger, clock, reopen, current: () => ledger, close: async () => {} };
  },
  {
    withoutBackup: 'they forget with their process',
    withoutOneLimiter: 'each node joins what it saved with what it committed itself',
  },
);

nodesContract('memory', async () => {
  const nodes = new MemoryNodes(new ManualClock(NOON_MS));
  return {
    a: nodes.start('a'),
    b: nodes.start('b'),
    fenceA: async () => nodes.fence('a'),
    startA: async () => nodes.start('a'),
    close: async () => {},
  };
});

contract(
  'LMDB',
  onFolder((path, clock) => openTestLedger(path, { clock })),
);
