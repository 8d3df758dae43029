import type { EntropyReader } from './entropy-reader.ts';

/** The highest bit of a word. */
const HIGHEST = 1 << 31;

/** Single bits; those of the last word that nobody needs are dropped. */
export class Bits {
  readonly #reader: EntropyReader;
  /** What is left of the word, the next bit highest. */
  #word = 0;
  #left = 0;

  constructor(reader: EntropyReader) {
    this.#reader = reader;
  }

  next(): number {
    if (this.#left === 0) this.#refill();
    const bit = this.#word >>> 31;
    this.#word <<= 1;
    this.#left--;
    return bit;
  }

  /** The next bits as a whole number, the first the highest; 1 to 31 of them. */
  take(count: number): number {
    const left = this.#left;
    if (count < left) {
      const whole = this.#word >>> (32 - count);
      this.#word <<= count;
      this.#left -= count;
      return whole;
    }
    const high = left === 0 ? 0 : this.#word >>> (32 - left);
    this.#left = 0;
    if (count === left) return high;
    this.#refill();
    const rest = count - left;
    return (high << rest) | this.take(rest);
  }

  /** Uniform in [0, n), n small: the fast dice roller (Lumbroso 2013), which wastes less than a bit. */
  below(n: number): number {
    let range = 1;
    let offset = 0;
    for (;;) {
      range *= 2;
      offset = 2 * offset + this.next();
      if (range < n) continue;
      if (offset < n) return offset;
      range -= n;
      offset -= n;
    }
  }

  /**
   * Makes `fresh` a new uniform number and says whether it is below `other`; both get what bits the comparison needs, the new
   * one first of each place.
   */
  isNewLess(fresh: Fraction, other: Fraction): boolean {
    fresh.clear();
    const same = Math.clz32(this.#word ^ other.word);
    if (same < other.known && same < this.#left) {
      // they differ at a bit that is at hand of both
      fresh.known = same + 1;
      fresh.word = this.#word & (HIGHEST >> same);
      const isLess = ((this.#word >>> (31 - same)) & 1) === 0;
      this.#word = same === 31 ? 0 : this.#word << (same + 1);
      this.#left -= same + 1;
      return isLess;
    }
    for (let i = 0; ; i++) {
      const bit = fresh.append(this.next());
      const others = i < other.known ? other.bit(i) : other.append(this.next());
      if (bit !== others) return bit < others;
    }
  }

  erase(): void {
    this.#word = 0;
    this.#left = 0;
  }

  /** A word with its lowest bit made the highest. */
  #refill(): void {
    let word = this.#reader.u32();
    word = ((word >>> 1) & 0x5555_5555) | ((word & 0x5555_5555) << 1);
    word = ((word >>> 2) & 0x3333_3333) | ((word & 0x3333_3333) << 2);
    word = ((word >>> 4) & 0x0f0f_0f0f) | ((word & 0x0f0f_0f0f) << 4);
    word = ((word >>> 8) & 0x00ff_00ff) | ((word & 0x00ff_00ff) << 8);
    this.#word = (word >>> 16) | (word << 16);
    this.#left = 32;
  }
}

/** A uniform number in (0, 1), of which only the bits that somebody looked at exist. The object is used again. */
export class Fraction {
  /** Its first bits, the first the highest, and zeros. */
  word = 0;
  known = 0;
  /** Its bits behind those of a word. */
  readonly more: number[] = [];

  bit(i: number): number {
    return i < 32 ? (this.word >>> (31 - i)) & 1 : this.more[i - 32];
  }

  append(bit: number): number {
    if (this.known < 32) this.word |= bit << (31 - this.known);
    else this.more.push(bit);
    this.known++;
    return bit;
  }

  clear(): void {
    this.word = 0;
    this.known = 0;
    if (this.more.length > 0) this.more.length = 0;
  }
}
