import { join } from 'node:path';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openPostgresLedger, type PostgresLedger } from '../../../src/ledger/postgres/postgres-ledger.ts';

/** Opens the books as a command does. */
export function openTool(url: string, folder: string): Promise<PostgresLedger> {
  return openPostgresLedger({
    url,
    node: 'harness',
    path: join(folder, 'harness'),
    clock: systemClock,
    log: silentLog,
    role: 'tool',
    durability: 'fsync',
  });
}
