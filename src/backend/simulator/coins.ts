/** Fills the whole target with random bytes. */
export type ByteSource = (target: Uint8Array<ArrayBuffer>) => void;

/** With 64 KiB a call, the fixed cost of a call (about 1 µs) is below 1 % of the time. */
const CHUNK_BYTES = 65_536;

/** Reads a byte source as 32-bit words, in the host's byte order: little-endian on every platform of Node. */
export class RandomWords {
  readonly #source: ByteSource;
  readonly #bytes = new Uint8Array(CHUNK_BYTES);
  readonly #words = new Int32Array(this.#bytes.buffer);
  #next = CHUNK_BYTES / 4;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** Returns 32 random bits as a signed word. */
  word(): number {
    if (this.#next === this.#words.length) {
      this.#source(this.#bytes);
      this.#next = 0;
    }
    return this.#words[this.#next++];
  }

  /** Erases the words that have been used, since they determine the bits that the source delivers. */
  eraseUsed(): void {
    this.#words.fill(0, 0, this.#next);
  }
}

/** Binary digits of each probability. The error is below 2^-64. */
const DIGITS = 64;
const LANES = 32;

/**
 * Tosses independent biased coins in bulk, 32 lanes at a time. A lane is 1 if a uniform binary fraction u is below its
 * probability p. The first digit in which u and p differ decides, so a lane needs two digits on average, and a word of
 * 32 lanes about seven. Bitwise operations compare the digits of all lanes at once, without a branch on an outcome. The
 * result is exact for the 64 digits of p.
 */
export class Coins {
  readonly #width: number;
  /** After this many words the assignment of channels to lanes repeats. */
  readonly #period: number;
  /** planes[word * DIGITS + k] holds digit k of the probabilities of 32 lanes, lane 0 in the top bit. */
  readonly #planes: Int32Array;
  /** For each word a mask of the lanes with probability 1, which has no digits after the point. */
  readonly #certain: Int32Array;
  /** For each word, how many digits are not all zero. A lane that is undecided after them has u >= p. */
  readonly #digits: Uint8Array;

  /** Channel i of every shot is 1 with probability probabilities[i]. */
  constructor(probabilities: readonly number[]) {
    this.#width = probabilities.length;
    this.#period = this.#width / greatestCommonDivisor(this.#width, LANES);
    this.#planes = new Int32Array(this.#period * DIGITS);
    this.#certain = new Int32Array(this.#period);
    this.#digits = new Uint8Array(this.#period);
    for (let bit = 0; bit < this.#period * LANES; bit++) {
      this.#setLane(Math.floor(bit / LANES), bit % LANES, probabilities[bit % this.#width]);
    }
  }

  #setLane(word: number, lane: number, probability: number): void {
    const mask = 1 << (LANES - 1 - lane);
    if (probability >= 1) {
      this.#certain[word] |= mask;
      return;
    }
    let rest = probability;
    for (let digit = 0; digit < DIGITS && rest > 0; digit++) {
      rest *= 2; // exact: neither doubling nor subtracting 1 rounds
      if (rest < 1) continue;
      rest -= 1;
      this.#planes[word * DIGITS + digit] |= mask;
      this.#digits[word] = Math.max(this.#digits[word], digit + 1);
    }
  }

  /**
   * Writes `shots` shots into `bits`, most significant bit first, from byte `at` on. Sets the rest of the last byte to
   * 0 and changes no other byte.
   */
  fill(bits: Uint8Array, at: number, shots: number, words: RandomWords): void {
    const count = shots * this.#width;
    const end = at + Math.ceil(count / 8);
    let word = 0;
    while (at < end) {
      const tossed = this.#toss(word, words);
      word = word + 1 === this.#period ? 0 : word + 1;
      bits[at] = tossed >>> 24;
      if (at + 1 < end) bits[at + 1] = tossed >>> 16;
      if (at + 2 < end) bits[at + 2] = tossed >>> 8;
      if (at + 3 < end) bits[at + 3] = tossed;
      at += 4;
    }
    const used = count % 8;
    if (used !== 0) bits[end - 1] &= 0xff00 >>> used;
  }

  #toss(word: number, words: RandomWords): number {
    let ones = this.#certain[word];
    let undecided = ~ones;
    const first = word * DIGITS;
    const end = first + this.#digits[word];
    for (let digit = first; digit < end && undecided !== 0; digit++) {
      const p = this.#planes[digit];
      const u = words.word();
      ones |= undecided & p & ~u;
      undecided &= ~(p ^ u);
    }
    return ones;
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
