/** Fills the whole target with random bytes. */
export type ByteSource = (target: Uint8Array<ArrayBuffer>) => void;

/** One call per 64 KiB keeps its fixed cost (about 1 µs) below 1 % of the time per byte. */
const CHUNK_BYTES = 65_536;

/**
 * A byte source read as 32-bit words (in the host's byte order: little-endian on every platform that Node
 * ships for).
 */
export class RandomWords {
  readonly #source: ByteSource;
  readonly #bytes = new Uint8Array(CHUNK_BYTES);
  readonly #words = new Int32Array(this.#bytes.buffer);
  #next = CHUNK_BYTES / 4;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** 32 random bits as a signed word. */
  word(): number {
    if (this.#next === this.#words.length) {
      this.#source(this.#bytes);
      this.#next = 0;
    }
    return this.#words[this.#next++];
  }

  /** Erases the words that have been used: they say what the source is about to deliver. */
  eraseUsed(): void {
    this.#words.fill(0, 0, this.#next);
  }
}

/** Binary digits kept of each probability: what is cut off is below 2^-64. */
const DIGITS = 64;
const LANES = 32;

/**
 * Independent biased coins in bulk, 32 lanes at a time. A lane is 1 when a uniform binary fraction u is below
 * its probability p. Digit by digit from the most significant: u < p is decided at the first digit where they
 * differ, so a lane needs two digits on average and a word of 32 about seven; the lanes' digits are compared
 * with bit-wise operations. Exact up to the 64 digits of p, and without a branch on any outcome.
 */
export class Coins {
  readonly #width: number;
  /** Words after which the pattern of channels in a run of shots repeats. */
  readonly #period: number;
  /** planes[word * DIGITS + k]: digit k of the 32 lanes' probabilities, lane 0 in the top bit. */
  readonly #planes: Int32Array;
  /** Lanes whose probability is 1, which has no digits behind the point. */
  readonly #certain: Int32Array;
  /** Digits of a word after which every p has only zeros: an undecided lane is then u >= p. */
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
      rest *= 2; // exact: doubling and taking 1 off never round
      if (rest < 1) continue;
      rest -= 1;
      this.#planes[word * DIGITS + digit] |= mask;
      this.#digits[word] = Math.max(this.#digits[word], digit + 1);
    }
  }

  /**
   * Writes `shots` shots into `bits`, most significant bit first, from byte `at` on; the bits after the last
   * shot in its byte become 0, and no other byte changes.
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
