import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { CertificateIds } from '../../src/certificate/ids.ts';
import {
  checkIdentity,
  firstIncarnation,
  folderIdentity,
  readAnchor,
  readIncarnations,
  writeAnchor,
  writeIncarnations,
} from '../../src/certificate/incarnation.ts';
import {
  acceptMove,
  beginIncarnation,
  type CertificateFolders,
  type OpenCertificates,
  openCertificates,
} from '../../src/certificate/open.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { ledger as ledgerCommand } from '../../src/cli/ledger.ts';
import { log as logCommand } from '../../src/cli/log.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import { openSecretFile } from '../../src/crypto/key-files.ts';
import { leafHash } from '../../src/crypto/merkle.ts';
import { parseCheckpoint, parseNote } from '../../src/crypto/note.ts';
import { fetchWhole } from '../support/http.ts';
import { openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { freePort } from '../support/programs.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { runQrn, TestServer } from '../support/server.ts';
import { answerEntry, lotRecord, seededSource, segmentRecord, TIME_MS } from './fixtures.ts';
import { LogWorld } from './log-world.ts';

/** Real copies of real folders: every way in which a ledger can turn out not to be the one that was signed for. */

const NAME = 'qrn.test/log';
const LOT = lotRecord('a');

class DataFolder {
  readonly path: string;
  readonly clock: ManualClock;
  #answers: number;

  constructor(path: string, clock = new ManualClock(TIME_MS), answers = 0) {
    this.path = path;
    this.clock = clock;
    this.#answers = answers;
  }

  get ledgerPath(): string {
    return join(this.path, 'ledger');
  }

  get keysPath(): string {
    return join(this.path, 'keys');
  }

  async with<T>(use: (folders: CertificateFolders) => Promise<T>): Promise<T> {
    const ledger = await openTestLedger(this.ledgerPath, { clock: this.clock });
    const { ledgerPath, keysPath, clock } = this;
    try {
      return await use({ ledger, ledgerPath, keysPath, logName: NAME, clock });
    } finally {
      await ledger.close();
    }
  }

  /** A life of the service: opens, answers, logs unless it is killed before, closes. Gives the ids of the answers. */
  serve(answers: number, isKilled = false, lot = LOT): Promise<string[]> {
    return this.with(async (folders) => {
      const { log, held } = await openCertificates(folders);
      assert.equal(held, null);
      assert.ok(log !== undefined);
      const { ledger } = folders;
      if (answers === 0) return [];
      const block = (fill: number) => ({ kind: 'pure' as const, bytes: new Uint8Array(64).fill(fill) });
      await ledger.addLot(lot, [block(1), block(2), block(3)]);
      const { from: sequence } = await ledger.leaseSequences();
      const incarnations = (await readIncarnations(ledger)) ?? [];
      const secret = openSecretFile(join(this.keysPath, 'certificate-ids'));
      const ids = new CertificateIds(secret, incarnations);
      const entries = Array.from({ length: answers }, () =>
        answerEntry(++this.#answers, { issuedAtMs: this.clock.wallMs() }),
      );
      if (lot !== LOT) await log.seal();
      await ledger.commit([segmentRecord(sequence, [seededSource(lot.id)], entries)], []);
      if (!isKilled) await log.sealAll();
      return entries.map((_, i) => ids.textOf(sequence, i));
    });
  }

  open(): Promise<OpenCertificates> {
    return this.with(openCertificates);
  }

  async held(): Promise<string> {
    const { held, log } = await this.open();
    assert.ok(held !== null);
    assert.equal(log, undefined, 'nothing can be signed');
    return held;
  }

  find(id: string): Promise<{ document: CertificateDocument | string; keys: object }> {
    return this.with(async (folders) => {
      const { certificates } = await openCertificates(folders);
      return { document: await certificates.find(id), keys: await certificates.keys() };
    });
  }

  /** The certificate is found, and all of it holds. */
  async assertVerified(id: string): Promise<void> {
    const { document, keys } = await this.find(id);
    assert.ok(typeof document === 'object', `${id} is ${document}`);
    const { checks } = await verifyAnswer({ certificate: document, keys });
    assert.deepEqual(
      checks.filter(({ ok }) => !ok),
      [],
    );
  }

  restore() {
    return this.with(beginIncarnation);
  }

  qrn(...args: string[]) {
    return runCommand(ledgerCommand, args, { QRN_DATA_DIR: this.path, QRN_LOG_NAME: NAME }, this.clock);
  }

  /** `cp -r`. */
  copyTo(path: string): DataFolder {
    cpSync(this.path, path, { recursive: true, preserveTimestamps: true });
    return new DataFolder(path, this.clock, this.#answers);
  }
}

function folder(t: TestContext): DataFolder {
  return new DataFolder(join(temporaryFolder(t), 'data'));
}

/** Asserts that no id was issued twice. */
function assertApart(some: readonly string[], others: readonly string[]): void {
  assert.equal(new Set([...some, ...others]).size, some.length + others.length);
}

function sizeOf(note: string): number {
  return parseCheckpoint(parseNote(note)?.text ?? '')?.size ?? -1;
}

describe('a ledger that is the original', () => {
  it('continues over restarts, and its newest checkpoint is kept beside the keys', async (t) => {
    const data = folder(t);
    await data.serve(3);
    assert.equal(sizeOf(readAnchor(data.keysPath)?.checkpoint ?? ''), 5);
    const [id] = await data.serve(2);
    assert.equal(sizeOf(readAnchor(data.keysPath)?.checkpoint ?? ''), 7);
    await data.assertVerified(id);
  });

  it('continues when the keys are older than the ledger, with no key missing', async (t) => {
    const data = folder(t);
    await data.serve(3);
    cpSync(data.keysPath, `${data.keysPath}-old`, { recursive: true });
    await data.serve(2);
    rmSync(data.keysPath, { recursive: true });
    renameSync(`${data.keysPath}-old`, data.keysPath);
    await data.serve(1);
    assert.equal(sizeOf(readAnchor(data.keysPath)?.checkpoint ?? ''), 8);
  });

  it('continues after a compaction, which makes a new data file', async (t) => {
    const data = folder(t);
    await data.serve(3);
    assert.equal((await data.qrn('compact')).status, 0);
    await data.serve(1);
  });

  it('is held back when its data file is older than the start that signed last, even with a complete log', async (t) => {
    const data = folder(t);
    await data.serve(1);
    const file = join(data.ledgerPath, 'data.mdb');
    const before = readFileSync(file);
    await data.with(async ({ ledger }) => {
      // as if the start had signed its last checkpoint again
      const anchor = readAnchor(data.keysPath)!;
      writeAnchor(data.keysPath, { ...anchor, ledger: ledger.identity });
    });
    writeFileSync(file, before);
    for (let starts = 1; starts <= 3; starts++)
      assert.match(await data.held(), /it is from before start 2, which signed last: it is an earlier state/);
    writeFileSync(file, before);
    const anchor = readAnchor(data.keysPath)!;
    writeAnchor(data.keysPath, { ...anchor, ledger: { ledgerId: 1, start: 1 } });
    assert.match(await data.held(), /it is another ledger, which began with the same log/);
  });

  it('continues after a crash between its first checkpoint and the note of its incarnation', async (t) => {
    const data = folder(t);
    await data.serve(0);
    const fresh = new DataFolder(`${data.path}-fresh`, data.clock);
    await fresh.with(async (folders) => {
      const noted: typeof folders.ledger = {
        ...folders.ledger,
        putLog: async (records, step, released) => {
          if (records.some(({ key }) => key === 'incarnations')) throw new Error('power cut');
          return folders.ledger.putLog(records, step, released);
        },
      };
      await assert.rejects(openCertificates({ ...folders, ledger: noted }), /power cut/);
    });
    await fresh.serve(1);
  });
});

describe('a node of several on one ledger', () => {
  it('continues when another node began a later incarnation, but only in its own folder', async () => {
    const world = new LogWorld();
    const { checkpoint } = await world.open();
    const first = firstIncarnation(NAME, TIME_MS);
    await writeIncarnations(world.store, [first, { ...first, number: 1, origin: `${NAME}/1` }]);
    const [own, other] = [scratchFolder(), scratchFolder()];
    const anchor = { version: 1, incarnation: 0, folder: folderIdentity(own), checkpoint } as const;
    const kindIn = async (folder: string, isShared: boolean) =>
      (await checkIdentity(world.store, folder, anchor, isShared)).kind;
    assert.equal(await kindIn(own, true), 'original');
    assert.equal(await kindIn(other, true), 'behind');
    assert.equal(await kindIn(own, false), 'behind', 'nobody else writes the ledger');
  });

  it('is held back, like any node, if the log does not continue what it has signed', async () => {
    const [world, folder] = [new LogWorld(), scratchFolder()];
    const { checkpoint } = await world.open();
    await writeIncarnations(world.store, [firstIncarnation(NAME, TIME_MS)]);
    const later = new LogWorld();
    later.lots.set(LOT.id, LOT);
    const log = await later.open();
    await log.seal();
    const kindOf = async (signed: string) => {
      const anchor = {
        version: 1,
        incarnation: 0,
        folder: folderIdentity(folder),
        checkpoint: signed,
      } as const;
      return (await checkIdentity(world.store, folder, anchor, true)).kind;
    };
    assert.deepEqual([await kindOf(checkpoint), await kindOf(log.checkpoint)], ['original', 'behind']);
    // nothing is stored: a first start that was cut off has signed no leaf, as the first incarnation and in this folder
    const ofNothing = async (signed: string, incarnation: number, place: string) => {
      const anchor = { version: 1, incarnation, folder: folderIdentity(folder), checkpoint: signed } as const;
      return (await checkIdentity(new LogWorld().store, place, anchor)).kind;
    };
    const kinds = [
      await ofNothing(checkpoint, 0, folder),
      await ofNothing(log.checkpoint, 0, folder),
      await ofNothing(checkpoint, 1, folder),
      await ofNothing(checkpoint, 0, scratchFolder()),
    ];
    assert.deepEqual(kinds, ['new', 'behind', 'behind', 'behind']);
    assert.equal(
      (await checkIdentity(world.store, folder, undefined, true)).kind,
      'original',
      'one that joins',
    );
    assert.equal((await checkIdentity(world.store, folder, undefined)).kind, 'behind');
    const id = existsSync('/etc/machine-id') ? readFileSync('/etc/machine-id', 'utf8').trim() : '';
    const { ino, birthtimeNs } = statSync(folder, { bigint: true });
    assert.deepEqual(folderIdentity(folder), {
      inode: String(ino),
      birthNs: String(birthtimeNs),
      machine: id === '' ? null : sha256Hex(Buffer.from(`qrn ledger folder\n${id}`)),
    });
  });
});

describe('a copied folder', () => {
  it('is held back: it can be read, but neither signs nor opens its log for signing', async (t) => {
    const data = folder(t);
    const [id] = await data.serve(3);
    const copy = data.copyTo(`${data.path}-copy`);
    assert.match(
      await copy.held(),
      /it is a copy: the folder was created again\..*qrn ledger moved.*qrn ledger restore/,
    );
    await copy.assertVerified(id);
    assert.equal(sizeOf(readAnchor(copy.keysPath)?.checkpoint ?? ''), 5);
    await data.serve(1);
  });

  it('continues as the same incarnation when the operator says that it was moved', async (t) => {
    const data = folder(t);
    const [id] = await data.serve(3);
    const copy = data.copyTo(`${data.path}-copy`);
    rmSync(data.path, { recursive: true });
    const { status, talk } = await copy.qrn('moved');
    assert.equal(status, 0, talk);
    const [next] = await copy.serve(1);
    for (const each of [id, next]) await copy.assertVerified(each);
  });

  it('gives other ids and signs another log after it begins a new incarnation, and repeats no block', async (t) => {
    const data = folder(t);
    const before = await data.serve(3);
    const copy = data.copyTo(`${data.path}-copy`);
    const { status, out } = await copy.qrn('restore', copy.ledgerPath, '--json');
    assert.equal(status, 0);
    const told = JSON.parse(out);
    assert.deepEqual([told.incarnation, told.origin, told.blocks_burned], [1, `${NAME}/1`, 3]);
    const [original, restored] = [await data.serve(4), await copy.serve(4)];
    assertApart(original, restored);
    for (const id of [...before, ...restored]) await copy.assertVerified(id);
    for (const id of [...before, ...original]) await data.assertVerified(id);
    assert.equal((await copy.find(original[0])).document, 'unknown');
    const claimed = await copy.with(({ ledger }) => ledger.claimBlocks('pure', 10));
    assert.deepEqual(claimed, [], 'the blocks of the copy are burned, and its lot gives no more');
  });

  it('names in its first leaf the last checkpoint before the copy', async (t) => {
    const data = folder(t);
    await data.serve(3);
    const last = readAnchor(data.keysPath)?.checkpoint;
    const copy = data.copyTo(`${data.path}-copy`);
    await copy.restore();
    const keys = await copy.with(async (folders) => (await openCertificates(folders)).certificates.keys());
    const leaf = JSON.parse(keys.first_leaf ?? '');
    assert.deepEqual(leaf.predecessor, { origin: NAME, checkpoint: last });
    assert.deepEqual([leaf.type, leaf.number, leaf.origin], ['incarnation', 1, `${NAME}/1`]);
    const tile = await copy.with(async (folders) =>
      (await openCertificates(folders)).certificates.tile(0, 0),
    );
    const expected = leafHash(Buffer.from(keys.first_leaf ?? ''));
    assert.deepEqual(Buffer.from(tile ?? []), Buffer.from(expected));
  });
});

describe('a ledger that was rolled back', () => {
  /** The ledger as it was after three answers, under keys that have signed for five. */
  async function setBack(t: TestContext): Promise<{ data: DataFolder; lost: string[]; kept: string[] }> {
    const data = folder(t);
    const kept = await data.serve(3);
    const snapshot = `${data.ledgerPath}-snapshot`;
    cpSync(data.ledgerPath, snapshot, { recursive: true });
    const lost = await data.serve(2);
    // its very folder stays, as with a disk that is set back
    for (const file of ['data.mdb', 'lock.mdb', 'block-keys']) {
      rmSync(join(data.ledgerPath, file), { recursive: true, force: true });
      if (existsSync(join(snapshot, file)))
        cpSync(join(snapshot, file), join(data.ledgerPath, file), { recursive: true });
    }
    return { data, lost, kept };
  }

  it('is held back, and cannot be declared as moved', async (t) => {
    const { data, kept } = await setBack(t);
    assert.match(
      await data.held(),
      /its log has 5 leaves, but a tree of 7 leaves was signed: it is an earlier state/,
    );
    await data.assertVerified(kept[0]);
    const { status, talk } = await data.qrn('moved');
    assert.equal(status, 1);
    assert.match(
      talk,
      /was not only moved: its log has 5 leaves.*must be restored: see docs\/operations\.md\n$/,
    );
    await assert.rejects(data.with(acceptMove), /must be restored/);
  });

  it('gives no id a second time after it was restored, and its log names the lost checkpoint', async (t) => {
    const { data, lost, kept } = await setBack(t);
    const { incarnation } = await data.restore();
    assert.equal(sizeOf(incarnation.predecessor?.checkpoint ?? ''), 7);
    const fresh = await data.serve(2);
    assertApart(fresh, lost);
    for (const id of [...kept, ...fresh]) await data.assertVerified(id);
    assert.equal((await data.find(lost[0])).document, 'unknown');
  });

  it('is detected even with another history of the same size', async (t) => {
    const data = folder(t);
    await data.serve(3);
    const fork = data.copyTo(`${data.path}-fork`);
    await data.serve(2);
    await fork.with(acceptMove);
    fork.clock.advance(1_000);
    await fork.serve(2);
    // the fork's ledger in the place of the original
    rmSync(join(data.ledgerPath, 'data.mdb'));
    cpSync(join(fork.ledgerPath, 'data.mdb'), join(data.ledgerPath, 'data.mdb'));
    assert.match(
      await data.held(),
      /its first 7 leaves are not those that were signed: it is another history/,
    );
  });

  it('can be restored twice, and every incarnation has its own ids and log', async (t) => {
    const { data } = await setBack(t);
    await data.restore();
    const [second] = await data.serve(1);
    const [unlogged] = await data.serve(1, true);
    const copy = data.copyTo(`${data.path}-copy`);
    const { incarnation } = await copy.restore();
    assert.equal(incarnation.number, 2);
    const [third] = await copy.serve(1);
    assert.notEqual(second, third);
    for (const id of [second, third]) await copy.assertVerified(id);
    const { document } = await copy.find(unlogged);
    assert.ok(
      typeof document === 'object' && document.certificate.proof === null,
      'no later log signs for it',
    );
  });

  it('never uses the key of an incarnation that was begun and not finished', async (t) => {
    const { data } = await setBack(t);
    mkdirSync(join(data.keysPath, 'incarnation-1'));
    assert.equal((await data.restore()).incarnation.number, 2);
  });
});

describe('a backup', () => {
  it('is put back by qrn ledger restore, which says what to do next', async (t) => {
    const data = folder(t);
    const kept = await data.serve(3);
    const backup = `${data.path}-backup`;
    await data.with(({ ledger }) => ledger.backup(backup));
    const lost = await data.serve(2);
    assert.match((await data.qrn('restore', backup)).talk, /is not empty: move the ledger in it away/);
    rmSync(data.ledgerPath, { recursive: true });
    const { status, out, talk } = await data.qrn('restore', backup);
    assert.equal(status, 0, talk);
    assert.match(out, /^incarnation +1$/m);
    assert.match(talk, /Back up the keys folder now/);
    const fresh = await data.serve(2);
    assertApart(fresh, lost);
    for (const id of [...kept, ...fresh]) await data.assertVerified(id);
  });

  it('is refused when it holds no ledger, and nothing changes', async (t) => {
    const data = folder(t);
    await data.serve(1);
    const { status, talk } = await data.qrn('restore', join(data.path, 'keys'));
    assert.equal(status, 1);
    assert.match(talk, /contains no ledger: there is no data\.mdb in it/);
    await data.serve(1);
  });
});

describe('a service on a copy of a data folder', () => {
  it('says why it serves nothing, and serves again after a restore, with other ids and other bytes', async (t) => {
    const original = TestServer.spawnFor(t, {});
    await original.ready();
    const { dataDir } = original;
    const first = (await (await original.get('/integers?count=3')).json()) as Answer;
    await original.kill('SIGTERM');
    const copyDir = join(temporaryFolder(t), 'copy');
    cpSync(dataDir, copyDir, { recursive: true });

    const port = String(await freePort());
    const held = TestServer.spawnFor(t, { QRN_PORT: port }, copyDir);
    const origin = `http://127.0.0.1:${port}`;
    const readyz = () => fetchWhole(`${origin}/readyz`).catch(() => undefined);
    await held.until('it answers', async () => (await readyz()) !== undefined);
    const notReady = await readyz();
    assert.equal(notReady?.status, 503);
    assert.match((await notReady?.text()) ?? '', /it is a copy: .*qrn ledger moved.*qrn ledger restore/);
    const headers = { authorization: `Bearer ${readFileSync(join(dataDir, 'demo-key'), 'utf8').trim()}` };
    for (const mode of ['pure', 'quantum-seeded', 'csprng']) {
      const refused = await fetchWhole(`${origin}/v1/integers?entropy_mode=${mode}`, { headers });
      assert.equal(refused.status, 503, mode);
    }
    await held.until('health has looked', async () => {
      const health = await fetchWhole(`${origin}/v1/health`, { headers });
      return health.status === 503 && (await health.text()).includes('it is a copy');
    });
    const { certificate_id: id } = first.metadata;
    const shown = await fetchWhole(`${origin}/verify/${id}`, { headers: { accept: 'application/json' } });
    assert.equal(shown.status, 200, 'certificates can still be read');
    await held.kill('SIGTERM');

    const { code, stderr } = await runQrn(copyDir, ['ledger', 'restore', join(copyDir, 'ledger')]);
    assert.equal(code, 0, stderr);
    const answers: Answer[][] = [];
    for (const folder of [dataDir, copyDir]) {
      const server = TestServer.spawnFor(t, {}, folder);
      await server.ready();
      const asked = Array.from({ length: 5 }, async () => {
        const response = await server.get('/bytes?count=64&entropy_mode=pure');
        assert.equal(response.status, 200);
        return (await response.json()) as Answer;
      });
      answers.push(await Promise.all(asked));
      const [last] = answers[answers.length - 1];
      const file = join(folder, 'answer.json');
      writeFileSync(file, JSON.stringify(last));
      assert.match(await server.qrn('verify', file, '--url', server.baseUrl), /verified$/m);
      await server.kill('SIGTERM');
    }
    const [ids, data] = [
      answers.flat().map(({ metadata }) => metadata.certificate_id),
      answers.flat().map((answer) => JSON.stringify(answer.data)),
    ];
    for (const all of [ids, data]) assert.equal(new Set(all).size, all.length);
  });
});

interface Answer {
  readonly data: object;
  readonly metadata: { readonly certificate_id: string };
}

describe('keys', () => {
  it('prevent a start when they are lost, and a restore begins a log with new ones', async (t) => {
    const data = folder(t);
    const [id] = await data.serve(3);
    rmSync(data.keysPath, { recursive: true });
    await assert.rejects(data.open(), /anchor\.json.*missing.*qrn ledger restore/);
    assert.ok(!existsSync(join(data.keysPath, 'log-1.pem')), 'no key was made in their place');
    const { incarnation } = await data.restore();
    assert.deepEqual(incarnation.predecessor?.keys, []);
    const [next] = await data.serve(1, false, lotRecord('b'));
    await data.assertVerified(next);
    assert.equal((await data.find(id)).document, 'unknown', 'ids are read with the key that is lost');
  });

  it('that were rotated after a kill sign for everything that was issued in their time', async (t) => {
    const data = folder(t);
    await data.serve(1);
    const [id] = await data.serve(1, true);
    data.clock.advance(60_000);
    const environment = { QRN_DATA_DIR: data.path, QRN_LOG_NAME: NAME };
    const { status, talk } = await runCommand(logCommand, ['rotate-key'], environment, data.clock);
    assert.deepEqual([status, talk.split('\n').length], [0, 2], talk);
    data.clock.advance(60_000);
    const [next] = await data.serve(1);
    await data.assertVerified(id);
    await data.assertVerified(next);
  });

  it('prevent a start when the one for certificate ids is missing or wrong, and none is made in its place', async (t) => {
    const data = folder(t);
    await data.serve(3);
    const path = join(data.keysPath, 'certificate-ids');
    rmSync(path);
    const message = `${path} is missing: put it back from a copy of the keys folder. If there is no copy, run qrn ledger restore ${data.ledgerPath}: it begins a new log, and earlier certificates can no longer be found by their ids`;
    for (let start = 0; start < 2; start++)
      await assert.rejects(data.open(), { name: 'CertificateLogError', message });
    openSecretFile(path);
    await assert.rejects(
      data.open(),
      /certificate-ids in the keys folder is not the key that this log was written/,
    );
  });

  it('prevent a start when their ledger is missing', async (t) => {
    const data = folder(t);
    await data.serve(3);
    rmSync(data.ledgerPath, { recursive: true });
    await assert.rejects(data.open(), /it is empty, but a log of 5 leaves was signed/);
    const { incarnation } = await data.restore();
    assert.equal(sizeOf(incarnation.predecessor?.checkpoint ?? ''), 5);
    await data.assertVerified((await data.serve(1))[0]);
  });

  it('prevent a start when the anchor is torn', async (t) => {
    const data = folder(t);
    await data.serve(1);
    const path = join(data.keysPath, 'anchor.json');
    const whole = readFileSync(path, 'utf8');
    for (const text of [whole.slice(0, 40), '', '{"version":1}', 'null']) {
      writeFileSync(path, text);
      await assert.rejects(data.open(), { message: `${path} is damaged: put it back from a backup` });
    }
    writeFileSync(path, '{"version":2}');
    await assert.rejects(data.open(), { message: `${path} is of a later release` });
    writeFileSync(path, whole);
    writeFileSync(join(data.keysPath, 'log-1.pem'), '');
    await assert.rejects(data.open(), /log-1\.pem is damaged and contains no Ed25519 key: restore it/);
  });
});
