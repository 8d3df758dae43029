import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keptEntries, RecentEntries } from '../../src/backend/seen.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { MemoryNotes } from '../support/source-parts.ts';

describe('the store of recent entries', () => {
  it('forgets the oldest entry, and no other', () => {
    const entries = new RecentEntries(2);
    entries.set('a', '1');
    entries.set('b', '2');
    entries.set('a', '3');
    entries.set('c', '4');
    assert.deepEqual(
      ['a', 'b', 'c'].map((key) => entries.get(key)),
      ['3', undefined, '4'],
    );
  });

  it('keeps the newest plan of four after a restart, and forgets one that is deleted', async () => {
    const memory = new MemoryNotes();
    const plans = keptEntries(memory, 'submissions');
    await plans.load();
    for (const key of ['a', 'b', 'c', 'd', 'e']) plans.set(key, `plan ${key}`);
    assert.ok(plans.delete('b'));
    await plans.keep();
    const later = keptEntries(memory, 'submissions');
    await later.load();
    later.set('f', 'plan f');
    later.set('g', 'plan g');
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => later.get(key)?.at(-1)),
      [undefined, undefined, undefined, 'd', 'e', 'f', 'g'],
    );
  });
});

describe('responses of a service', () => {
  const response = (index: number) => String(index).padStart(64, '0').split('').reverse().join('');

  it('remembers ten thousand responses and then forgets the oldest', async () => {
    const seen = keptEntries(new MemoryNotes(), 'responses');
    await seen.load();
    for (let index = 0; index < 10_000; index++) assert.ok(seen.isNew(response(index)));
    assert.ok(!seen.isNew(response(0)));
    assert.ok(seen.isNew(response(10_000)));
    assert.ok(!seen.isNew(response(1)));
    assert.ok(seen.isNew(response(0)));
  });

  it('remembers the newest 128 after a restart', async () => {
    const memory = new MemoryNotes();
    const seen = keptEntries(memory, 'responses');
    for (let index = 0; index < 200; index++) seen.isNew(response(index));
    await seen.keep();
    const later = keptEntries(memory, 'responses');
    await later.load();
    assert.ok(!later.isNew(response(199)) && !later.isNew(response(72)));
    assert.ok(later.isNew(response(71)));
    assert.ok([...memory.notes.values()].every((note) => note.length <= 8192));
  });

  it('rejects a note of another form instead of treating it as empty', async () => {
    const memory = new MemoryNotes();
    for (const note of ['{}', '["aa"]', '[["aa",1]]']) {
      memory.notes.set('responses', note);
      await assert.rejects(keptEntries(memory, 'responses').load(), InvariantError, note);
    }
  });
});
