import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawUnique, uniqueBytesMax } from '../../src/values/unique.ts';
import { keystreamReader } from './keystream.ts';

describe('drawUnique', () => {
  it('allows for repeats as well as for refused words', () => {
    // The second of two values out of 1024 repeats the first with p = 2^-10: seven times in a row with p = 2^-70 only,
    // six times with 2^-60, which the bound must still hold, each repeat costing a word.
    assert.ok(uniqueBytesMax(1_024, 2, 64) >= 4 * (1 + 6));
  });

  it('refuses more values than the range has', () => {
    assert.throws(() => drawUnique(keystreamReader(64), 3, 4));
  });
});
