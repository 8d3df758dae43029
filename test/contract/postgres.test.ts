import type { TestContext } from 'node:test';
import { silentLog } from '../../src/core/log.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.ts';
import { temporaryFolder } from '../support/ledger-folder.ts';
import { NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { freshDatabase } from '../support/postgres.ts';
import { drawsContract } from './draws.contract.ts';
import { ledgerContract } from './ledger.contract.ts';
import { sourcesContract } from './sources.contract.ts';

const WITHOUT_BACKUP = { withoutBackup: 'PostgreSQL is backed up with its own tools' };

async function open(t: TestContext) {
  const url = await freshDatabase();
  const path = temporaryFolder(t);
  const clock = new ManualClock(NOON_MS);
  const openNode = () =>
    openPostgresLedger({
      url,
      node: 'a',
      path,
      clock,
      log: silentLog,
      role: 'server',
      durability: 'fsync',
      growAheadBytes: 0,
      freeBytesMin: 0,
    });
  let ledger = await openNode();
  const reopen = async () => {
    await ledger.close();
    ledger = await openNode();
    return ledger;
  };
  return { ledger, clock, reopen, current: () => ledger, close: () => ledger.close() };
}

ledgerContract('PostgreSQL', open, WITHOUT_BACKUP);
sourcesContract('PostgreSQL', open, WITHOUT_BACKUP);
drawsContract('PostgreSQL', open);
