import assert from 'node:assert/strict';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { busyRun, type KeyName, type SpentName } from './busy-run.ts';
import type { Hit } from './needles.ts';

/** The names of what was found, each once. */
function found(hits: readonly Hit[]): string[] {
  return [...new Set(hits.map(({ name }) => name.replace(/, (hex|base64)$/, '')))].sort();
}

const names = <const N extends SpentName | KeyName>(...all: readonly N[]) => all.toSorted();

/** Files below a folder, by their path in it. */
function filesOf(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return all.filter((name) => lstatSync(join(folder, name)).isFile());
}

/**
 * Searches what a service that was busy, killed, restarted and stopped has printed and left behind for every secret
 * that it handled (see record-secrets.ts for how the test knows them). Canaries are planted where a leak would be, so
 * a search that finds only them has worked.
 */
test('secrets of a busy service', async (t) => {
  const run = await busyRun(t);
  const { needles } = run;

  await t.test('are in no line of its log', () => {
    const lines = run.log.split('\n');
    assert.ok(lines.length > 100, `${lines.length} lines`);
    for (const what of ['Incorrect API key: [secret]', 'seed taken', '"msg":"stopped"', '"status":401']) {
      assert.ok(run.log.includes(what), `the log says ${what}`);
    }
    assert.deepEqual(found(needles.in('log', Buffer.from(run.log))), names('canary in the log'));
  });

  await t.test('are in no error, page, measurement, certificate or table', () => {
    const statuses = new Set(run.told.map(({ what }) => what.split(' ').at(-1)));
    for (const status of ['200', '400', '401', '402', '403', '404', '405', '413', '415', '429']) {
      assert.ok(statuses.has(status), `an answer with status ${status}`);
    }
    for (const { what, text } of run.told) {
      assert.ok(text.length > 0, what);
      assert.deepEqual(found(needles.in(what, text)), [], `${what}: ${text}`);
    }
  });

  await t.test('are in no file of the data folder, including claimed blocks and the bytes of answers', () => {
    const at = (name: string) => found(needles.inFile(join(run.dataDir, name)));
    const files = filesOf(run.dataDir);
    assert.ok(files.includes('ledger/data.mdb') && files.includes('ledger/block-keys'));
    for (const name of files.filter((each) => each !== 'demo-key' && each !== 'ledger/canary')) {
      assert.deepEqual(at(name), [], name);
    }
    assert.deepEqual(at('demo-key'), names('API key'), 'which the operator removes');
    assert.deepEqual(at('ledger/canary'), names('canary in the data folder'));
  });

  await t.test('are in no backup', () => {
    assert.deepEqual(filesOf(run.backupDir), ['data.mdb']);
    assert.deepEqual(found(needles.inFile(join(run.backupDir, 'data.mdb'))), []);
  });

  await t.test('are in no heap snapshot, except keys in use in that of the first thread', () => {
    const threads = [...run.snapshots.keys()];
    assert.equal(threads.length, 3, `snapshots of ${threads.join()}`);
    for (const [thread, path] of run.snapshots) {
      const hits = found(needles.inFile(path));
      const canary = names('canary on the heap');
      if (thread !== 'main') assert.deepEqual(hits, canary, `${thread}: the ledger's or the worker's`);
      else assert.deepEqual(hits, [...names('API key'), ...canary, ...names('key of a provider')]);
    }
  });

  const skip = run.memory === undefined && 'the memory of another process cannot be read here';
  await t.test('are no longer in memory once they are used up', { skip }, () => {
    const { hits, bytes } = run.memory!;
    assert.ok(bytes > 50e6, `${bytes} bytes of memory were searched`);
    const there = found(hits);
    assert.ok(there.includes('canary in memory') && there.includes('canary on the heap'));
    // SECURITY.md says what else may be there: answers, their values and salts until the memory is used again
    const gone = names(
      'quantum seed',
      'system entropy of a seed',
      'used state of a generator',
      'block or answer key',
    );
    assert.deepEqual(
      there.filter((name) => gone.some((each) => each === name)),
      [],
    );
  });

  const hasModes = process.platform !== 'win32';
  await t.test('are in files and folders that only their owner may read', { skip: !hasModes }, () => {
    const modeOf = (name: string) => (lstatSync(join(run.dataDir, name)).mode & 0o777).toString(8);
    const all = ['', ...readdirSync(run.dataDir, { recursive: true, encoding: 'utf8' })];
    const open = all.filter((name) => {
      const isFolder = lstatSync(join(run.dataDir, name)).isDirectory();
      return modeOf(name) !== (isFolder ? '700' : '600');
    });
    assert.deepEqual(open, ['keys/log-1.json'], 'a public key');
    assert.equal((lstatSync(run.backupDir).mode & 0o777).toString(8), '700');
    assert.equal((lstatSync(join(run.backupDir, 'data.mdb')).mode & 0o777).toString(8), '600');
  });
});
