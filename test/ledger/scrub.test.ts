import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { silentLog } from '../../src/core/log.ts';
import { Scrub } from '../../src/ledger/lmdb/scrub.ts';
import type { RawStore } from '../../src/ledger/lmdb/table.ts';
import { openTables } from '../../src/ledger/lmdb/tables.ts';
import { damageContent, openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { account, entry, filledSegment } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { freshMetrics } from '../support/prometheus.ts';
import { TestServer } from '../support/server.ts';

const SEGMENTS = 500;
const SLICE_BYTES = 64 * 1_024 + 4_096;

/** An open ledger with segments in it, and the store below it. */
async function filledLedger(path: string) {
  let raw: RawStore | undefined;
  const ledger = await openTestLedger(path, {
    wrap: (each) => {
      raw = each;
      return each;
    },
  });
  await ledger.createAccount(account(1));
  await ledger.commit(
    Array.from({ length: SEGMENTS }, (_, i) => filledSegment(i + 1, 1)),
    [],
  );
  assert.ok(raw !== undefined);
  const gate = { open: false, wrote() {} };
  return { ledger, store: raw, tables: openTables(raw, gate, false) };
}

/** Resolves once `isTrue`; fails after so many turns of the loop. */
async function untilTurn(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 200_000 && !isTrue(); i++) await turn();
  assert.ok(isTrue(), 'it did not happen');
}

suite('the scrub', () => {
  test('a full pass over a sound ledger takes the time that the rate implies and reads no slice sooner', async (t) => {
    const { ledger, store, tables } = await filledLedger(temporaryFolder(t));
    const clock = new ManualClock();
    const bytesPerS = 32 * 1_024;
    const seen: { atMs: number; bytes: number }[] = [];
    const scrub = new Scrub({
      store,
      tables,
      log: silentLog,
      clock,
      bytesPerS,
      wait: async (ms, signal) => {
        await turn();
        signal.throwIfAborted();
        if (scrub.state().passes === 0) seen.push({ atMs: clock.monotonicMs(), bytes: scrub.state().bytes });
        clock.advance(ms);
      },
    });
    const beganMs = clock.monotonicMs();
    scrub.startAfter(undefined);
    await untilTurn(() => scrub.state().passes === 1);
    await scrub.stop();
    const { records, bytes, passMs, damaged } = scrub.state();
    let [stored, storedBytes, cost] = [0, 0, 0];
    const snapshot = store.snapshot();
    for (const table of tables.values()) {
      for (const record of table.checked(snapshot)) {
        stored++;
        storedBytes += record.bytes;
        cost += Math.max(record.bytes, 2_048);
      }
    }
    snapshot.done();
    assert.deepEqual([records, bytes], [stored, storedBytes]);
    assert.ok(records > 2 * SEGMENTS);
    assert.equal(damaged, 0);
    assert.ok(Math.abs(passMs! - (1_000 * cost) / bytesPerS) < 1_000, `${passMs} ms for ${cost} bytes`);
    for (const { atMs, bytes } of seen) {
      const allowed = (bytesPerS * (atMs - beganMs)) / 1_000 + SLICE_BYTES;
      assert.ok(bytes <= allowed, `${bytes} bytes after ${atMs - beganMs} ms`);
    }
    await ledger.close();
  });

  test('pages that are damaged while the ledger is open are found, logged as errors and counted', async (t) => {
    const path = temporaryFolder(t);
    const errors: string[] = [];
    const log = { ...silentLog, error: (fields: object) => void errors.push(JSON.stringify(fields)) };
    const { ledger, store, tables } = await filledLedger(path);
    damageContent(join(path, 'data.mdb'), entry(10_000 * (SEGMENTS / 2)).requestId);
    const scrub = new Scrub({ store, tables, log, clock: new ManualClock(), bytesPerS: 2 ** 30 });
    scrub.startAfter(undefined);
    await untilTurn(() => scrub.state().damaged > 0);
    await scrub.stop();
    const { damaged, problems } = scrub.state();
    assert.match(problems.join(), /the stored value does not match its checksum/);
    assert.equal(errors.length, damaged);
    assert.ok((await ledger.audit()).problems.includes(problems[0]), 'as the audit tells it');
    await ledger.close();
  });

  test('a running service fails the check ledger:scrub and counts the damage of one record', async (t) => {
    const server = await TestServer.spawnFor(t, { QRN_SCRUB_MIB_PER_S: '32' }).ready();
    const { key } = await server.account('pro');
    const answer = await server.get('/bytes?count=64', { authorization: `Bearer ${key}` });
    const requestId = Buffer.from(answer.headers.get('x-request-id')!.replaceAll('-', ''), 'hex');
    assert.equal(requestId.length, 16);
    const report = async () => (await server.checks())['ledger:scrub'][0];
    const isRead = async () => !JSON.stringify(await report()).includes('"passes":0');
    await server.until('the scrub has read all', isRead);
    assert.equal((await report()).status, 'pass');
    const file = join(server.dataDir, 'ledger', 'data.mdb');
    // an answer is in the journal first
    await server.until('the answer is in the data file', () => readFileSync(file).includes(requestId));
    damageContent(file, requestId);
    await server.until('the scrub finds the damage', async () => (await report()).status !== 'pass');
    const { status, output } = await report();
    assert.equal(status, 'fail');
    assert.match(output ?? '', /segments \d+: the stored value does not match its checksum/);
    const metrics = await freshMetrics(server.origin);
    assert.match(metrics, /^qrn_ledger_scrub_damaged_total [1-9]/m);
    assert.equal((await server.get('/bytes?count=64', { authorization: `Bearer ${key}` })).status, 200);
  });
});
