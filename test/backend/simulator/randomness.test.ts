import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ByteSource, RandomWords } from '../../../src/backend/simulator/coins.ts';
import { MeasuredQubits } from '../../../src/backend/simulator/qubits.ts';
import { fixedBytes } from '../../support/backends.ts';

test('words continue across the border of a chunk without loss', () => {
  const words = new RandomWords(fixedBytes('chunks'));
  const bytes = new Uint8Array(2 * 65_536);
  fixedBytes('chunks')(bytes);
  const expected = new Int32Array(bytes.buffer);
  for (const word of expected) assert.equal(words.word(), word);
});

test('a read leaves none of its randomness in memory', async () => {
  let chunk = new Uint8Array(0);
  const source = fixedBytes('erased');
  const testBytes: ByteSource = (target) => {
    source(target);
    chunk = target;
  };
  const readout = new Array(8).fill({ e01: 0.004, e10: 0.006 });
  const qubits = new MeasuredQubits({ readout, bias: 0 }, testBytes);
  await qubits.take(100, new AbortController().signal); // about 175 words: 25 words of bits, seven digits each
  const words = new Int32Array(chunk.buffer);
  const used = words.findIndex((word) => word !== 0);
  assert.ok(used >= 100 && used < 400, `${used} words erased`);
});
