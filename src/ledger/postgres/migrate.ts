import { readdirSync, readFileSync } from 'node:fs';
import { LedgerError } from '../ledger.ts';
import type { Database, Session } from './connection.ts';

interface Migration {
  readonly number: number;
  readonly text: string;
  /** The oldest schema whose programs may go on working after it. */
  readonly oldestSchema: number;
}

const FOLDER = new URL('./migrations/', import.meta.url);
/** A migration that programs of an earlier schema can live with says so in its first line. */
const COMPATIBLE = /^-- compatible with programs of schema (\d+)\n/;

const MIGRATIONS: readonly Migration[] = readdirSync(FOLDER)
  .filter((name) => /^\d{4}\.sql$/.test(name))
  .sort()
  .map((name) => {
    const number = Number(name.slice(0, 4));
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    return { number, text, oldestSchema: Number(COMPATIBLE.exec(text)?.[1] ?? number) };
  });

/** The schema that this program writes: the number of the newest migration. */
const SCHEMA = MIGRATIONS.length;

/** Names the lock under which schemas are changed: "qrn" in ASCII. */
const MIGRATION_LOCK = 0x71_72_6e;

/** Waits while another node changes the schema. */
const LOCK = { name: 'migrate_lock', text: 'SELECT pg_advisory_xact_lock($1)', isLong: true } as const;
const HAS_SCHEMA = {
  name: 'migrate_has_schema',
  text: "SELECT to_regclass('qrn.meta') IS NOT NULL AS has_schema",
};
const READ = { name: 'migrate_read', text: 'SELECT to_jsonb(meta) AS meta FROM qrn.meta' };
const WRITE = { name: 'migrate_write', text: 'UPDATE qrn.meta SET schema = $1, oldest_schema = $2' };

/** Brings the schema to that of this program, in one transaction. Throws `unusable` for a schema that it cannot work on. */
export function migrate(database: Database): Promise<void> {
  return database.transact(async (session) => {
    await session.run(LOCK, [MIGRATION_LOCK]);
    let schema = await schemaOf(session);
    for (const { number, text, oldestSchema } of MIGRATIONS) {
      if (number <= schema) continue;
      for (const statement of statementsOf(text))
        await session.run({ name: '', text: statement, isLong: true });
      await session.run(WRITE, [number, oldestSchema]);
      schema = number;
    }
  });
}

/** Throws `unusable` when the schema is missing, or not that of this program: a command does not change it. */
export async function requireSchema(database: Database): Promise<void> {
  const schema = await database.transact(schemaOf);
  if (schema >= SCHEMA) return;
  throw new LedgerError(
    'unusable',
    schema === 0
      ? 'there is no ledger in the database: start a node, or run qrn cluster init'
      : `the database has schema ${schema}, and this program needs schema ${SCHEMA}: start a node of this release, or run qrn cluster init`,
  );
}

/** The number of the schema; 0 where there is none. */
async function schemaOf(session: Session): Promise<number> {
  const [{ has_schema }] = await session.run<{ has_schema: boolean }>(HAS_SCHEMA);
  if (!has_schema) return 0;
  const [{ meta }] = await session.run<{ meta: Partial<Record<'schema' | 'oldest_schema', number>> }>(READ);
  const { schema, oldest_schema: oldest } = meta;
  if (schema !== undefined && oldest !== undefined && oldest <= SCHEMA) return schema;
  throw new LedgerError(
    'unusable',
    schema === undefined
      ? `the database was made before schema 1, and this program needs schema ${SCHEMA}: name an empty database in QRN_LEDGER`
      : `the database has schema ${schema}, for programs of schema ${oldest} and later, and this program has schema ${SCHEMA}: use the newer release`,
  );
}

/** The statements of a migration, which ends each with a semicolon at the end of a line. */
function statementsOf(text: string): string[] {
  return text
    .split(/;\n/)
    .map((statement) => statement.replace(/^--.*$/gm, '').trim())
    .filter((statement) => statement !== '');
}
