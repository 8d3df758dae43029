import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { test } from 'node:test';
import { Needles } from './needles.ts';
import { canReadMemory, searchMemory } from './process-memory.ts';

/** Makes entropy of every kind, erases it, and prints parts of it with every bit turned over. */
const CHILD = `
import { wipe } from '${import.meta.resolve('../../src/core/bytes.ts')}';
import { Expander, expandPiece } from '${import.meta.resolve('../../src/crypto/expander.ts')}';
import { fillSystemEntropy } from '${import.meta.resolve('../../src/crypto/system-entropy.ts')}';
import { systemReader } from '${import.meta.resolve('../../src/pool/supply/keystream.ts')}';
const key = () => fillSystemEntropy(new Uint8Array(new ArrayBuffer(32)));
const ways = {
  piece: () => expandPiece(key()),
  refill: () => { const given = new Uint8Array(4064); new Expander(key()).fill(given); return given; },
  system: () => { const [given, reader] = [new Uint8Array(65504), systemReader()]; reader.fill(given); reader.erase(); return given; },
};
for (const [name, make] of Object.entries(ways)) {
  for (let i = 0; i < 20; i++) {
    const made = make();
    for (let at = 0; at + 16 <= made.length; at += 1024)
      console.log(name, Buffer.from(made.subarray(at, at + 16).map((byte) => ~byte)).toString('hex'));
    wipe(made);
  }
}
const canary = key();
console.log('canary', Buffer.from(canary.map((byte) => ~byte)).toString('hex'));
console.log('done');
process.stdin.on('data', () => console.log(canary.length));
`;

async function linesOf(child: ChildProcess, needles: Needles): Promise<void> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const [name, hex] = line.split(' ');
    if (hex === undefined) return;
    needles.add(
      name,
      Buffer.from(hex, 'hex').map((byte) => ~byte),
    );
  }
}

/** Node frees the buffers of OpenSSL's output without erasing them: see `eraseFreed`. */
test('entropy that was erased is not in freed memory either', async (t) => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', CHILD], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  if (!canReadMemory(child.pid!)) return t.skip('the memory of another process cannot be read here');
  const needles = new Needles();
  await linesOf(child, needles);
  const { hits } = searchMemory(child.pid!, needles);
  assert.deepEqual([...new Set(hits.map(({ name }) => name))], ['canary']);
});
