import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerMemory } from '../../src/answer/answer-memory.ts';

const MIB = 2 ** 20;

describe('memory of large answers', () => {
  it('is large enough, and all zero, also when it was used before', () => {
    const memory = new AnswerMemory();
    for (const size of [1, 131_072, 131_073, 400_000, MIB, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 20 * MIB]) {
      const taken = memory.take(size);
      assert.ok(taken.length >= size && taken.byteOffset === 0);
      assert.equal(taken.length, taken.buffer.byteLength, 'whole, so that it can move');
      taken.fill(0xee, 0, size);
      memory.give(taken, size);
      assert.ok(memory.take(size).every((byte) => byte === 0));
    }
  });

  it('goes round among answers of about one size', () => {
    const memory = new AnswerMemory();
    const first = memory.take(300_000);
    memory.give(first, 300_000);
    assert.equal(memory.take(500_000), first);
    assert.notEqual(memory.take(500_000), first, 'one owner at a time');
    memory.give(first, 0);
    assert.notEqual(memory.take(600_000), first);
  });

  it('is kept up to a bound', () => {
    const memory = new AnswerMemory();
    const taken = Array.from({ length: 12 }, () => memory.take(4 * MIB));
    for (const each of taken) memory.give(each, 0);
    assert.equal(memory.spareBytes, 32 * MIB);
    memory.give(memory.take(9 * MIB), 0);
    assert.equal(memory.spareBytes, 32 * MIB, 'what is larger than most answers goes to the collector');
    for (let i = 0; i < 8; i++) memory.take(4 * MIB);
    assert.equal(memory.spareBytes, 0);
  });
});
