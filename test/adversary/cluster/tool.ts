import { join } from 'node:path';
import pg from 'pg';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openPostgresLedger, type PostgresLedger } from '../../../src/ledger/postgres/postgres-ledger.ts';

/** The books as a command opens them. */
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

/** The rows that one statement gives, on a connection of its own. */
export async function query<R extends pg.QueryResultRow>(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<R>(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}
