import { Bits, Fraction } from './bits.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { GaussianRounding } from './gaussian-rounding.ts';

/**
 * Normally distributed decimals, exactly: each value is a real number X of N(mean, stddev²) rounded to the nearest decimal
 * with so many significant digits, and no step approximates. `mean` and `stddev` are the decimals that JSON prints for them.
 *
 * 1. *The deviate.* Algorithm N of Karney 2016, "Sampling exactly from the normal distribution" (ACM TOMS 42:1), compares
 *    random bits and computes nothing else. It takes k >= 0 with probability proportional to exp(-k/2), accepts it with
 *    probability exp(-k(k-1)/2), takes x uniform in (0, 1) and accepts it with probability exp(-x(2k+x)/2). The product of the
 *    three is exp(-(k+x)²/2), so k + x is |Z| of a standard normal Z; one more bit is its sign. Each exponential is a
 *    probability of von Neumann's method: a row of uniforms that falls n times has probability v^n / n! for a first bound v,
 *    and the row ends at an even n with probability sum (-v)^n / n! = exp(-v).
 * 2. *Its digits.* All decisions look at the first bits of x alone. The bits that were not drawn are still independent and
 *    uniform, so they are drawn when they are needed (`Fraction`).
 * 3. *The rounding.* After b bits X lies between two rational numbers that are stddev / 2^b apart. When both round to the same
 *    decimal, X does; until then four more bits of x are drawn (gaussian-rounding.ts). X lies on the border between
 *    two decimals with probability 0.
 *
 * The bits are those of the entropy's 32-bit words (little-endian), the lowest first.
 */
export interface GaussiansRequest {
  readonly kind: 'gaussians';
  readonly count: number;
  /** Within ±10^6. */
  readonly mean: number;
  /** 10^-9 to 10^6. */
  readonly stddev: number;
  /** Significant decimal digits of each value, 2 to 14. */
  readonly digits: number;
}

/** Draws one value after the other. */
export class GaussianDraws {
  readonly #bits: Bits;
  readonly #sampler: DeviateSampler;
  readonly #rounding: GaussianRounding;

  constructor(reader: EntropyReader, request: GaussiansRequest) {
    this.#bits = new Bits(reader);
    this.#sampler = new DeviateSampler(this.#bits);
    this.#rounding = roundingOf(request);
  }

  next(): number {
    const whole = this.#sampler.draw();
    return this.#rounding.round(whole, this.#sampler.fraction, this.#bits.next() === 1, this.#bits);
  }

  /** Writes the value that `next` gave last as JSON; returns where it ends. */
  write(value: number, target: Uint8Array, at: number): number {
    return this.#rounding.write(value, target, at);
  }

  erase(): void {
    this.#bits.erase();
    this.#sampler.erase();
    this.#rounding.erase();
  }
}

/** Step 1: whole part and fraction of |Z| of a standard normal Z. */
class DeviateSampler {
  /** Of the last deviate. */
  readonly fraction = new Fraction();
  readonly #bits: Bits;
  readonly #one = new Fraction();
  readonly #other = new Fraction();
  readonly #trial = new Fraction();

  constructor(bits: Bits) {
    this.#bits = bits;
  }

