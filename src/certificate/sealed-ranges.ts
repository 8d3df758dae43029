import { assert } from '../core/assert.ts';

/** Sequences from `from` up to, and without, `before`. */
export interface SequenceRange {
  readonly from: number;
  readonly before: number;
}

/**
 * Which segments are in the log. Several fronts commit segments at once, each with numbers of its own, and a
 * commit that failed leaves a number unused: so what is sealed is a set of ranges, and what may still come
 * are its gaps.
 */
export class SealedRanges {
  /** Ascending, apart from each other, none empty. */
  readonly #ranges: SequenceRange[];

  constructor(ranges: readonly SequenceRange[] = []) {
    let end = -1;
    for (const { from, before } of ranges) {
      assert(Number.isSafeInteger(from) && Number.isSafeInteger(before), 'sequences are whole numbers');
      assert(end < from && from < before, 'ranges ascend, apart from each other');
      end = before;
    }
    this.#ranges = [...ranges];
  }

  get ranges(): readonly SequenceRange[] {
    return this.#ranges;
  }

  /** Where segments that are not sealed may be, ascending; the last gap has no end. */
  gaps(): SequenceRange[] {
    const gaps: SequenceRange[] = [];
    let from = 0;
    for (const range of this.#ranges) {
      if (from < range.from) gaps.push({ from, before: range.from });
      from = range.before;
    }
    gaps.push({ from, before: Number.POSITIVE_INFINITY });
    return gaps;
  }

  /** Marks the sequences from `from` up to, and without, `before`. */
  add(from: number, before: number): void {
    if (from >= before) return;
    let at = 0;
    while (at < this.#ranges.length && this.#ranges[at].before < from) at++;
    let end = at;
    let joined: SequenceRange = { from, before };
    while (end < this.#ranges.length && this.#ranges[end].from <= before) {
      const range = this.#ranges[end++];
      joined = { from: Math.min(joined.from, range.from), before: Math.max(joined.before, range.before) };
    }
    this.#ranges.splice(at, end - at, joined);
  }
}
