import assert from 'node:assert/strict';
import fs, { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { silentLog } from '../../src/core/log.ts';
import { auditInChild } from '../../src/ledger/lmdb/audit-child.ts';
import type { FolderAudit } from '../../src/ledger/lmdb/start-audit.ts';
import { damageContent, openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { account, entry, filledSegment } from '../support/ledger-records.ts';

/** More than one slice of the audit reads, so that a start which does not wait goes on before the audit is complete. */
const SEGMENTS = 3_000;

/** Returns a log that gathers its lines, and the lines. */
function gatheringLog() {
  const lines: string[] = [];
  const take = (_fields: object, line: string) => {
    lines.push(line);
  };
  return { lines, log: { ...silentLog, info: take, warn: take, error: take } };
}

/** A closed ledger with enough segments for several slices. */
async function closedLedger(path: string): Promise<void> {
  const ledger = await openTestLedger(path);
  await ledger.createAccount(account(1));
  await ledger.commit(
    Array.from({ length: SEGMENTS }, (_, i) => filledSegment(i + 1, 1)),
    [],
  );
  await ledger.close();
}

const journalsOf = (path: string) => readdirSync(path).filter((name) => name.startsWith('journal-'));
/** Leaves what a killed server leaves when its journal holds nothing to store. */
const leaveJournal = (path: string) => writeFileSync(join(path, 'journal-1-0-a'), '');

/** Size of a page of LMDB. */
const PAGE_BYTES = 4_096;

/** The message with which a start was refused; undefined when it was not. */
async function failureOf(opening: ReturnType<typeof openTestLedger>): Promise<string | undefined> {
  try {
    await (await opening).close();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

suite('the audit after an unclean stop', () => {
  test('a page that LMDB cannot read refuses every start with a sentence, and ends none by a signal', async (t) => {
    const path = temporaryFolder(t);
    await closedLedger(path);
    leaveJournal(path);
    const file = join(path, 'data.mdb');
    const sound = readFileSync(file);
    const signals = new Set<string>();
    // pages of zeros: LMDB asserts that a leaf is a leaf
    for (let page = 2; page * PAGE_BYTES < sound.length && signals.size === 0; page += 7) {
      writeFileSync(file, Buffer.from(sound).fill(0, page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
      for (let start = 1; start <= 2; start++) {
        const error = await failureOf(openTestLedger(path, { audit: auditInChild }));
        if (error === undefined) break; // a free page
        const [, signal] =
          /is damaged: a page is damaged so that LMDB cannot follow it \((\w+)\)/.exec(error) ?? [];
        if (signal !== undefined) signals.add(signal);
        assert.match(error, /the ledger in \S+ is damaged: .*restore a backup with `qrn ledger restore`/);
      }
    }
    assert.deepEqual([...signals], ['SIGABRT']);
    writeFileSync(file, sound);
    await (await openTestLedger(path, { audit: auditInChild })).close();
  });

  test('a start after a clean stop makes no audit', async (t) => {
    const path = temporaryFolder(t);
    await closedLedger(path);
    const { lines, log } = gatheringLog();
    await (await openTestLedger(path, { log })).close();
    assert.deepEqual(lines, ['ledger: open']);
  });

  test('a server without disk space for a journal does not end like a clean stop', async (t) => {
    const path = temporaryFolder(t);
    await closedLedger(path);
    t.mock.method(fs, 'writeFileSync', () => {
      throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
    });
    syncBuiltinESMExports();
    const ledger = await openTestLedger(path);
    t.mock.restoreAll();
    syncBuiltinESMExports();
    const killed = temporaryFolder(t);
    for (const name of ['data.mdb', ...journalsOf(path)]) copyFileSync(join(path, name), join(killed, name));
    await ledger.close();
    assert.deepEqual(journalsOf(path), []);
    const { lines, log } = gatheringLog();
    await (await openTestLedger(killed, { log })).close();
    assert.ok(lines.includes('ledger: the audit found no damage'));
  });

  test('damage that the audit finds after the start stops the ledger, and the next start is refused', async (t) => {
    const path = temporaryFolder(t);
    await closedLedger(path);
    leaveJournal(path);
    damageContent(join(path, 'data.mdb'), entry(10_000 * (SEGMENTS / 2)).requestId);
    const { lines, log } = gatheringLog();
    const ledger = await openTestLedger(path, { log, startAuditWaitMs: 0, audit: auditInChild });
    assert.ok(
      lines.includes(
        'ledger: the audit takes long, so the service starts meanwhile; damage that it finds stops the service',
      ),
    );
    assert.match((await ledger.failed).message, /^the ledger stopped: the ledger in \S+ is damaged: /);
    await assert.rejects(ledger.createAccount(account(2)), { reason: 'stopped' });
    await ledger.close();
    await assert.rejects(openTestLedger(path), { reason: 'damaged' });
  });

  test('an audit that a clean stop interrupts is repeated at the next start', async (t) => {
    const path = temporaryFolder(t);
    await closedLedger(path);
    leaveJournal(path);
    /** Reads until it is told to stop, as one of a ledger of many gigabytes would. */
    const audit: FolderAudit = (_path, signal) =>
      new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)));
    await (await openTestLedger(path, { startAuditWaitMs: 0, audit, scrubBytesPerS: 1 })).close();
    assert.equal(journalsOf(path).length, 2);
    const { lines, log } = gatheringLog();
    await (await openTestLedger(path, { log })).close();
    assert.ok(lines.includes('ledger: the audit found no damage'));
    assert.deepEqual(journalsOf(path), []);
  });
});
