import { after, type TestContext } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openJournaledLedger, openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { NOON_MS } from '../support/ledger-records.ts';
import { LedgerThread, SharedClock } from '../support/ledger-thread.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { MemoryNodes } from '../support/memory-nodes.ts';
import { drawsContract } from './draws.contract.ts';
import { type ContractOptions, ledgerContract, type OpenLedger } from './ledger.contract.ts';
import { inTurn, nodesContract } from './nodes.contract.ts';
import { sourcesContract } from './sources.contract.ts';

/** Both suites on one implementation. */
function contract(
  name: string,
  open: (t: TestContext) => Promise<OpenLedger>,
  options: ContractOptions = {},
): void {
  ledgerContract(name, open, options);
  sourcesContract(name, open, options);
  drawsContract(name, open);
}

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

function onFolder(openLedger: (path: string, clock: ManualClock) => Promise<Ledger>) {
  return async (t: TestContext) => {
    const path = temporaryFolder(t);
    const clock = new ManualClock(NOON_MS);
    let ledger = await openLedger(path, clock);
    const reopen = async () => {
      await ledger.close();
      ledger = await openLedger(path, clock);
      return ledger;
    };
    return { ledger, clock, reopen, current: () => ledger, close: () => ledger.close() };
  };
}

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
for (const durability of ['fsync', 'commit'] as const) {
  ledgerContract(
    `LMDB behind the journal of a front, durability ${durability}`,
    onFolder((path, clock) => openJournaledLedger(path, { durability, clock })),
    { withoutRepeats: 'a front commits each segment once, and what the journal has was acknowledged' },
  );
}

const thread = new LedgerThread();
after(() => thread.stop());

contract('LMDB behind a thread', async (t) => {
  const path = temporaryFolder(t);
  const clock = new SharedClock(NOON_MS);
  let opened = await thread.open(path, 'fsync', clock);
  const reopen = async () => {
    await opened.close();
    opened = await thread.open(path, 'fsync', clock);
    return opened.ledger;
  };
  return {
    ledger: opened.ledger,
    clock,
    reopen,
    current: () => opened.ledger,
    close: () => opened.close(),
  };
});
