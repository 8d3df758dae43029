import { assert } from '../core/assert.ts';
import { writeDecimal, writeLatin1 } from '../core/text-bytes.ts';
import type { Bits, Fraction } from './bits.ts';

/**
 * Rounds normally distributed numbers to decimals, exactly (gaussians.ts, step 3). What lies between two bounds is decided in
 * floating point where an error bound allows it, and else in whole numbers. Both decide alike, so speed changes no value and
 * no bit that is drawn.
 */

/** What says how numbers are rounded: N(mean, stddev²), and the significant digits. */
interface Distribution {
  readonly mean: number;
  readonly stddev: number;
  readonly digits: number;
}

/** Bits that are drawn at a time where the first ones do not tell how a value rounds. */
const STEP_BITS = 4;
/** Bits of `high` and of `low`: with a whole part of 4 bits, `high` times 25 bits of stddev is exact in a double. */
const HIGH_BITS = 24;
const LOW_BITS = 52;
const WHOLE_MAX = 15;
/** A power of ten up to this is exact in a double, so that a whole double times or by it is rounded once. */
const EXACT_POWER_MAX = 22;

/** Beyond the exponents of all decimals of values whose distance from 0 is not below `#error`. */
const SCALES_FROM = 60;
const MINUS = 0x2d;
/** With so few digits before the point, which are zeros behind it, ECMAScript prints an exponent. */
const EXPONENT_FROM = -6;

/** Powers in tables: Math.pow would take half of the time. */
const POWERS_OF_TEN = Float64Array.from({ length: 61 }, (_, i) => Number(`1e${i - 30}`));
const HALVES = Float64Array.from({ length: HIGH_BITS + LOW_BITS + 1 }, (_, i) => 2 ** -i);
const tenTo = (exponent: number) => POWERS_OF_TEN[exponent + 30];

/** What there is instead of a value: the bounds round to two decimals, or floating point cannot tell. */
const MORE_BITS = Number.POSITIVE_INFINITY;
const UNSURE = Number.NaN;

export class GaussianRounding {
  /** Bits of the fraction from which on it is rounded: the two bounds are at most a sixteenth of `spacing` apart. */
  readonly firstBits: number;
  readonly #distribution: Distribution;
  /** mean and stddev as whole numbers of 1 / unit. */
  readonly #mean: bigint;
  readonly #stddev: bigint;
  readonly #unit: bigint;
  /** Distance of neighbouring decimals at |mean| + stddev, as a power of ten. */
  readonly #spacing: number;
  /** More than the error of mean ± stddev · z in doubles, z below 16. */
  readonly #error: number;
  /** By the exponent, from -SCALES_FROM on. */
  readonly #scales: (Scale | undefined)[] = new Array(2 * SCALES_FROM).fill(undefined);
  /** The known bits of the fraction that is rounded: the first, those behind them, and those that hardly ever follow. */
  #high = 0;
  #low = 0;
  #more = 0n;
  #known = 0;
  /** What the last value is: a decimal of as many digits as are asked for, times a power of ten. */
  #decimal = 0;
  #exponent = 0;

