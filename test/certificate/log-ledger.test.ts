import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { CertificateArchive } from '../../src/certificate/archive.ts';
import { CertificateIds } from '../../src/certificate/ids.ts';
import { keysDocument } from '../../src/certificate/keys-document.ts';
import { CertificateLog } from '../../src/certificate/log.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openTestLedger, temporaryFolder, testClock } from '../support/ledger-folder.ts';
import { answerEntry, lotRecord, seededSource, segmentRecord, TIME_MS } from './fixtures.ts';
import { logKeys } from './log-world.ts';

const ids = new CertificateIds(new Uint8Array(32).fill(9));
const keys = logKeys(1);
const LOT = lotRecord('a');

async function openLog(ledger: Ledger): Promise<CertificateLog> {
  return await CertificateLog.open({ store: ledger, ids, keys, clock: testClock });
}

async function commit(ledger: Ledger, sequence: number, from: number): Promise<void> {
  const entries = Array.from({ length: 300 }, (_, i) => answerEntry(from + i));
  await ledger.commit([segmentRecord(sequence, [seededSource(LOT.id)], entries)], []);
}

it('finds and verifies a certificate that was sealed on the ledger of the service, after it was opened again', async (t) => {
  const path = join(temporaryFolder(t), 'ledger');
  let ledger = await openTestLedger(path);
  await ledger.addLot(LOT, []);
  let log = await openLog(ledger);
  await commit(ledger, 1, 0);
  assert.equal(await log.seal(), 302, 'the lot and a statement too');
  await commit(ledger, 2, 300);
  await ledger.close();

  ledger = await openTestLedger(path);
  log = await openLog(ledger);
  assert.equal(log.size, 302);
  await ledger.revokeLot({ lotId: LOT.id, why: 'detector fault', atMs: TIME_MS });
  assert.equal(await log.seal(), 302, 'the second segment, the withdrawal and a statement');
  const archive = new CertificateArchive({ books: ledger, entropy: ledger, ids, log });
  for (const [segment, index] of [
    [1, 299],
    [2, 0],
    [2, 299],
  ]) {
    const certificate = await archive.find(ids.textOf(segment, index));
    const { checks } = await verifyAnswer({ certificate, keys: keysDocument(keys) });
    const failed = checks.filter((check) => !check.ok).map((check) => check.name);
    assert.deepEqual(failed, ['status'], 'all holds, but the lot was withdrawn');
  }
  assert.equal(await archive.find(ids.textOf(2, 300)), 'unknown');
  await ledger.close();
});
