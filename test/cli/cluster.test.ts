import assert from 'node:assert/strict';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { emptyDatabase } from '../support/postgres.ts';
import { runQrnHere } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

test('cluster init prepares a database once for all nodes, and refuses a node with other secrets', async () => {
  const url = await emptyDatabase();
  const [first, second] = [scratchFolder(), scratchFolder()];
  const qrn = (folder: string, ...args: string[]) =>
    runQrnHere(folder, args, { QRN_LEDGER: url, QRN_NODE: 'a' });
  const before = await qrn(first, 'cluster', 'status');
  assert.equal(before.code, 1);
  assert.match(before.stderr, /there is no ledger in the database: start a node, or run qrn cluster init/);
  for (let run = 1; run <= 2; run++) {
    const made = await qrn(first, 'cluster', 'init');
    assert.deepEqual([made.code, made.stdout], [0, '']);
    assert.match(made.stderr, /The database is ready \(schema \d+\)\. Copy .*keys to every node\./);
  }
  assert.match(readFileSync(join(first, 'keys', 'log-1.json'), 'utf8'), /public_key/);
  const other = await qrn(second, 'cluster', 'init');
  assert.equal(other.code, 1);
  assert.match(other.stderr, /certificate-ids is missing from .*keys\. All nodes share one set of secrets/);
  renameSync(join(first, 'keys'), join(second, 'keys'));
  assert.equal((await qrn(second, 'cluster', 'init')).code, 0);
  const unknown = await qrn(second, 'cluster', 'fence', 'nobody', '--yes');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /there is no node nobody; qrn cluster status lists the nodes/);
  for (const args of [
    ['ledger', 'compact'],
    ['ledger', 'restore', first, '--yes'],
  ]) {
    const refused = await qrn(second, ...args);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /works only with a ledger in the data folder, but QRN_LEDGER is set/);
  }
});
