import assert from 'node:assert/strict';
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchWhole } from '../support/http.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TestServer } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

/** The service looks once a second. */
const ENDED_WITHIN_MS = 60_000;
const ASKED_EVERY_MS = 20;

/** Faults of the data folder: each is a refusal or a stop in one sentence, with status 1. */
suite('a real service', () => {
  test('stops when its journal is removed while it runs, and keeps what it acknowledged', async (t) => {
    const { server, key, ledgerPath } = await servedOnce(t);
    const file = journalOf(ledgerPath);
    rmSync(join(ledgerPath, file));
    const ids = await askedUntilEnd(server, key);
    assert.equal(await server.ended, 1);
    assert.match(server.output(), new RegExp(`${file} was removed or replaced while the service ran`));
    const again = await TestServer.spawnFor(t, {}, server.dataDir).ready();
    for (const id of ids) {
      const { status } = await again.get(`/certificate?id=${id}`);
      assert.equal(status, 200, `${id} was acknowledged`);
    }
  });

  test('stops when it can log no certificates any more', async (t) => {
    const { server, key } = await servedOnce(t);
    const keys = join(server.dataDir, 'keys');
    renameSync(keys, `${keys}-gone`); // at once: the log writes into it
    await askedUntilEnd(server, key);
    assert.equal(await server.ended, 1);
    assert.match(
      server.output(),
      /no certificate could be logged for 10 s .*keys, then start the service again/,
    );
  });

  test('does not make another keys/stored-answers while the ledger has answers for the missing one', async (t) => {
    const folder = scratchFolder();
    const served = await LocalService.startFor(t, {}, {}, folder);
    await served.service.ready;
    const headers = { 'x-api-key': served.key, 'idempotency-key': 'first' };
    assert.equal((await fetchWhole(`${served.service.baseUrl}/uuid`, { headers })).status, 200);
    await served.stop();
    const path = join(folder, 'keys', 'stored-answers');
    rmSync(path);
    const why = new RegExp(`${path} is missing, and the answers that are kept for an Idempotency-Key`);
    for (let start = 1; start <= 2; start++)
      await assert.rejects(LocalService.startFor(t, {}, {}, folder), why);
    // given up by hand, as the sentence says
    writeFileSync(path, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
    await LocalService.startFor(t, {}, {}, folder);
  });
});

/** A service that has given one answer. */
async function servedOnce(t: TestContext) {
  const server = TestServer.spawnFor(t, {});
  await server.ready();
  const { key } = await server.account('pro');
  const headers = { authorization: `Bearer ${key}` };
  assert.equal((await server.get('/uuid', headers)).status, 200);
  return { server, key, ledgerPath: join(server.dataDir, 'ledger') };
}

function journalOf(ledgerPath: string): string {
  const name = readdirSync(ledgerPath).find((each) => /^journal-\d+-\d+-a$/.test(each));
  assert.ok(name !== undefined);
  return name;
}

/** The ids of the certificates that the service acknowledged before it ended. */
async function askedUntilEnd(server: TestServer, key: string): Promise<string[]> {
  const ids: string[] = [];
  let hasEnded = false;
  void server.ended.then(() => {
    hasEnded = true;
  });
  const deadlineMs = performance.now() + ENDED_WITHIN_MS;
  while (!hasEnded) {
    assert.ok(performance.now() < deadlineMs, 'it goes on acknowledging');
    await sleep(ASKED_EVERY_MS);
    try {
      const reply = await server.get('/uuid', { authorization: `Bearer ${key}` });
      if (reply.status !== 200) continue;
      ids.push(((await reply.json()) as { metadata: { certificate_id: string } }).metadata.certificate_id);
    } catch {
      // it ends
    }
  }
  assert.ok(ids.length > 0);
  return ids;
}
