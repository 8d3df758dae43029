import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SmallDisk } from '../support/small-disk.ts';
import { meetsFullDisk } from './full-disk.ts';

describe('a service whose disk is full', () => {
  it('draws nothing for what it refuses, is not ready, says so in a few lines, and serves again', async (t) => {
    const disk = SmallDisk.mount(400);
    if (disk === undefined) return t.skip('needs the right to mount; pure.test.ts has a disk of the test');
    t.after(() => disk.unmount());
    const { burnt, lines } = await meetsFullDisk(disk, {});
    assert.equal(burnt, 0, 'pure bytes were taken for refused requests');
    assert.ok(lines <= 10, `${lines} lines of warnings and errors`);
  });
});
