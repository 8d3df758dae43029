import { assert } from '../core/assert.ts';
import type { EntropyReader } from './entropy-reader.ts';

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
 *    decimal, X does; until then four more bits of x are drawn. The arithmetic is that of whole numbers (BigInt). X lies on the
 *    border between two decimals with probability 0.
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

export function drawGaussians(reader: EntropyReader, request: GaussiansRequest): Float64Array {
  const scale = scaleOf(request);
  const bits = new Bits(reader);
  const values = new Float64Array(request.count);
  for (let i = 0; i < values.length; i++) values[i] = rounded(deviate(bits), scale);
  bits.erase();
  return values;
}

/** Single bits; those of the last word that nobody needs are dropped. */
class Bits {
  readonly #reader: EntropyReader;
  #word = 0;
  #left = 0;

  constructor(reader: EntropyReader) {
    this.#reader = reader;
  }

  next(): number {
    if (this.#left === 0) {
      this.#word = this.#reader.u32();
      this.#left = 32;
    }
    const bit = this.#word & 1;
    this.#word >>>= 1;
    this.#left--;
    return bit;
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

  erase(): void {
    this.#word = 0;
    this.#left = 0;
  }
}

/** A uniform number in (0, 1), of which only the bits that somebody looked at exist. */
class Fraction {
  readonly #source: Bits;
  readonly #bits: number[];

  constructor(source: Bits, first: number[] = []) {
    this.#source = source;
    this.#bits = first;
  }

