import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeenResponses } from '../../src/backend/qrng-http/seen-responses.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { MemoryNotes } from '../support/source-parts.ts';

const response = (index: number) => new TextEncoder().encode(`response ${index}`);

test('ten thousand responses are known again, the oldest then forgotten', async () => {
  const seen = new SeenResponses(new MemoryNotes());
  await seen.recall();
  for (let index = 0; index < 10_000; index++) assert.ok(seen.add(response(index)));
  assert.equal(seen.add(response(0)), false);
  assert.ok(seen.add(response(10_000)));
  assert.equal(seen.add(response(1)), false);
  assert.ok(seen.add(response(0)));
});

test('the newest 128 are known after a restart', async () => {
  const memory = new MemoryNotes();
  const seen = new SeenResponses(memory);
  for (let index = 0; index < 200; index++) seen.add(response(index));
  await seen.keep();
  const later = new SeenResponses(memory);
  await later.recall();
  assert.equal(later.add(response(199)), false);
  assert.equal(later.add(response(72)), false);
  assert.ok(later.add(response(71)));
  assert.ok([...memory.notes.values()].every((note) => note.length <= 4096));
});

test('a note that is not of this form is a fault, not an empty one', async () => {
  const memory = new MemoryNotes();
  memory.notes.set('responses', 'zz');
  await assert.rejects(new SeenResponses(memory).recall(), InvariantError);
});
