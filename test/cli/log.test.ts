import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { certificateDocument } from '../../src/certificate/document.ts';
import { CertificateIds } from '../../src/certificate/ids.ts';
import { keysDocument } from '../../src/certificate/keys-document.ts';
import { CertificateLog } from '../../src/certificate/log.ts';
import { certifiedLot } from '../../src/certificate/lot-leaf.ts';
import { certificateOf } from '../../src/certificate/record.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { log } from '../../src/cli/log.ts';
import { openLogKeys, openSecretFile } from '../../src/crypto/key-files.ts';
import { parseNote, parseProof } from '../../src/crypto/note.ts';
import { answerEntry, CONTEXT, sampleLot, segmentRecord, TIME_MS } from '../certificate/fixtures.ts';
import { openTestLedger } from '../support/ledger-folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const NAME = 'qrn.test/log';
const clock = new ManualClock(TIME_MS);
const LOT = sampleLot('a');
const SOURCE = { mode: 'csprng', lotIds: [LOT.id], drawn: [] } as const;

describe('qrn log', () => {
  const dataDir = scratchFolder();
  const keysPath = join(dataDir, 'keys');
  const qrn = (...args: string[]) => runCommand(log, args, { QRN_DATA_DIR: dataDir, QRN_LOG_NAME: NAME });
  const idsOf = () => new CertificateIds(openSecretFile(join(keysPath, 'certificate-ids')));

  /** Starts the log as the service does, logs `count` answers and stops. Gives the proof of the first. */
  async function serve(segment: number, count: number): Promise<string> {
    const ledger = await openTestLedger(join(dataDir, 'ledger'));
    await ledger.addLot(LOT, []);
    const keys = openLogKeys(keysPath, NAME, clock);
    const certificateLog = await CertificateLog.open({
      store: ledger,
      ids: idsOf(),
      keys,
      clock,
    });
    const entries = Array.from({ length: count }, (_, i) =>
      answerEntry(100 * segment + i, { mode: 'csprng' }),
    );
    await ledger.commit([segmentRecord(segment, [SOURCE], entries)], []);
    await certificateLog.seal();
    const proof = await certificateLog.proofOf(segment, 0);
    await ledger.close();
    assert.ok(proof !== undefined);
    return proof;
  }

  it('says that there is no log yet', async () => {
    const there = join(dataDir, 'ledger');
    assert.deepEqual(await qrn('show'), {
      status: 1,
      out: '',
      talk: `qrn log show: there is no ledger in ${there}: set QRN_DATA_DIR to the data folder of the service; qrn serve creates a new ledger\n`,
    });
    assert.deepEqual(await qrn('rotate-key'), {
      status: 1,
      out: '',
      talk: `qrn log rotate-key: there are no keys in ${keysPath}: set QRN_DATA_DIR to the data folder of the service, which creates them when it starts\n`,
    });
    await (await openTestLedger(there)).close();
    assert.match((await qrn('show')).talk, /^qrn log show: there is no log yet[^\n]*\n$/);
  });

  it('shows size, root and signer, and rotates the key so that old and new signatures stay verifiable', async () => {
    const oldProof = await serve(1, 3);
    const before = JSON.parse((await qrn('show', '--json')).out);
    const [first] = openLogKeys(keysPath, NAME, clock).published;
    assert.deepEqual([before.origin, before.size, before.signed_by], [NAME, 5, [first.key_id]]);
    assert.ok(before.checkpoint.startsWith(`${NAME}\n5\n${before.root}\n\n`));
    assert.match((await qrn('show')).out, /^size +5$/m);

    const { status, out, talk } = await qrn('rotate-key', '--json');
    assert.equal(status, 0);
    assert.match(talk, /^Restart the service\. [^\n]*\n$/);
    const rotated = JSON.parse(out);
    assert.equal(rotated.replaces, first.key_id);
    assert.ok(!existsSync(join(keysPath, 'log-1.pem')) && existsSync(join(keysPath, 'log-1.json')));

    clock.advance(60_000);
    const newProof = await serve(2, 2);
    const shown = JSON.parse((await qrn('show', '--json')).out);
    assert.deepEqual([shown.size, shown.signed_by], [7, [rotated.key_id]]);
    const keys = openLogKeys(keysPath, NAME, clock);
    assert.equal(keys.currentKeyId, rotated.key_id);
    for (const [segment, proof] of [
      [1, oldProof],
      [2, newProof],
    ] as const) {
      const lots = [certifiedLot(LOT)];
      const facts = { source: SOURCE, lots, context: CONTEXT };
      const entry = answerEntry(100 * segment, { mode: 'csprng' });
      const certificate = certificateOf(idsOf().textOf(segment, 0), entry, facts);
      const proven = lots.map(({ leaf }) => ({ leaf, proof: null, runs: [] }));
      const document = certificateDocument(
        certificate,
        { verifyUrlBase: CONTEXT.verifyUrlBase, proof },
        proven,
        [],
      );
      const { ok, checks } = await verifyAnswer({ certificate: document, keys: keysDocument(keys) });
      assert.ok(ok, JSON.stringify(checks));
    }
    const signers = [oldProof, newProof].map(
      (proof) => parseNote(parseProof(proof)?.note ?? '')?.signatures[0].keyId,
    );
    assert.deepEqual(signers, [first.key_id, rotated.key_id]);
  });
});
