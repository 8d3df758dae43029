import assert from 'node:assert/strict';
import { test } from 'node:test';
import { superposition } from '../../../src/backend/circuit.ts';
import { type ByteSource, RandomWords, systemBytes } from '../../../src/backend/simulator/coins.ts';
import { fixedBytes } from '../../support/backends.ts';
import { chiSquare } from '../../support/chi-square.ts';
import { measured } from '../../support/circuits.ts';

const constant =
  (byte: number): ByteSource =>
  (target) => {
    target.fill(byte);
  };

test('uniform uses 53 bits and stays below 1', () => {
  assert.equal(new RandomWords(constant(0xff)).uniform(), 1 - 2 ** -53);
  assert.equal(new RandomWords(constant(0)).uniform(), 0);
  assert.equal(
    new RandomWords(constant(0x80)).uniform(),
    Number(0x80808080n >> 5n) / 2 ** 27 + (0x80808080 >>> 6) / 2 ** 53,
  );
});

test('below is uniform and never reaches its bound', () => {
  const words = new RandomWords(fixedBytes('below'));
  for (const [bound, critical] of [
    [3, 13.8],
    [15, 36.1],
  ]) {
    const counts = new Uint32Array(bound);
    for (let i = 0; i < 30_000; i++) counts[words.below(bound)]++;
    assert.ok(chiSquare(counts, new Float64Array(bound).fill(1 / bound)) < critical); // one in a thousand
  }
});

test('words run on over the border of a chunk without loss', () => {
  const words = new RandomWords(fixedBytes('chunks'));
  const bytes = new Uint8Array(2 * 65_536);
  fixedBytes('chunks')(bytes);
  const expected = new Int32Array(bytes.buffer);
  for (const word of expected) assert.equal(words.word(), word);
});

test('a read leaves none of the randomness that decided it in memory', async () => {
  let chunk = new Uint8Array(0);
  const source = fixedBytes('erased');
  const testBytes: ByteSource = (target) => {
    source(target);
    chunk = target;
  };
  const readout = new Array(8).fill({ e01: 0.004, e10: 0.006 });
  await measured(superposition(8).circuit, readout, testBytes).take(100, new AbortController().signal); // about 175 words: 25 words of bits, seven digits each
  const words = new Int32Array(chunk.buffer);
  const used = words.findIndex((word) => word !== 0);
  assert.ok(used >= 100 && used < 400, `${used} words erased`);
});

test('the system source fills what it is given', () => {
  const bytes = new Uint8Array(65_536);
  systemBytes(bytes);
  assert.equal(new Set(bytes.subarray(49_152)).size, 256); // one value is missing with probability below 256 e^-64
});