  bit(i: number): number {
    while (this.#bits.length <= i) this.#bits.push(this.#source.next());
    return this.#bits[i];
  }

  get known(): number {
    return this.#bits.length;
  }

  isLessThan(other: Fraction): boolean {
    for (let i = 0; ; i++) {
      const bit = this.bit(i);
      const others = other.bit(i);
      if (bit !== others) return bit < others;
    }
  }

  /** The first `count` bits as a whole number. */
  take(count: number): bigint {
    let whole = 0n;
    for (let i = 0; i < count; i += 24) {
      const size = Math.min(24, count - i);
      let part = 0;
      for (let j = 0; j < size; j++) part = 2 * part + this.bit(i + j);
      whole = (whole << BigInt(size)) | BigInt(part);
    }
    return whole;
  }
}

/** A standard normal deviate: (whole + fraction), negative or not. */
interface Deviate {
  readonly whole: number;
  readonly fraction: Fraction;
  readonly isNegative: boolean;
}

function deviate(bits: Bits): Deviate {
  for (;;) {
    let whole = 0;
    while (isRootOfE(bits)) whole++;
    if (!areAll(whole * (whole - 1), () => isRootOfE(bits))) continue;
    const fraction = new Fraction(bits);
    if (areAll(whole + 1, () => isPart(bits, whole, fraction)))
      return { whole, fraction, isNegative: bits.next() === 1 };
  }
}

function areAll(times: number, trial: () => boolean): boolean {
  for (let i = 0; i < times; i++) if (!trial()) return false;
  return true;
}

/** True with probability exp(-1/2): the first bit of a uniform number says whether it is below 1/2. */
function isRootOfE(bits: Bits): boolean {
  if (bits.next() === 1) return true;
  return isEvenRow(bits, new Fraction(bits, [0]), () => true, 1);
}

/** True with probability exp(-x(2k + x) / (2k + 2)): each step of the row also passes a trial of probability (2k + x) / (2k + 2). */
function isPart(bits: Bits, k: number, x: Fraction): boolean {
  return isEvenRow(bits, x, () => {
    const choice = bits.below(2 * k + 2);
    return choice > 1 || (choice === 1 && new Fraction(bits).isLessThan(x));
  });
}

/** Whether a row of uniform numbers, each below the one before and each passing the trial, ends after an even number. */
function isEvenRow(bits: Bits, first: Fraction, trial: () => boolean, length = 0): boolean {
  let last = first;
  for (let n = length; ; n++) {
    const next = new Fraction(bits);
    if (!next.isLessThan(last) || !trial()) return n % 2 === 0;
    last = next;
  }
}

/** mean and stddev as whole numbers of 10^-places, and what follows from them. */
interface Scale {
  readonly mean: bigint;
  readonly stddev: bigint;
  readonly unit: bigint;
  readonly digits: number;
  /** Bits of the fraction from which on it is rounded: the two bounds are at most a sixteenth of `spacing` apart. */
  readonly firstBits: number;
  /** Distance of neighbouring decimals at |mean| + stddev, as a power of ten. */
  readonly spacing: number;
}

let lastRequest: GaussiansRequest | undefined;
let lastScale: Scale | undefined;

/** Requests for one distribution come in runs. */
function scaleOf(request: GaussiansRequest): Scale {
  const { mean, stddev, digits } = request;
  const isLast = lastRequest?.mean === mean && lastRequest.stddev === stddev && lastRequest.digits === digits;
  if (!isLast || lastScale === undefined) {
    lastScale = makeScale(request);
    lastRequest = request;
  }
  return lastScale;
}

function makeScale({ mean, stddev, digits }: GaussiansRequest): Scale {
  assert(stddev > 0 && digits >= 2 && digits <= 14, 'a normal distribution with 2 to 14 digits');
  const [m, s] = [decimalOf(mean), decimalOf(stddev)];
  const exponent = Math.min(m.exponent, s.exponent, 0);
  const whole = (each: Decimal) => each.digits * powerOfTen(each.exponent - exponent);
  const unit = powerOfTen(-exponent);
  const typical = magnitude(whole(m)) + whole(s);
  const spacing = exponentOf(typical, unit) - digits + 1;
  const [share, step] = scaledTo(16n * whole(s), unit, spacing);
  let firstBits = 0;
  while (step << BigInt(firstBits) < share) firstBits++;
  return { mean: whole(m), stddev: whole(s), unit, digits, firstBits, spacing };
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The decimal that JSON prints for a number. */
function decimalOf(value: number): Decimal {
  const [, sign, whole, part = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  return { digits: BigInt(sign + whole + part), exponent: Number(exponent) - part.length };
}

const POWERS: bigint[] = [];

function powerOfTen(exponent: number): bigint {
  return (POWERS[exponent] ??= 10n ** BigInt(exponent));
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** The e with 10^e <= value / unit < 10^(e+1). */
function exponentOf(value: bigint, unit: bigint): number {
  let exponent = aboutExponentOf(value, unit);
  while (isReached(exponent + 1, value, unit)) exponent++;
  while (!isReached(exponent, value, unit)) exponent--;
  return exponent;
}

function isReached(exponent: number, value: bigint, unit: bigint): boolean {
  const [reached, needed] = scaledTo(value, unit, exponent);
  return reached >= needed;
}

/** The same, but for what the logarithm rounds: callers put it right by comparing whole numbers. */
function aboutExponentOf(value: bigint, unit: bigint): number {
  const exponent = Math.floor(Math.log10(Number(value)) - Math.log10(Number(unit)));
  return Number.isFinite(exponent) ? exponent : value.toString().length - unit.toString().length;
}

/** Numerator and denominator of (value / unit) / 10^exponent. */
function scaledTo(value: bigint, unit: bigint, exponent: number): [bigint, bigint] {
  return exponent >= 0 ? [value, unit * powerOfTen(exponent)] : [value * powerOfTen(-exponent), unit];
}

/** Bits that are drawn at a time where the first ones do not tell how a value rounds. */
const STEP_BITS = 4;

function rounded({ whole, fraction, isNegative }: Deviate, scale: Scale): number {
  const { mean, stddev, unit, digits } = scale;
  for (let known = Math.max(fraction.known, scale.firstBits); ; known += STEP_BITS) {
    const shift = BigInt(known);
    const steps = (BigInt(whole) << shift) | fraction.take(known);
    const near = (mean << shift) + (isNegative ? -steps : steps) * stddev;
    const far = isNegative ? near - stddev : near + stddev;
    const [low, high] = near < far ? [near, far] : [far, near];
    if (low <= 0n && high >= 0n) continue; // near 0 decimals lie ever closer
    const [inner, outer] = low > 0n ? [low, high] : [-high, -low];
    const decimal = roundedTo(inner, unit << shift, digits);
    const [value, step] = scaledTo(outer, unit << shift, decimal.exponent);
    if (nearest(value, step) !== decimal.digits) continue;
    return Number(`${low > 0n ? '' : '-'}${decimal.digits}e${decimal.exponent}`);
  }
}

/** The decimal of so many digits that is nearest to value / unit, which is positive. */
function roundedTo(value: bigint, unit: bigint, digits: number): Decimal {
  let exponent = aboutExponentOf(value, unit) - digits + 1;
  for (;;) {
    const whole = nearest(...scaledTo(value, unit, exponent));
    if (whole >= powerOfTen(digits)) exponent++;
    else if (whole < powerOfTen(digits - 1)) exponent--;
    else return { digits: whole, exponent };
  }
}

function nearest(value: bigint, unit: bigint): bigint {
  return ((value << 1n) + unit) / (unit << 1n);
}

/** √(2πe) in thousandths: the entropy of a normal distribution is log2(√(2πe) · stddev). */
const SPREAD_THOUSANDTHS = 4133n;

/**
 * What a value is priced as: one of so many equally likely decimals, √(2πe) · stddev / spacing rounded up, and at least 2. That
 * is the entropy of X in steps of the spacing that decimals of so many digits have at |mean| + stddev. Values nearer to 0 are
 * rounded more finely, which costs nothing.
 */
export function gaussianChoices(request: GaussiansRequest): number {
  const { stddev, unit, spacing } = scaleOf(request);
  const [value, step] = scaledTo(SPREAD_THOUSANDTHS * stddev, 1000n * unit, spacing);
  const choices = Number((value + step - 1n) / step);
  return Math.max(2, choices);
}

/**
 * Bytes that `drawGaussians` takes, at most; exceeded with probability below 2^-64.
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
  const { firstBits } = scaleOf(request);
  const { count, digits } = request;
  return 4 * Math.ceil((count * (104 + firstBits + 4 * digits) + 7_600) / 32);
}

/** Longest text of a value: a sign, five zeros behind the point and 14 digits, or 20 digits before it. */
export const GAUSSIAN_TEXT_MAX = 24;
