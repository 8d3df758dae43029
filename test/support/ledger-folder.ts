import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, ManualClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { type LmdbLedgerOptions, openLmdbLedger } from '../../src/ledger/lmdb/lmdb.ts';
import type { LmdbLedger } from '../../src/ledger/lmdb/lmdb-ledger.ts';
import { NOON_MS } from './ledger-records.ts';

/** A new folder that goes when the test ends. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-ledger-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
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
    journalHalfBytes: 64 * 1_024,
    ...more,
  });
}
