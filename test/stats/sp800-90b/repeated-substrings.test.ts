import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { symbolBits } from '../../../src/stats/sp800-90b/alphabet.ts';
import type { RepeatedSubstrings } from '../../../src/stats/sp800-90b/kernels.ts';
import {
  longestRepeatedSubstring,
  repeatedSubstrings,
  tTuple,
} from '../../../src/stats/sp800-90b/repeated-substrings.ts';
import { plainRepeatedSubstrings } from '../../reference/sp800-90b/substrings.ts';
import { sources } from './sources.ts';

const ALPHABETS = [2, 2, 3, 5, 8, 20, 256];

/** The counts that are promised: lengths 1 and up. */
const promised = ({ sampleCount, longest, mostFrequent, equalPairs }: RepeatedSubstrings) => ({
  sampleCount,
  longest,
  mostFrequent: [...mostFrequent.subarray(1)],
  equalPairs: [...equalPairs.subarray(1)],
});

test("the counts at every length equal the plain twin's", () => {
  const property = fc.property(sources({ min: 1, max: 250 }, ALPHABETS), ({ symbols, alphabetSize }) => {
    const actual = repeatedSubstrings(symbols, symbolBits(alphabetSize));
    assert.deepEqual(promised(actual), promised(plainRepeatedSubstrings(symbols)));
  });
  fc.assert(property, { numRuns: 80 });
});

test('a stuck source repeats every word at every place', () => {
  const n = 100_000;
  const repeats = repeatedSubstrings(new Uint8Array(n), 1);
  assert.equal(repeats.longest, n - 1);
  for (const length of [1, 2, 31, 32, 33, 5000, n - 1]) {
    const places = n - length + 1;
    assert.equal(repeats.mostFrequent[length], places);
    assert.equal(repeats.equalPairs[length], (places * (places - 1)) / 2);
  }
});

suite('t-tuple and LRS estimates', () => {
  const repeats: RepeatedSubstrings = {
    sampleCount: 101,
    longest: 4,
    mostFrequent: Int32Array.of(0, 60, 40, 20, 2),
    equalPairs: Float64Array.of(0, 3000, 1500, 400, 1),
  };

  test('the estimates do not apply when no tuple is frequent enough, or nothing longer repeats', () => {
    assert.equal(tTuple({ ...repeats, mostFrequent: Int32Array.of(0, 34, 3, 2, 2) }), null);
    assert.equal(
      longestRepeatedSubstring({ ...repeats, mostFrequent: Int32Array.of(0, 60, 50, 40, 35) }),
      null,
    );
    const distinct = repeatedSubstrings(
      Uint8Array.from({ length: 256 }, (_, i) => i),
      8,
    );
    assert.equal(distinct.longest, 0);
    assert.equal(tTuple(distinct), null);
    assert.equal(longestRepeatedSubstring(distinct), null);
  });
});
