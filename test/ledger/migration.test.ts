import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { closeSound, openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { block, filledSegment, lotId } from '../support/ledger-records.ts';

/**
 * A folder that the release with format 2 wrote: one account with a key, a lot with two pure and two
 * seed blocks of which one seed is claimed, a segment, two records of the transparency log, and among those the seed
 * generations 41 (pro) and 3 (enterprise) and the time of a write probe.
 */
const FORMAT_2 = new URL('./format-2/', import.meta.url);

/**
 * A folder that the last release with format 6 wrote: its log has segment 1, the log of its second incarnation has the
 * segments 3 and 6, leaves 2 to the first one, and has not sealed 5 and 9 yet.
 */
const FORMAT_6 = new URL('./format-6/', import.meta.url);

function folderOf(t: TestContext, format: URL): string {
  const path = temporaryFolder(t);
  writeFileSync(join(path, 'data.mdb'), gunzipSync(readFileSync(new URL('data.mdb.gz', format))));
  copyFileSync(new URL('block-keys', format), join(path, 'block-keys'));
  return path;
}

suite('a folder of format 2', () => {
  test('keeps everything, and its seed numbers leave the transparency log', async (t) => {
    const path = folderOf(t, FORMAT_2);
    const tool = await openTestLedger(path, { role: 'tool', readOnly: true });
    assert.deepEqual((await tool.audit()).problems, [], 'a tool reads it as it is');
    await tool.close();

    const ledger = await openTestLedger(path);
    assert.deepEqual((await ledger.audit()).problems, []);
    for (const key of ['seed-generation/pro', 'seed-generation/enterprise', 'watch/written-at']) {
      assert.equal(await ledger.getLog(key), undefined, key);
    }
    assert.deepEqual(await ledger.getLog('tile/0'), new Uint8Array(100).fill(7));
    assert.deepEqual(await ledger.segment(1), filledSegment(1, 3));
    assert.equal((await ledger.accounts()).length, 1);
    const { isWhole, accounts, keys } = await ledger.directoryChanges(0);
    assert.deepEqual([isWhole, accounts.length, keys.length], [true, 1, 1], 'its changes are not listed');
    assert.deepEqual(await ledger.claimBlocks('seed', 9), [
      { lotId: lotId(1), bytes: block('seed', 4).bytes, index: 1, releasedAtMs: null },
    ]);
    assert.equal((await ledger.claimBlocks('pure', 9)).length, 2);
    assert.equal(await ledger.nextSeedGeneration('pro'), 42);
    assert.equal(await ledger.nextSeedGeneration('enterprise'), 4);
    assert.equal(await ledger.nextSeedGeneration('developer'), 1);
    await ledger.close();

    const again = await openTestLedger(path);
    assert.equal(await again.nextSeedGeneration('pro'), 43, 'the migration ran once');
    await closeSound(again);
  });
});

test('a folder of format 6 lists what its newest log has not sealed', async (t) => {
  const path = folderOf(t, FORMAT_6);
  const unsealed = async () => {
    const ledger = await openTestLedger(path);
    const segments = await ledger.unsealed(100);
    await closeSound(ledger);
    return segments.map(({ sequence }) => sequence);
  };
  assert.deepEqual(await unsealed(), [5, 9]);
  assert.deepEqual(await unsealed(), [5, 9], 'the migration ran once');
});
