import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jobNotes, RecentEntries, readsAdmission, SeenBits } from '../../src/backend/seen.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { failsWith } from '../support/backend-contract.ts';
import { MemoryNotes } from '../support/source-parts.ts';

const REPETITION = failsWith('permanent', /came before|repeats that of job/);

describe('the store of recent entries', () => {
  it('forgets the entry that was set longest ago, and no other', () => {
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
    const plans = jobNotes(memory, 'submissions');
    await plans.load();
    for (const key of ['a', 'b', 'c', 'd', 'e']) plans.set(key, `plan ${key}`);
    assert.ok(plans.delete('b'));
    await plans.keep();
    const later = jobNotes(memory, 'submissions');
    await later.load();
    later.set('f', 'plan f');
    later.set('g', 'plan g');
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => later.get(key)?.at(-1)),
      [undefined, undefined, undefined, 'd', 'e', 'f', 'g'],
    );
  });
});

describe('reads', () => {
  it('refuses one of the last 64 that came before, also after a restart', async () => {
    const memory = new MemoryNotes();
    const admit = readsAdmission(memory, 1);
    for (let read = 0; read < 65; read++) await admit(`read-${read}`, 4096);
    await admit('read-0', 4096);
    await assert.rejects(admit('read-2', 4096), REPETITION);
    await assert.rejects(readsAdmission(memory, 1)('read-64', 128), REPETITION);
  });

  it('does not compare reads that may agree by chance', async () => {
    const admit = readsAdmission(new MemoryNotes(), 0.5);
    await admit('aa', 255); // 127.5 bits of entropy
    await admit('aa', 255);
    await admit('aa', 256);
    await assert.rejects(admit('aa', 256), REPETITION);
  });
});

describe('results of jobs', () => {
  const words = (earlier: string) => `repeats that of job ${earlier}`;

  it('refuses a result that another job gave, also after a restart, and takes the same job again', async () => {
    const memory = new MemoryNotes();
    const seen = new SeenBits(memory, 'results');
    await seen.admit('aa', words, 'job 1');
    await seen.admit('aa', words, 'job 1');
    await assert.rejects(seen.admit('aa', words, 'job 2'), REPETITION);
    await assert.rejects(new SeenBits(memory, 'results').admit('aa', words, 'job 2'), REPETITION);
    await new SeenBits(memory, 'results').admit('aa', words, 'job 1');
  });
});

describe('responses of a service', () => {
  const response = (index: number) => String(index).padStart(64, '0').split('').reverse().join('');

  it('knows ten thousand responses again and then forgets the oldest', async () => {
    const seen = new SeenBits(new MemoryNotes(), 'responses');
    await seen.load();
    for (let index = 0; index < 10_000; index++) assert.equal(seen.add(response(index)), undefined);
    assert.ok(seen.add(response(0)));
    assert.equal(seen.add(response(10_000)), undefined);
    assert.ok(seen.add(response(1)));
    assert.equal(seen.add(response(0)), undefined);
  });

  it('knows the newest 128 after a restart', async () => {
    const memory = new MemoryNotes();
    const seen = new SeenBits(memory, 'responses');
    for (let index = 0; index < 200; index++) seen.add(response(index));
    await seen.keep();
    const later = new SeenBits(memory, 'responses');
    await later.load();
    assert.ok(later.add(response(199)) && later.add(response(72)));
    assert.equal(later.add(response(71)), undefined);
    assert.ok([...memory.notes.values()].every((note) => note.length <= 8192));
  });

  it('rejects a note of another form, instead of taking it for an empty one', async () => {
    const memory = new MemoryNotes();
    for (const note of ['{}', '["aa"]', '[["aa",1]]']) {
      memory.notes.set('responses', note);
      await assert.rejects(new SeenBits(memory, 'responses').load(), InvariantError, note);
    }
  });
});
