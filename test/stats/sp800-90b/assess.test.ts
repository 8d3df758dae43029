import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { assessBits, assessNonIid, ESTIMATORS } from '../../../src/stats/sp800-90b/assess.ts';
import { uniforms } from '../../support/chance.ts';

const FOR_BITS_ONLY = ['Collision', 'Markov', 'Compression'];

const uniformSymbols = (length: number, size: number): Uint8Array => {
  const uniform = uniforms(11);
  return Uint8Array.from({ length }, () => Math.floor(uniform() * size));
};

suite('assessment of wide symbols', () => {
  const symbols = uniformSymbols(8000, 16);
  const assessed = assessNonIid(symbols, 4);

  test('estimators that need bits run only on the bit string', () => {
    const wide = ESTIMATORS.filter((name) => !FOR_BITS_ONLY.includes(name));
    assert.deepEqual(Object.keys(assessed.estimators), wide);
    assert.deepEqual(Object.keys(assessed.bitstringEstimators ?? {}), [...ESTIMATORS]);
  });
});

test('two distinct symbols count as bits, however wide they are', () => {
  const bits = uniformSymbols(7000, 2);
  const wide = assessNonIid(
    bits.map((bit) => (bit === 0 ? 3 : 250)),
    8,
  );
  const narrow = assessNonIid(bits, 1);
  assert.deepEqual(wide.estimators, narrow.estimators);
  assert.equal(wide.hBitstring, null);
  assert.equal(wide.minEntropyPerSymbol, narrow.minEntropyPerSymbol);
  assert.equal(wide.minEntropyPerBit, narrow.minEntropyPerSymbol / 8);
});

test('a constant source has no entropy', () => {
  for (const value of [0, 1, 255]) {
    const assessed = assessNonIid(new Uint8Array(5000).fill(value), 8);
    assert.ok(Object.is(assessed.minEntropyPerSymbol, 0), `stuck at ${value}`);
  }
  assert.equal(assessBits(new Uint8Array(1000).fill(255), 8000).minEntropyPerBit, 0);
});

test('packed bits give the same result as bits', () => {
  const bits = uniformSymbols(7003, 2);
  // Bits after the last one must not count.
  const packed = new Uint8Array(Math.ceil(bits.length / 8)).fill(255);
  for (let i = 0; i < bits.length; i++) packed[i >> 3] &= ~((1 - bits[i]) << (7 - (i & 7)));
  assert.deepEqual(assessBits(packed, bits.length), assessNonIid(bits, 1));
});

test('a replayed block is found', () => {
  const block = uniformSymbols(10_000, 2);
  const replayed = new Uint8Array(20_000);
  replayed.set(block);
  replayed.set(block, block.length);
  assert.ok(assessNonIid(replayed, 1).minEntropyPerBit < 0.05);
  assert.ok(assessNonIid(uniformSymbols(20_000, 2), 1).minEntropyPerBit > 0.6);
});

test('estimators that do not apply are left out', () => {
  const assessed = assessNonIid(uniformSymbols(300, 2), 1);
  assert.ok(!('Compression' in assessed.estimators));
  assert.ok(!('MultiMCW Prediction' in assessed.estimators));
  assert.ok('Lag Prediction' in assessed.estimators);
  assert.deepEqual(Object.keys(assessNonIid(Uint8Array.of(0, 1), 1).estimators), [
    'Most Common Value',
    'Markov',
  ]);
});
