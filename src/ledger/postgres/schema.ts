import { readFileSync } from 'node:fs';
import { LedgerError } from '../ledger.ts';
import { FORMAT } from '../tables.ts';
import type { Database, Session } from './connection.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

/** The advisory lock under which the schema is created: "qrn" in ASCII. */
const SCHEMA_LOCK = 0x71_72_6e;

/** Long, because it waits while another node creates the schema. */
const LOCK = { name: 'schema_lock', text: 'SELECT pg_advisory_xact_lock($1)', isLong: true } as const;
const HAS_SCHEMA = {
  name: 'schema_is_there',
  text: "SELECT to_regclass('qrn.meta') IS NOT NULL AS has_schema",
};
const READ = { name: 'schema_read', text: 'SELECT to_jsonb(meta) AS meta FROM qrn.meta' };
const WRITE = { name: 'schema_write', text: 'INSERT INTO qrn.meta (schema) VALUES ($1)' };

/** Creates the schema in a database without one, in one transaction. Throws `unusable` when there is a different schema. */
export function makeSchema(database: Database): Promise<void> {
  return database.transact(async (session) => {
    await session.run(LOCK, [SCHEMA_LOCK]);
    if (await hasSchema(session)) return;
    await session.run({ name: '', text: SCHEMA });
    await session.run(WRITE, [FORMAT]);
  });
}

/** Throws `unusable` when the schema is missing or is not this program's. For commands, which create none. */
export async function requireSchema(database: Database): Promise<void> {
  if (await database.transact(hasSchema)) return;
  throw new LedgerError(
    'unusable',
    'there is no ledger in the database: start a node, or run qrn cluster init',
  );
}

async function hasSchema(session: Session): Promise<boolean> {
  const [{ has_schema: isThere }] = await session.run<{ has_schema: boolean }>(HAS_SCHEMA);
  if (!isThere) return false;
  const [{ meta }] = await session.run<{ meta: { schema?: number } }>(READ);
  if (meta.schema === FORMAT) return true;
  throw new LedgerError(
    'unusable',
    `the database has schema ${meta.schema ?? 'unknown'}, and this program reads schema ${FORMAT} alone: ` +
      'use the release that made it, or name an empty database in QRN_LEDGER',
  );
}
