import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownKept } from '../../../src/ledger/postgres/kept-read.ts';

test('what a node knows a standby to have is the newest state of each key, and of 4,096 keys at most', () => {
  const known = new KnownKept<number, string>();
  for (let key = 1; key < 4_096; key++) known.note(key, 'first');
  known.note(1, 'second');
  known.note(4_096, 'first');
  assert.deepEqual([known.of(1), known.of(2), known.of(4_096)], ['second', 'first', 'first']);
  known.note(4_097, 'first');
  assert.deepEqual([known.of(1), known.of(4_096), known.of(4_097)], [undefined, undefined, 'first']);
});
