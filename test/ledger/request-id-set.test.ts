import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestIdSet } from '../../src/ledger/request-id-set.ts';

test('the set has an id once it was added, and keeps it when it grows', () => {
  const set = new RequestIdSet();
  // ids that differ in one word, so that each word counts
  const ids = Array.from({ length: 20_000 }, (_, n) => {
    const id = new Uint8Array(16);
    new DataView(id.buffer).setUint32(4 * (n % 4), n);
    return id;
  });
  for (const isNew of [true, false]) for (const id of ids) assert.equal(set.add(id), isNew);
});
