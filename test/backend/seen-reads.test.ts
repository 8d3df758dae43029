import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackendError } from '../../src/backend/backend.ts';
import { SeenReads } from '../../src/backend/seen-reads.ts';
import { MemoryNotes } from '../support/source-parts.ts';

function isRepetition(error: unknown): boolean {
  return error instanceof BackendError && error.kind === 'permanent';
}

test('a read that came before is refused, also after a restart', async () => {
  const memory = new MemoryNotes();
  const seen = new SeenReads(memory, 1);
  await seen.admit('aa', 128);
  await seen.admit('bb', 128);
  await assert.rejects(seen.admit('aa', 128), isRepetition);
  await assert.rejects(new SeenReads(memory, 1).admit('bb', 128), isRepetition);
});

test('the last 64 are remembered', async () => {
  const memory = new MemoryNotes();
  const seen = new SeenReads(memory, 1);
  for (let read = 0; read < 65; read++) await seen.admit(`read-${read}`, 4096);
  await seen.admit('read-0', 4096);
  await assert.rejects(seen.admit('read-2', 4096), isRepetition);
});

test('reads that may agree by chance are not compared', async () => {
  const memory = new MemoryNotes();
  const seen = new SeenReads(memory, 0.5);
  await seen.admit('aa', 255); // 127.5 bits of entropy
  await seen.admit('aa', 255);
  await seen.admit('aa', 256);
  await assert.rejects(seen.admit('aa', 256), isRepetition);
});
