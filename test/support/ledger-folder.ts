import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { open } from 'lmdb';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { ApiError } from '../../src/core/errors.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { FrontJournal } from '../../src/ledger/front-journal.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { auditFolder } from '../../src/ledger/lmdb/lmdb.ts';
import {
  type LmdbLedger,
  type LmdbLedgerOptions,
  openLmdbLedger,
} from '../../src/ledger/lmdb/lmdb-ledger.ts';
import { type RawDatabase, Table } from '../../src/ledger/lmdb/table.ts';
import { Sequences } from '../../src/ledger/sequences.ts';
import { type Codec, type Key, plainCodec } from '../../src/ledger/store.ts';
import { NOON_MS } from './ledger-records.ts';
import { ManualClock } from './manual-clock.ts';

/** A new folder that goes when the test ends. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-ledger-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Changes one bit of every copy of `content` in a file, so that no reader finds it as it was stored. Throws when the file
 * does not hold it. LMDB leaves old pages behind, so a place in the file may be free; content that is stored is not.
 */
export function damageContent(file: string, content: Uint8Array): void {
  const bytes = readFileSync(file);
  const descriptor = openSync(file, 'r+');
  let found = 0;
  for (let at = bytes.indexOf(content); at >= 0; at = bytes.indexOf(content, at + 1)) {
    writeSync(descriptor, Buffer.from([bytes[at] ^ 1]), 0, 1, at);
    found++;
  }
  closeSync(descriptor);
  assert.ok(found > 0, `${file} does not hold the content to be damaged`);
}

/** Writes into the tables of a closed ledger past its rules, with sound checksums. */
export async function plant(
  path: string,
  write: (table: <K extends Key, V>(name: string, codec?: Codec<V>) => Table<K, V>) => void,
): Promise<void> {
  const raw = open({ path, noSubdir: false, encoding: 'binary', overlappingSync: false, maxDbs: 64 });
  const gate = { open: true, wrote() {} };
  raw.transactionSync(() => {
    write((name, codec = plainCodec()) => {
      const database = raw.openDB({ name, encoding: 'binary' }) as unknown as RawDatabase;
      return new Table(name, database, codec, gate);
    });
  });
  await raw.close();
}

/** Closes a ledger that an audit finds sound. */
export async function closeSound(ledger: Pick<Ledger, 'audit' | 'close'>): Promise<void> {
  assert.deepEqual((await ledger.audit()).problems, []);
  await ledger.close();
}

/** A log, and what is told to it on one level: facts and text. */
export function gatheringLog(level: 'warn' | 'error') {
  const told: [object, string][] = [];
  const log: Log = { ...silentLog, [level]: (facts: object, text: string) => void told.push([facts, text]) };
  return { log, told };
}

const testClock: Clock = new ManualClock(NOON_MS);

/** Opens a ledger that fits a test: no floor under the disk, nothing logged. */
export function openTestLedger(path: string, more: Partial<LmdbLedgerOptions> = {}): Promise<LmdbLedger> {
  return openLmdbLedger({
    path,
    clock: testClock,
    log: silentLog,
    role: 'server',
    durability: 'fsync',
    freeBytesMin: 0,
    journalFileBytes: 128 * 1_024,
    audit: (path) => auditFolder(path), // in this process: many tests start after a kill
    ...more,
  });
}

/** A ledger whose commits go through the journal of a front in this thread. */
export interface JournaledLedger extends LmdbLedger {
  readonly journal: FrontJournal;
}

/** Opens a ledger, and the journal of its first front, which takes nothing on a full disk. A commit of several segments is one after the other. */
export async function openJournaledLedger(
  path: string,
  more: Partial<LmdbLedgerOptions> = {},
): Promise<JournaledLedger> {
  const ledger = await openTestLedger(path, more);
  const { durability = 'fsync' } = more;
  const sequences = await Sequences.open(ledger, systemClock);
  const journal = new FrontJournal({ place: ledger.journals[0], durability, ledger, sequences });
  let closed: Promise<void> | undefined;
  return {
    ...ledger,
    journal,
    failed: Promise.race([ledger.failed, journal.failed]),
    async commit(segments, answers) {
      // as a front asks before it draws (answer/commit.ts)
      if (journal.refusal !== null) throw new ApiError('storage_unavailable', journal.refusal);
      const all = segments.map((segment, i) => journal.commit(segment, i === 0 ? answers : []));
      await Promise.all(all);
    },
    close() {
      closed ??= (async () => {
        journal.close();
        await ledger.close();
      })();
      return closed;
    },
  };
}
