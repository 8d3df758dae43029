import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { verify } from '../../clients/typescript/program/verify.ts';
import { createKey, revokeKey } from '../../src/account/administration.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { readImportMark, writeImportMark } from '../../src/ledger/lmdb/import-mark.ts';
import { Database } from '../../src/ledger/postgres/connection.ts';
import { importStateOf } from '../../src/ledger/postgres/import.ts';
import { fetchWhole } from '../support/http.ts';
import { emptyDatabase } from '../support/postgres.ts';
import { runCommand, runQrnHere } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { until } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

interface Answer {
  readonly metadata: { readonly certificate_id: string };
}

suite('a service on LMDB that moves to PostgreSQL', () => {
  const folder = scratchFolder();
  const ledgerPath = join(folder, 'ledger');
  const nodePath = join(folder, 'node');
  let service: LocalService;
  let database: Database | undefined;
  after(async () => {
    await service?.stop();
    await database?.close();
  });

  /** An answer, and the text of it as it came. */
  async function draw(
    path: string,
    headers: Record<string, string> = {},
    key = service.key,
  ): Promise<string> {
    const reply = await fetchWhole(`${service.service.baseUrl}/${path}`, {
      headers: { 'x-api-key': key, ...headers },
    });
    const text = await reply.text();
    assert.equal(reply.status, 200, text);
    return text;
  }

  test('keeps its keys, answers, counters, blocks and its one log, and never serves from both', async () => {
    const url = await emptyDatabase();
    const qrn = (...args: string[]) => runQrnHere(folder, args, { QRN_LEDGER: url, QRN_NODE: 'a' });
    const refused = async (why: RegExp, ways: readonly string[] = ['--dry-run', '--yes']) => {
      for (const way of ways) {
        const { code, stderr, stdout } = await qrn('cluster', 'import-lmdb', way);
        assert.deepEqual([code, stdout], [1, ''], stderr);
        assert.match(stderr, why, way);
      }
    };
    service = await LocalService.start({}, {}, { dataDir: folder });
    await service.service.ready;
    const { key } = service;
    const pure = await draw('bytes?count=32&entropy_mode=pure');
    const kept = await draw('uuid?count=2&purpose=lottery', { 'idempotency-key': 'once' });
    await draw('integers?count=3&min=1&max=6&entropy_mode=quantum-seeded');
    const { ledger } = service.service;
    const [{ id: accountId }] = await ledger.accounts();
    const lost = await createKey(ledger, systemClock, { accountId });
    await revokeKey(ledger, systemClock, lost.record.keyId);
    const usage = await draw('usage');
    await refused(/there is no ledger in the database: start a node, or run qrn cluster init/);
    assert.equal((await qrn('cluster', 'init')).code, 0);
    await refused(/is using .*: stop it first/);
    await service.stop();
    const unclaimed = async (environment: Record<string, string>) => {
      const { stdout } = await runQrnHere(folder, ['ledger', 'audit', '--json'], environment);
      return (JSON.parse(stdout) as { blocks_unclaimed: number }).blocks_unclaimed;
    };
    const blocks = await unclaimed({});

    const strange = { QRN_LEDGER: await emptyDatabase(), QRN_NODE: 'a' };
    const strangerFolder = join(folder, 'stranger');
    mkdirSync(strangerFolder, { mode: 0o700 });
    assert.equal((await runQrnHere(strangerFolder, ['cluster', 'init'], strange)).code, 0);
    const astray = await runQrnHere(folder, ['cluster', 'import-lmdb', '--yes'], strange);
    assert.match(
      astray.stderr,
      /set up with different secrets than those in .*: keep that folder, create a new empty database/,
    );

    mkdirSync(nodePath);
    writeFileSync(join(nodePath, 'data.mdb'), '');
    await refused(/node is not empty, because this data folder was used by a node/);
    rmSync(nodePath, { recursive: true });
    writeFileSync(nodePath, '');
    await refused(/node is not a folder, but the node needs a folder there: move it away/);
    rmSync(nodePath);
    const draft = join(folder, 'ledger.imported.json.draft');
    mkdirSync(draft);
    await refused(
      /nothing was imported, .*EISDIR.* Make that folder writable for this user, and run the command again/,
      ['--yes'],
    );
    rmSync(draft, { recursive: true });
    database = new Database({ url, log: silentLog, connections: 1 });
    const { madeAtMs: databaseMadeAtMs } = await importStateOf(database);
    writeImportMark(ledgerPath, { id: 'x', database: 'elsewhere', databaseMadeAtMs: databaseMadeAtMs + 1 });
    await refused(
      /into another database, elsewhere, has begun or has ended: set QRN_LEDGER to that database/,
    );

    // as a crash between the mark and the commit leaves it: neither serves, and the command goes on
    writeImportMark(ledgerPath, { id: 'x', database: 'here', databaseMadeAtMs });
    await assert.rejects(LocalService.start({}, {}, { dataDir: folder }), /imported into PostgreSQL at here/);
    const audit = await runQrnHere(folder, ['ledger', 'audit']);
    assert.match(audit.stderr, /no longer used.*set QRN_LEDGER.*run it again/s);
    symlinkSync('nowhere', nodePath);
    const moved = await qrn('cluster', 'import-lmdb', '--yes');
    assert.equal(moved.code, 1);
    assert.match(
      moved.stderr,
      /the records are in the database, .* could not become that of the node: ENOTDIR.* run the command again/,
    );
    rmSync(nodePath);
    mkdirSync(nodePath); // an empty one is in nobody's way
    const renamed = await qrn('cluster', 'import-lmdb', '--yes');
    assert.deepEqual([renamed.code, renamed.stdout], [0, '']);
    assert.match(moved.stdout, /records\.segments +[1-9]/);
    assert.match(moved.stdout, /log_size +[1-9]\d*\n.*log_root +\S{44}\n/);
    assert.match(
      renamed.stderr,
      /Start the service with QRN_LEDGER and QRN_NODE=a\. The blocks of the node are in .*node/,
    );
    assert.ok(!existsSync(ledgerPath));
    assert.equal(readImportMark(ledgerPath)?.id, (await importStateOf(database)).importId);
    const anchor = readFileSync(join(nodePath, 'anchor.json'), 'utf8');
    assert.equal(anchor, readFileSync(join(folder, 'keys', 'anchor.json'), 'utf8'));

    // as a crash after the commit and a node that was started before the command ran again leave it
    renameSync(nodePath, ledgerPath);
    mkdirSync(nodePath);
    writeFileSync(join(nodePath, 'data.mdb'), '');
    const late = await qrn('cluster', 'import-lmdb', '--yes');
    assert.deepEqual([late.code, late.stdout], [0, '']);
    assert.match(
      late.stderr,
      /node is not empty, .* the unclaimed blocks in .*ledger are lost\. Delete that folder/,
    );
    rmSync(nodePath, { recursive: true });
    renameSync(ledgerPath, nodePath);

    // as a crash after the commit leaves it
    renameSync(nodePath, ledgerPath);
    await assert.rejects(LocalService.start({}, {}, { dataDir: folder }), /this folder is no longer used/);
    const another = { QRN_LEDGER: url, QRN_NODE: 'b' };
    const { stderr } = await runQrnHere(folder, ['cluster', 'import-lmdb', '--yes'], another);
    assert.match(stderr, /imported for the node a, .*: set QRN_NODE=a/);
    assert.ok(existsSync(ledgerPath));
    const finished = await qrn('cluster', 'import-lmdb', '--yes');
    assert.deepEqual([finished.code, finished.stdout], [0, '']);
    const again = await qrn('cluster', 'import-lmdb', '--yes');
    assert.match(again.stderr, /The ledger is already in the database/);
    await assert.rejects(LocalService.start({}, {}, { dataDir: folder }), /this folder is no longer used/);

    assert.equal(await unclaimed({ QRN_LEDGER: url, QRN_NODE: 'a' }), blocks);
    service = await LocalService.start({ QRN_LEDGER: url, QRN_NODE: 'a' }, {}, { dataDir: folder });
    await service.service.ready;
    assert.equal((await service.ask('/usage', lost.text)).status, 401);
    assert.equal(await draw('uuid?count=2&purpose=lottery', { 'idempotency-key': 'once' }, key), kept);
    assert.deepEqual(counted(await draw('usage', {}, key)), counted(usage));
    const fresh = await draw('bytes?count=32&entropy_mode=pure', {}, key);
    assert.notEqual(fresh, pure);
    const path = join(folder, 'answer.json');
    for (const answer of [pure, kept, fresh]) {
      await logged(answer, key);
      writeFileSync(path, answer);
      const { status, out, talk } = await runCommand(verify, [path, '--url', service.service.baseUrl]);
      assert.equal(status, 0, out + talk);
    }
    const report = await service.service.ledger.audit();
    assert.deepEqual(report.problems, []);
    assert.equal(report.certificates, 4);
  });

  async function logged(answer: string, key: string): Promise<void> {
    const { certificate_id: id } = (JSON.parse(answer) as Answer).metadata;
    await until(`${id} is proven`, async () => {
      const { body } = await service.ask<{ certificate: { proof: string | null } }>(
        `/certificate?id=${id}`,
        key,
      );
      return body.certificate.proof !== null;
    });
  }
});

/** Returns the usage of an account without its rate, which changes with time. */
function counted(text: string): unknown {
  const { data } = JSON.parse(text) as { data: { rate: unknown } };
  return { ...data, rate: undefined };
}
