/**
 * How often each m-bit pattern stands in the sequence read as a ring (the first m - 1 bits are appended: SP 800-22
 * 2.11.4 step 1, 2.12.4 step 1). The serial and the approximate-entropy test share these counts.
 */
import { assert } from '../../core/assert.ts';
import { type BitSequence, wordAt } from './sequence.ts';

export interface PatternCounts {
  /** m; m = 0 stands for the empty pattern, found n times. */
  readonly patternBits: number;
  readonly counts: Int32Array;
}

/** Windows that one 32-bit word holds whole, for patterns of up to 16 bits. */
const AT_ONCE = 17;

export function countPatterns(bits: BitSequence, patternBits: number): PatternCounts {
  assert(patternBits >= 0 && patternBits <= 16 && patternBits <= bits.length, 'patterns have 0 to 16 bits');
  const { words, length } = bits;
  const counts = new Int32Array(2 ** patternBits);
  if (patternBits === 0) counts[0] = length;
  else {
    const shift = 32 - patternBits;
    const straight = length - patternBits + 1;
    let at = 0;
    for (; at + AT_ONCE <= straight; at += AT_ONCE) {
      let word = wordAt(words, at);
      for (let i = 0; i < AT_ONCE; i++) {
        counts[word >>> shift]++;
        word <<= 1;
      }
    }
    const mask = 2 ** patternBits - 1;
    const bitOf = (position: number) => wordAt(words, position % length) >>> 31;
    let window = 0;
    for (let i = 0; i < patternBits - 1; i++) window = (window << 1) | bitOf(at + i);
    for (; at < length; at++) {
      window = ((window << 1) | bitOf(at + patternBits - 1)) & mask;
      counts[window]++;
    }
  }
  return { patternBits, counts };
}

/** The counts of a shorter pattern: on a ring every pattern goes on with a zero or a one. */
export function foldPatterns(patterns: PatternCounts, patternBits: number): PatternCounts {
  let { counts } = patterns;
  for (let m = patterns.patternBits; m > patternBits; m--) {
    const shorter = new Int32Array(counts.length / 2);
    for (let i = 0; i < shorter.length; i++) shorter[i] = counts[2 * i] + counts[2 * i + 1];
    counts = shorter;
  }
  return { patternBits, counts };
}