  /** Returns the whole part. */
  draw(): number {
    for (;;) {
      let whole = 0;
      while (this.#isRootOfE()) whole++;
      if (!this.#areRootsOfE(whole * (whole - 1))) continue;
      this.fraction.clear();
      if (this.#areParts(whole)) return whole;
    }
  }

  erase(): void {
    for (const each of [this.fraction, this.#one, this.#other, this.#trial]) each.clear();
  }

  #areRootsOfE(times: number): boolean {
    for (let i = 0; i < times; i++) if (!this.#isRootOfE()) return false;
    return true;
  }

  #areParts(k: number): boolean {
    for (let i = 0; i <= k; i++) if (!this.#isPart(k)) return false;
    return true;
  }

  /**
   * True with probability exp(-1/2): the first bit of a uniform number says whether it is below 1/2. From there a row of
   * uniform numbers, each below the one before, ends after an even number.
   */
  #isRootOfE(): boolean {
    if (this.#bits.next() === 1) return true;
    let last = this.#one;
    let next = this.#other;
    last.clear();
    last.append(0);
    for (let n = 1; ; n++) {
      if (!this.#bits.isNewLess(next, last)) return n % 2 === 0;
      const spare = last;
      last = next;
      next = spare;
    }
  }

  /**
   * True with probability exp(-x(2k + x) / (2k + 2)), x the fraction: each step of a row from x down also passes a trial of
   * probability (2k + x) / (2k + 2).
   */
  #isPart(k: number): boolean {
    let last = this.fraction;
    let next = this.#one;
    for (let n = 0; ; n++) {
      if (!this.#bits.isNewLess(next, last) || !this.#passes(k)) return n % 2 === 0;
      last = next;
      next = next === this.#one ? this.#other : this.#one;
    }
  }

  #passes(k: number): boolean {
    const choice = this.#bits.below(2 * k + 2);
    if (choice !== 1) return choice > 1;
    return this.#bits.isNewLess(this.#trial, this.fraction);
  }
}

let lastRequest: GaussiansRequest | undefined;
let lastRounding: GaussianRounding | undefined;

/** Requests for one distribution come in runs. */
function roundingOf(request: GaussiansRequest): GaussianRounding {
  const { mean, stddev, digits } = request;
  const isLast = lastRequest?.mean === mean && lastRequest.stddev === stddev && lastRequest.digits === digits;
  if (!isLast || lastRounding === undefined) {
    lastRounding = new GaussianRounding(request);
    lastRequest = request;
  }
  return lastRounding;
}

/** √(2πe) in thousandths: the entropy of a normal distribution is log2(√(2πe) · stddev). */
const SPREAD_THOUSANDTHS = 4133n;

/**
 * What a value is priced as: one of so many equally likely decimals, √(2πe) · stddev / spacing rounded up, and at least 2. That
 * is the entropy of X in steps of the spacing that decimals of so many digits have at |mean| + stddev. Values nearer to 0 are
 * rounded more finely, which costs nothing.
 */
export function gaussianChoices(request: GaussiansRequest): number {
  return Math.max(2, roundingOf(request).spacingsIn(SPREAD_THOUSANDTHS, 1000n));
}

/**
 * Bytes that all draws of a request take, at most; exceeded with probability below 2^-64.
 *
 * *The deviates.* Count as one operation a first bit and a comparison, and as 1 + k a choice out of 2k + 2. The number of
 * operations N of a value has E[1.03^N] < 1.92: the sum of the probabilities of all rows, weighted so
 * (test/values/gaussians.test.ts adds it up). By Markov n values take more than (n·ln 1.92 + 66·ln 2) / ln 1.03 < 22.1·n + 1548 of them
 * with probability below 2^-66. Of each, whatever was drawn before, E[1.05^bits] <= C = (1.05²/2) / (1 - 1.05²/2): a step of a
 * comparison takes at most two bits and ends it with probability 1/2. So m operations take more than (m·ln C + 66·ln 2) / ln 1.05
 * < 4.22·m + 938 bits with probability below 2^-66: together 93.3·n + 7471 bits.
 * *The fraction.* Beside `firstBits` and the sign: bounds that are 2^-j of a first distance apart still round apart for a share
 * of at most 10^digits · (2 + 0.6·j) · 2^-j of the numbers between the first ones, the most where they hold 0. After 4·digits + 4
 * more bits each further one halves that, so n values take 1.8·n + 113 bits beside those, by the same argument, and 3·n because
 * bits are drawn four at a time.
 */
export function gaussianBytesMax(request: GaussiansRequest): number {
  const { firstBits } = roundingOf(request);
  const { count, digits } = request;
  return 4 * Math.ceil((count * (104 + firstBits + 4 * digits) + 7_600) / 32);
}

/** Longest text of a value: a sign, five zeros behind the point and 14 digits, or 20 digits before it. */
export const GAUSSIAN_TEXT_MAX = 24;
