import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Clock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { FrontJournal } from '../../src/ledger/front-journal.ts';
import { type LmdbLedgerOptions, openLmdbLedger } from '../../src/ledger/lmdb/lmdb.ts';
import type { LmdbLedger } from '../../src/ledger/lmdb/lmdb-ledger.ts';
import { NOON_MS } from './ledger-records.ts';
import { ManualClock } from './manual-clock.ts';

/** A new folder that goes when the test ends. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-ledger-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const PAGE_BYTES = 4_096;

/** Flips 64 bytes in each page of the middle third of the content; values stand at the end of a page. */
export function damageMiddle(file: string): void {
  const content = readFileSync(file);
  const zeros = Buffer.alloc(PAGE_BYTES);
  const pageAt = (page: number) => content.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
  let used = content.length / PAGE_BYTES;
  while (pageAt(used - 1).equals(zeros)) used--; // a server's file is longer than its content
  const fd = openSync(file, 'r+');
  for (let page = Math.floor(used / 3); page < (2 * used) / 3; page++) {
    const bytes = pageAt(page)
      .subarray(-128, -64)
      .map((byte) => byte ^ 0xa5);
    writeSync(fd, bytes, 0, bytes.length, (page + 1) * PAGE_BYTES - 128);
  }
  closeSync(fd);
}

export const testClock: Clock = new ManualClock(NOON_MS);

/** Opens a ledger that fits a test: no file grown ahead, no floor under the disk, nothing logged. */
export function openTestLedger(path: string, more: Partial<LmdbLedgerOptions> = {}): Promise<LmdbLedger> {
  return openLmdbLedger({
    path,
    clock: testClock,
    log: silentLog,
    role: 'server',
    durability: 'fsync',
    growAheadBytes: 0,
    freeBytesMin: 0,
    journalRingBytes: 128 * 1_024,
    ...more,
  });
}

/** A ledger whose commits go through the journal of a front in this thread. */
export interface JournaledLedger extends LmdbLedger {
  readonly journal: FrontJournal;
}

/** Opens a ledger, and the journal of its first front. A commit of several segments is one after the other. */
export async function openJournaledLedger(
  path: string,
  more: Partial<LmdbLedgerOptions> = {},
): Promise<JournaledLedger> {
  const ledger = await openTestLedger(path, more);
  const { durability = 'fsync', freeBytesMin = 0, freeBytes } = more;
  const journal = new FrontJournal({
    place: ledger.journals[0],
    durability,
    ledger,
    freeBytesMin,
    ...(freeBytes && { freeBytes }),
  });
  let closed: Promise<void> | undefined;
  return {
    ...ledger,
    journal,
    failed: Promise.race([ledger.failed, journal.failed]),
    async commit(segments, answers) {
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
