import type { TestContext } from 'node:test';
import { silentLog } from '../../src/core/log.ts';
import { LEDGER_CALLS, type Ledger } from '../../src/ledger/ledger.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.ts';
import { temporaryFolder } from '../support/ledger-folder.ts';
import { NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { freshDatabase } from '../support/postgres.ts';
import { drawsContract } from './draws.contract.ts';
import { ledgerContract } from './ledger.contract.ts';
import { sourcesContract } from './sources.contract.ts';

const WITHOUT_BACKUP = { withoutBackup: 'PostgreSQL is backed up with its own tools' };

function openNode(url: string, node: string, path: string, clock: ManualClock): Promise<Ledger> {
  return openPostgresLedger({
    url,
    node,
    path,
    clock,
    log: silentLog,
    role: 'server',
    durability: 'fsync',
    growAheadBytes: 0,
    freeBytesMin: 0,
  });
}

async function openWith(t: TestContext, openOn: (url: string, clock: ManualClock) => Promise<Ledger>) {
  const url = await freshDatabase();
  const clock = new ManualClock(NOON_MS);
  let ledger = await openOn(url, clock);
  t.after(() => ledger.close());
  const reopen = async () => {
    await ledger.close();
    ledger = await openOn(url, clock);
    return ledger;
  };
  return { ledger, clock, reopen, current: () => ledger, close: () => ledger.close() };
}

function openOne(t: TestContext) {
  const path = temporaryFolder(t);
  return openWith(t, (url, clock) => openNode(url, 'a', path, clock));
}

/** What lies in the folder of one node: its blocks, and so its lots and the jobs that give them. */
const OF_ONE_NODE: readonly string[] = ['entropy', 'sources', 'upkeep'];

/** Two nodes over one database take turns, call by call; what a node has of its own is asked of the first. */
function openTwo(t: TestContext) {
  const paths = [temporaryFolder(t), temporaryFolder(t)];
  return openWith(t, async (url, clock) => {
    const nodes = [await openNode(url, 'a', paths[0], clock), await openNode(url, 'b', paths[1], clock)];
    let turn = 0;
    const calls = Object.entries(LEDGER_CALLS).map(([name, { part }]) => {
      const call = (...args: readonly unknown[]) => {
        const node = OF_ONE_NODE.includes(part) ? nodes[0] : nodes[turn++ % 2];
        return (node as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[name](...args);
      };
      return [name, call];
    });
    const close = async () => {
      for (const node of nodes) await node.close();
    };
    return { ...Object.fromEntries(calls), close } as Ledger;
  });
}

ledgerContract('PostgreSQL', openOne, WITHOUT_BACKUP);
sourcesContract('PostgreSQL', openOne, WITHOUT_BACKUP);
drawsContract('PostgreSQL', openOne);

const TWO_NODES = 'two nodes on PostgreSQL in turn';
ledgerContract(TWO_NODES, openTwo, {
  ...WITHOUT_BACKUP,
  withoutOneLimiter: 'each node joins what it saved with what it committed itself',
});
drawsContract(TWO_NODES, openTwo);
