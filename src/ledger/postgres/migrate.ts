import { readdirSync, readFileSync } from 'node:fs';
import { LedgerError } from '../ledger.ts';
import type { Database, Session } from './connection.ts';

interface Migration {
  readonly number: number;
  readonly text: string;
  /** The oldest format whose programs may go on working after it. */
  readonly oldestFormat: number;
}

const FOLDER = new URL('./migrations/', import.meta.url);
/** A migration that programs of an earlier format can live with says so in its first line. */
const COMPATIBLE = /^-- compatible with programs of format (\d+)\n/;

const MIGRATIONS: readonly Migration[] = readdirSync(FOLDER)
  .filter((name) => /^\d{4}\.sql$/.test(name))
  .sort()
  .map((name) => {
    const number = Number(name.slice(0, 4));
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    return { number, text, oldestFormat: Number(COMPATIBLE.exec(text)?.[1] ?? number) };
  });

/** The format that this program writes. */
const FORMAT = MIGRATIONS.length;

/** Names the lock under which schemas are changed: "qrn" in ASCII. */
const MIGRATION_LOCK = 0x71_72_6e;

/** Waits while another node changes the schema. */
const LOCK = { name: 'migrate_lock', text: 'SELECT pg_advisory_xact_lock($1)', isLong: true } as const;
const HAS_SCHEMA = {
  name: 'migrate_has_schema',
  text: "SELECT to_regclass('qrn.meta') IS NOT NULL AS has_schema",
};
const READ = { name: 'migrate_read', text: 'SELECT format, oldest_format FROM qrn.meta' };
const WRITE = { name: 'migrate_write', text: 'UPDATE qrn.meta SET format = $1, oldest_format = $2' };

/**
 * Brings the schema to the format of this program, in one transaction. Throws `unusable` for a schema that a newer
 * program made and that this one cannot work on.
 */
export function migrate(database: Database): Promise<void> {
  return database.transact(async (session) => {
    await session.run(LOCK, [MIGRATION_LOCK]);
    let format = await formatOf(session);
    for (const { number, text, oldestFormat } of MIGRATIONS) {
      if (number <= format) continue;
      for (const statement of statementsOf(text))
        await session.run({ name: '', text: statement, isLong: true });
      await session.run(WRITE, [number, oldestFormat]);
      format = number;
    }
  });
}

/** Throws `unusable` when the schema is missing, or not of this program's format: a command does not change it. */
export async function requireSchema(database: Database): Promise<void> {
  const format = await database.transact(formatOf);
  if (format >= FORMAT) return;
  throw new LedgerError(
    'unusable',
    format === 0
      ? 'there is no ledger in the database: start a node, or run qrn cluster init'
      : `the schema in PostgreSQL has format ${format}, and this program needs ${FORMAT}: start a node of this release, or run qrn cluster init`,
  );
}

/** The format of the schema; 0 where there is none. */
async function formatOf(session: Session): Promise<number> {
  const [{ has_schema }] = await session.run<{ has_schema: boolean }>(HAS_SCHEMA);
  if (!has_schema) return 0;
  const [meta] = await session.run<{ format: number; oldest_format: number }>(READ);
  if (meta.oldest_format > FORMAT) {
    throw new LedgerError(
      'unusable',
      `the schema in PostgreSQL has format ${meta.format}, for programs of format ${meta.oldest_format} and later; this one writes ${FORMAT}. Run the newer release`,
    );
  }
  return meta.format;
}

/** The statements of a migration, which ends each with a semicolon at the end of a line. */
function statementsOf(text: string): string[] {
  return text
    .split(/;\n/)
    .map((statement) => statement.replace(/^--.*$/gm, '').trim())
    .filter((statement) => statement !== '');
}
