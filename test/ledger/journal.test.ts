import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Journal, readJournal } from '../../src/ledger/journal.ts';
import { temporaryFolder } from '../support/ledger-folder.ts';

const HALF_BYTES = 256;

function record(n: number, size = 20): Uint8Array {
  return new Uint8Array(size).fill(n);
}

function leftIn(path: string): number[] {
  return readJournal(path, HALF_BYTES).map((bytes) => bytes[0]);
}

function journalOf(t: TestContext): { path: string; journal: Journal } {
  const path = join(temporaryFolder(t), 'journal-1');
  const journal = Journal.create(path, HALF_BYTES);
  assert.deepEqual(leftIn(path), []);
  return { path, journal };
}

test('what was appended and not settled is found, oldest first', (t) => {
  const { path, journal } = journalOf(t);
  assert.ok(journal.append(record(1)));
  assert.ok(journal.append(record(2)));
  const first = journal.turn();
  assert.ok(journal.append(record(3)));
  assert.deepEqual(leftIn(path), [1, 2, 3]);
  journal.settle(first);
  assert.deepEqual(leftIn(path), [3]);
  journal.settle(journal.turn());
  assert.deepEqual(leftIn(path), []);
  journal.close();
});

test('generations take turns in the two halves', (t) => {
  const { path, journal } = journalOf(t);
  for (let n = 1; n <= 6; n++) {
    journal.append(record(n));
    assert.deepEqual(leftIn(path), n === 1 ? [1] : [n - 1, n]);
    const generation = journal.turn();
    if (n > 1) journal.settle(generation - 1);
  }
  journal.close(); // killed here
  assert.deepEqual(leftIn(path), [6]);
});

test('the file has its length from the start, and is gone after a clean end', async (t) => {
  const { path, journal } = journalOf(t);
  assert.equal(statSync(path).size, 2 * HALF_BYTES);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  journal.append(record(1));
  await journal.flush();
  assert.equal(statSync(path).size, 2 * HALF_BYTES);
  journal.remove();
  journal.close();
  assert.ok(!existsSync(path));
});

test('a half that is full takes no more, and says so', (t) => {
  const { path, journal } = journalOf(t);
  assert.ok(journal.append(record(1, 200)));
  assert.ok(!journal.append(record(2, 40)));
  assert.ok(!journal.append(record(3, HALF_BYTES)));
  assert.deepEqual(leftIn(path), [1]);
  journal.turn();
  assert.ok(journal.append(record(4, HALF_BYTES - 32)));
  assert.deepEqual(leftIn(path), [1, 4]);
  journal.close();
});

test('a record torn at any byte ends what is read; older records of the half are not taken for new ones', (t) => {
  const { path, journal } = journalOf(t);
  for (const n of [1, 2, 3]) journal.append(record(n));
  const before = journal.turn();
  journal.settle(before);
  journal.turn();
  journal.append(record(9)); // over record 1 of the same half; 2 and 3 still stand behind it
  journal.close();
  assert.deepEqual(leftIn(path), [9]);
  const whole = readFileSync(path);
  const at = whole.findIndex((byte, i) => byte === 9 && whole[i + 19] === 9);
  for (let torn = at - 32; torn < at + 20; torn++) {
    const copy = Buffer.from(whole);
    copy[torn] ^= 0x40;
    writeFileSync(path, copy);
    assert.deepEqual(leftIn(path), [], `byte ${torn}`);
  }
  writeFileSync(path, whole);
  truncateSync(path, at + 10);
  assert.deepEqual(leftIn(path), []);
});
