import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { silentLog } from '../../../src/core/log.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import { fence } from '../../../src/ledger/postgres/node.ts';
import { openPostgresLedger } from '../../../src/ledger/postgres/postgres-ledger.ts';
import { PostgresStore } from '../../../src/ledger/postgres/postgres-store.ts';
import { temporaryFolder } from '../../support/ledger-folder.ts';
import { NOON_MS } from '../../support/ledger-records.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { emptiedDatabase, freshDatabase } from '../../support/postgres.ts';
import { openBooks } from '../postgres/postgres-books.ts';
import { drawsContract } from './draws.contract.ts';
import { ledgerContract } from './ledger.contract.ts';
import { inTurn, nodesContract } from './nodes.contract.ts';
import { sourcesContract } from './sources.contract.ts';
import { storeContract } from './store.contract.ts';

storeContract('PostgreSQL', async (t: TestContext) => {
  const { database, node } = await openBooks(t, await emptiedDatabase(t));
  return new PostgresStore(database, node);
});

function openNode(url: string, node: string, path: string, clock: ManualClock): Promise<Ledger> {
  return openPostgresLedger({
    url,
    node,
    path,
    clock,
    log: silentLog,
    role: 'server',
    durability: 'fsync',
    freeBytesMin: 0,
  });
}

async function openWith(t: TestContext, openOn: (url: string, clock: ManualClock) => Promise<Ledger>) {
  const url = await emptiedDatabase(t);
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

/** Two nodes over one database take turns, call by call; what a node has of its own is asked of the first. */
function openTwo(t: TestContext) {
  const paths = [temporaryFolder(t), temporaryFolder(t)];
  return openWith(t, async (url, clock) =>
    inTurn([await openNode(url, 'a', paths[0], clock), await openNode(url, 'b', paths[1], clock)]),
  );
}

const TWO_NODES = 'two nodes on PostgreSQL in turn';
const OF_TWO_NODES = {
  withoutBackup: 'PostgreSQL is backed up with its own tools',
  withoutOneLimiter: 'each node joins what it saved with what it committed itself',
};
ledgerContract(TWO_NODES, openTwo, OF_TWO_NODES);
sourcesContract(TWO_NODES, openTwo, OF_TWO_NODES);
drawsContract(TWO_NODES, openTwo);

nodesContract('PostgreSQL', async () => {
  const url = await freshDatabase();
  const clock = new ManualClock(NOON_MS);
  const paths = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `qrn-node-${name}-`)));
  const [a, b] = await Promise.all(['a', 'b'].map((name, i) => openNode(url, name, paths[i], clock)));
  const open = [a, b];
  return {
    a,
    b,
    async fenceA() {
      const database = new Database({ url, log: silentLog });
      assert.equal(await fence(database, 'a', silentLog), true);
      await database.close();
    },
    async startA() {
      await a.close(); // a node keeps its name until its process ends
      const again = await openNode(url, 'a', paths[0], clock);
      open.splice(0, 1, again);
      return again;
    },
    async close() {
      for (const ledger of open) await ledger.close();
      for (const path of paths) rmSync(path, { recursive: true, force: true });
    },
  };
});
