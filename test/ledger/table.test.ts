import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { LedgerError } from '../../src/ledger/ledger.ts';
import { type RawDatabase, Table } from '../../src/ledger/lmdb/table.ts';
import { bytesCodec, type Key } from '../../src/ledger/store.ts';

/** A database of one table, with its stored bytes open to damage. */
function mapDatabase() {
  const stored = new Map<Key, Uint8Array>();
  const raw: RawDatabase = {
    get: (key) => stored.get(key),
    put: (key, value) => stored.set(key, new Uint8Array(value)),
    remove: (key) => stored.delete(key),
    getRange: () => [...stored].map(([key, value]) => ({ key, value })),
  };
  return { stored, raw };
}

const open = { open: true, wrote() {} };

test('a flipped byte, a cut value and a value under another key are detected', () => {
  const { stored, raw } = mapDatabase();
  const table = new Table<string, Uint8Array>('log', raw, bytesCodec, open);
  table.put('a', new Uint8Array([1, 2, 3, 4]));
  const good = stored.get('a');
  assert.ok(good !== undefined);
  for (let at = 0; at < good.length; at++) {
    const flipped = good.slice();
    flipped[at] ^= 0x10;
    stored.set('a', flipped);
    assert.throws(() => table.get('a'), isDamage);
    stored.set('a', good.slice(0, at));
    assert.throws(() => table.get('a'), isDamage);
  }
  stored.set('b', good);
  assert.throws(() => table.get('b'), isDamage);
  const other = new Table<string, Uint8Array>('rates', raw, bytesCodec, open);
  stored.set('a', good);
  assert.throws(() => other.get('a'), isDamage, 'a value of another table');
  assert.deepEqual([...(table.get('a') ?? [])], [1, 2, 3, 4]);
});

test('writes need a transaction', () => {
  const { raw } = mapDatabase();
  const closed = new Table<string, Uint8Array>('log', raw, bytesCodec, { open: false, wrote() {} });
  assert.throws(() => closed.put('x', new Uint8Array(1)), InvariantError);
  assert.throws(() => closed.remove('x'), InvariantError);
});

function isDamage(error: unknown): boolean {
  return error instanceof LedgerError && error.reason === 'damaged';
}
