import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toHex } from '../../src/core/bytes.ts';
import { RequestIdSet } from '../../src/ledger/request-id-set.ts';

test('the set contains an id once it was added', () => {
  // Few distinct bytes, so that ids repeat and share slots.
  const id = fc
    .array(fc.constantFrom(0, 1, 255), { minLength: 16, maxLength: 16 })
    .map((bytes) => new Uint8Array(bytes));
  const property = fc.property(fc.array(id, { maxLength: 300 }), (ids) => {
    const set = new RequestIdSet();
    const seen = new Set<string>();
    for (const each of [...ids, ...ids]) {
      assert.equal(set.add(each), !seen.has(toHex(each)));
      seen.add(toHex(each));
    }
  });
  fc.assert(property, { numRuns: 50 });
});

test('the set grows and keeps every id', () => {
  const set = new RequestIdSet();
  const idOf = (n: number) => {
    const id = new Uint8Array(16);
    new DataView(id.buffer).setUint32(12, n);
    return id;
  };
  for (let n = 0; n < 5_000; n++) assert.ok(set.add(idOf(n)));
  for (let n = 0; n < 5_000; n++) assert.ok(!set.add(idOf(n)));
});