  constructor(distribution: Distribution) {
    const { mean, stddev, digits } = distribution;
    assert(stddev > 0 && digits >= 2 && digits <= 14, 'a normal distribution with 2 to 14 digits');
    const [m, s] = [decimalOf(mean), decimalOf(stddev)];
    const exponent = Math.min(m.exponent, s.exponent, 0);
    const whole = (each: Decimal) => each.digits * powerOfTen(each.exponent - exponent);
    this.#distribution = distribution;
    this.#mean = whole(m);
    this.#stddev = whole(s);
    this.#unit = powerOfTen(-exponent);
    this.#spacing = exponentOf(magnitude(this.#mean) + this.#stddev, this.#unit) - digits + 1;
    this.#error = (Math.abs(mean) + 16 * stddev) * 2 ** -50;
    const [share, step] = scaledTo(16n * this.#stddev, this.#unit, this.#spacing);
    let firstBits = 0;
    while (step << BigInt(firstBits) < share) firstBits++;
    this.firstBits = firstBits;
  }

  /** How often `spacing` goes into stddev · numerator / denominator, rounded up. */
  spacingsIn(numerator: bigint, denominator: bigint): number {
    const [value, step] = scaledTo(numerator * this.#stddev, denominator * this.#unit, this.#spacing);
    return Number((value + step - 1n) / step);
  }

  /** mean ± stddev · (whole + fraction); draws the bits of the fraction that it needs. */
  round(whole: number, fraction: Fraction, isNegative: boolean, source: Bits): number {
    this.#forget();
    if (fraction.known > 0 && fraction.known <= HIGH_BITS)
      this.#append(fraction.word >>> (32 - fraction.known), fraction.known);
    else for (let i = 0; i < fraction.known; i++) this.#append(fraction.bit(i), 1);
    this.#extend(this.firstBits, source);
    for (;;) {
      let value = this.#quickly(whole, isNegative);
      if (Number.isNaN(value)) value = this.#exactly(whole, isNegative);
      if (value !== MORE_BITS) {
        this.#forget();
        return value;
      }
      this.#extend(this.#known + STEP_BITS, source);
    }
  }

  /** Writes the last value, which `round` gave, as ECMAScript prints it; returns where it ends. */
  write(value: number, target: Uint8Array, at: number): number {
    const { digits } = this.#distribution;
    const wholeDigits = digits + this.#exponent;
    if (wholeDigits <= EXPONENT_FROM) return writeLatin1(String(value), target, at);
    if (value < 0) target[at] = MINUS;
    return writeDecimal(this.#decimal, digits, wholeDigits, target, value < 0 ? at + 1 : at);
  }

  /** Of the last value. */
  erase(): void {
    this.#decimal = 0;
    this.#exponent = 0;
  }

  #forget(): void {
    this.#high = 0;
    this.#low = 0;
    this.#more = 0n;
    this.#known = 0;
  }

  /** Draws bits until so many are known. */
  #extend(known: number, source: Bits): void {
    while (this.#known < known) {
      const ends = this.#known < HIGH_BITS ? HIGH_BITS : HIGH_BITS + LOW_BITS;
      const room = this.#known < ends ? ends - this.#known : STEP_BITS;
      const size = Math.min(HIGH_BITS, room, known - this.#known);
      this.#append(source.take(size), size);
    }
  }

  #append(part: number, size: number): void {
    const factor = 1 << size;
    if (this.#known < HIGH_BITS) this.#high = this.#high * factor + part;
    else if (this.#known < HIGH_BITS + LOW_BITS) this.#low = this.#low * factor + part;
    else this.#more = (this.#more << BigInt(size)) | BigInt(part);
    this.#known += size;
  }

  /**
   * The value, MORE_BITS or UNSURE. The bounds in steps of the decimals are computed to twice the precision of a double;
   * where they come closer to the border between two decimals than their error, nothing is said.
   */
  #quickly(whole: number, isNegative: boolean): number {
    const known = this.#known;
    if (known > HIGH_BITS + LOW_BITS || whole > WHOLE_MAX) return UNSURE;
    const width = HALVES[known];
    const high = whole + this.#high * (known < HIGH_BITS ? width : HALVES[HIGH_BITS]);
    const low = this.#low * width;
    const { mean, stddev, digits } = this.#distribution;
    const sign = isNegative ? -1 : 1;
    const near = mean + sign * stddev * (high + low);
    const far = near + sign * stddev * width;
    const inner = Math.min(Math.abs(near), Math.abs(far));
    if (near < 0 !== far < 0 || inner <= this.#error) return UNSURE;
    const place = this.#placeOf(inner);
    if (inner - tenTo(place) <= this.#error || tenTo(place + 1) - inner <= this.#error) return UNSURE;
    const exponent = place - digits + 1;
    const { m1, m2, s1, s2, s3, s, error } = this.#scaleOf(exponent);
    // m1 + product, and what that addition rounds off (Knuth's TwoSum)
    const product = sign * s1 * high;
    const sum = m1 + product;
    const added = sum - m1;
    const rest =
      m1 - (sum - added) + (product - added) + sign * s2 * high + m2 + sign * (s3 * high + s * low);
    const outward = near < 0 ? -1 : 1;
    const base = Math.floor(outward * sum);
    const nearPart = outward * sum - base + outward * rest + 0.5;
    const farPart = nearPart + outward * sign * s * width;
    const [nearWhole, farWhole] = [Math.floor(nearPart), Math.floor(farPart)];
    if (isClose(nearPart - nearWhole, error) || isClose(farPart - farWhole, error)) return UNSURE;
    const decimal = base + Math.min(nearWhole, farWhole);
    // the bound nearer to 0 says how far apart the decimals are: beyond a power of ten they are ten times as far
    if (decimal >= tenTo(digits) || decimal < tenTo(digits - 1)) return UNSURE;
    if (nearWhole !== farWhole) return MORE_BITS;
    this.#decimal = decimal;
    this.#exponent = exponent;
    return outward * decimalValue(decimal, exponent);
  }

  /** The place of the first digit, from where most of them have it. It is above 10^-25, as #error is. */
  #placeOf(value: number): number {
    let place = this.#spacing + this.#distribution.digits - 1;
    while (value < tenTo(place)) place--;
    while (value >= tenTo(place + 1)) place++;
    return place;
  }

  /** The value or MORE_BITS, in whole numbers. */
  #exactly(whole: number, isNegative: boolean): number {
    const shift = BigInt(this.#known);
    const steps = (BigInt(whole) << shift) | this.#fraction();
    const near = (this.#mean << shift) + (isNegative ? -steps : steps) * this.#stddev;
    const far = isNegative ? near - this.#stddev : near + this.#stddev;
    const [low, high] = near < far ? [near, far] : [far, near];
    if (low <= 0n && high >= 0n) return MORE_BITS; // near 0 decimals lie ever closer
    const [inner, outer] = low > 0n ? [low, high] : [-high, -low];
    const unit = this.#unit << shift;
    const decimal = roundedTo(inner, unit, this.#distribution.digits);
    const [value, step] = scaledTo(outer, unit, decimal.exponent);
    if (nearest(value, step) !== decimal.digits) return MORE_BITS;
    this.#decimal = Number(decimal.digits);
    this.#exponent = decimal.exponent;
    return Number(`${low > 0n ? '' : '-'}${decimal.digits}e${decimal.exponent}`);
  }

  /** The known bits as a whole number. */
  #fraction(): bigint {
    const beyond = Math.max(0, this.#known - HIGH_BITS - LOW_BITS);
    const behind = Math.max(0, this.#known - HIGH_BITS) - beyond;
    const first = (BigInt(this.#high) << BigInt(behind)) | BigInt(this.#low);
    return (first << BigInt(beyond)) | this.#more;
  }

  #scaleOf(exponent: number): Scale {
    let scale = this.#scales[exponent + SCALES_FROM];
    if (scale === undefined) {
      const fixed = (value: bigint) => {
        const [n, d] = scaledTo(value, this.#unit, exponent);
        return (n << BigInt(FIXED_BITS)) / d;
      };
      this.#scales[exponent + SCALES_FROM] = scale = scaleOf(fixed(this.#mean), fixed(this.#stddev));
    }
    return scale;
  }
}

/** mean and stddev in steps of 10^exponent: m1 + m2, and s1 + s2 + s3, about s, of which s1 and s2 have 25 bits each. */
interface Scale {
  readonly m1: number;
  readonly m2: number;
  readonly s1: number;
  readonly s2: number;
  readonly s3: number;
  readonly s: number;
  /**
   * More than the error of `nearPart` and `farPart`. With S = stddev and M = |mean| in steps: s1 · high and s2 · high are
   * exact, s · low is off by 2^-76 · S, and the sums of `rest`, which is below 2^-20 · S + 2^-52 · M, by 2^-70 · (S + M).
   */
  readonly error: number;
}

/** Of a number in fixed point. */
const FIXED_BITS = 200;
const FACTOR_BITS = 25;

function scaleOf(mean: bigint, stddev: bigint): Scale {
  const value = (fixed: bigint) => Number(fixed) * 2 ** -FIXED_BITS;
  const shift = BigInt(stddev.toString(2).length - FACTOR_BITS);
  const first = (stddev >> shift) << shift;
  const second = ((stddev - first) >> (shift - 25n)) << (shift - 25n);
  const rounded = BigInt(Number(mean));
  return {
    m1: value(rounded),
    m2: value(mean - rounded),
    s1: value(first),
    s2: value(second),
    s3: value(stddev - first - second),
    s: value(stddev),
    error: (value(magnitude(mean)) + 16 * value(stddev)) * 2 ** -66 + 2 ** -40,
  };
}

function isClose(part: number, error: number): boolean {
  return part < error || part > 1 - error;
}

/** The double nearest to decimal · 10^exponent. */
function decimalValue(decimal: number, exponent: number): number {
  if (exponent >= 0 && exponent <= EXACT_POWER_MAX) return decimal * tenTo(exponent);
  if (exponent < 0 && exponent >= -EXACT_POWER_MAX) return decimal / tenTo(-exponent);
  return Number(`${decimal}e${exponent}`);
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
