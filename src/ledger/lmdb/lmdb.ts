import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { assert, messageOf } from '../../core/assert.ts';
import { silentLog } from '../../core/log.ts';
import { lock, unlock } from '../../core/spin-lock.ts';
import { newLedgerId } from '../journal.ts';
import { type AuditReport, LedgerError } from '../ledger.ts';
import type { Key } from '../store.ts';
import { FORMAT } from '../tables.ts';
import { auditTables } from './audit.ts';
import { DATA_FILE, isWritable, lengthen, makePrivate, requireLength, requireLmdbFile } from './data-file.ts';
import { GroupWriter } from './group-writer.ts';
import { type RawDatabase, type RawStore, Table } from './table.ts';
import { META, openTables, type Tables, tableOf } from './tables.ts';

/** Reserves address space, not memory. LMDB maps more when a ledger outgrows it. */
const MAP_BYTES = 64 * 2 ** 30;
const TABLES_MAX = 64;
const LOCK_FILE = 'lock.mdb';

/**
 * Audits the ledger in a folder, as `qrn ledger audit` does. Lengthens a short data file, unless another process may write it.
 * Throws LedgerError.
 */
export async function auditFolder(path: string, mayBeServed = false): Promise<AuditReport> {
  const raw = await openRaw(path, { readOnly: true, mayLengthen: !mayBeServed });
  try {
    const tables = openFormat(raw, new GroupWriter(raw, silentLog, () => {}), path, true);
    return await auditTables(tables, raw.snapshot());
  } finally {
    await raw.close();
  }
}

/** The store in a data file. */
interface DataFile extends RawStore {
  /** True when the file was shorter than its content, and was lengthened with zeros. */
  readonly lengthened: boolean;
}

/** Opens the data file of a folder. */
export async function openRaw(
  path: string,
  {
    readOnly,
    mayLengthen = !readOnly,
    gate,
  }: { readOnly: boolean; mayLengthen?: boolean; gate?: Int32Array | undefined },
): Promise<DataFile> {
  const root = openRoot(path, readOnly);
  // `env` is missing in the type declarations. `stat` and `info` read only the header, while getStats() reads the free list.
  const { env } = root as unknown as {
    env: { stat(): { pageSize: number }; info(): { lastPageNumber: number } };
  };
  const { pageSize } = env.stat();
  const file = join(path, DATA_FILE);
  const fd = openSync(file, mayLengthen && isWritable(file) ? 'r+' : 'r'); // an audited folder may be read-only
  const close = async () => {
    closeSync(fd);
    await root.close();
  };
  let wholeBytes = 0;
  /** Lengthens the file when its content has grown; the file never shrinks. */
  const makeWhole = () => {
    const usedBytes = (env.info().lastPageNumber + 1) * pageSize;
    if (usedBytes <= wholeBytes) return false;
    if (!mayLengthen) requireLength(file, fd, usedBytes);
    const isLengthened = lengthen(fd, usedBytes);
    wholeBytes = usedBytes;
    return isLengthened;
  };
  const transact = (body: () => void) => {
    if (gate !== undefined) lock(gate, 0, Number.POSITIVE_INFINITY);
    try {
      root.transactionSync(body);
    } finally {
      if (gate !== undefined) unlock(gate, 0);
    }
    try {
      makeWhole();
    } catch {
      // The commit stands. At worst, a reader that opens the file now finds it too short.
    }
  };
  let lengthened: boolean;
  try {
    lengthened = makeWhole();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    openDatabase: (name, create) => {
      const options = { name, encoding: 'binary', create } as const; // `create` is missing in the type declarations
      return root.openDB(options) as RawDatabase | undefined;
    },
    // Never use transaction(): it commits what was put before a throw. With overlappingSync off, transactionSync returns
    // after the fsync, and a failed transaction leaves nothing visible.
    transact,
    snapshot: () => root.useReadTransaction(),
    copyTo: (directory, compact) => root.backup(directory, compact),
    close,
    lengthened,
  };
}

function openRoot(path: string, readOnly: boolean): RootDatabase<Uint8Array, Key & string> {
  requireLmdbFile(join(path, DATA_FILE), !readOnly);
  // LMDB creates its files readable for all users, and the folder may not be private.
  if (!readOnly) for (const name of [DATA_FILE, LOCK_FILE]) makePrivate(join(path, name));
  try {
    return open({
      path,
      noSubdir: false,
      encoding: 'binary',
      maxDbs: TABLES_MAX,
      mapSize: MAP_BYTES,
      overlappingSync: false,
      readOnly,
    });
  } catch (error) {
    const why = messageOf(error);
    throw new LedgerError('unusable', `cannot open the ledger in ${path}: ${why}`, { cause: error });
  }
}

export async function requireWhole(raw: RawStore, tables: Tables, path: string): Promise<void> {
  const { ok, problems } = await auditTables(tables, raw.snapshot());
  if (ok) return;
  throw new LedgerError(
    'damaged',
    `the ledger in ${path} is cut short, restore a backup: ${problems.join('; ')}`,
  );
}

export function openFormat(raw: RawStore, writer: GroupWriter, path: string, readOnly: boolean): Tables {
  const database = raw.openDatabase(META.name, true); // alone: a folder with another format is left as it is
  const format = database && (new Table(META.name, database, META.codec, writer).get('format') ?? 0);
  if (format === undefined || (readOnly && format === 0)) {
    throw new LedgerError('unusable', `there is no ledger in ${path}`);
  }
  if (format > 0) {
    if (format === FORMAT) return openTables(raw, writer, false);
    throw new LedgerError(
      'unusable',
      `the ledger in ${path} has format ${format}, and this program reads format ${FORMAT} alone: use the release that wrote it, or another data folder`,
    );
  }
  // One transaction creates all tables and the format, so a new folder has a whole ledger or none.
  let tables: Tables | undefined;
  writer.transact(() => {
    tables = openTables(raw, writer, true);
    tableOf(tables, META).put('format', FORMAT);
    tableOf(tables, META).put('ledgerId', newLedgerId());
  });
  assert(tables !== undefined, 'the transaction ran');
  return tables;
}
