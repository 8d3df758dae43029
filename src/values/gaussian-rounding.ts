import { assert } from '../core/assert.ts';

/**
 * Rounds normally distributed numbers to decimals, exactly (gaussians.ts, step 3), with integers of any size. The kernel
 * decides in 64 bits where an error bound allows it (assembly/gaussians.ts), and leaves numbers closer to a border to
 * this class. Both decide alike, so the fast path changes no value and no bit that is drawn.
 */

/** The distribution N(mean, stddev²) and the count of significant digits. */
interface Distribution {
  readonly mean: number;
  readonly stddev: number;
  readonly digits: number;
}

/** The largest power of ten that is exact in a double, so that multiplying or dividing an integer by it rounds once. */
const EXACT_POWER_MAX = 22;
/** Count of decades that the kernel knows; the second begins at the power of ten below |mean| + stddev. */
const DECADES = 7;
/** Bits after the binary point of stddev, of which the first 64 are kept; stddev is above 10^-15 steps of any decade. */
const FIXED_BITS = 200;

export class GaussianRounding {
  /**
   * Bits of the fraction that are drawn before rounding: then the two bounds differ by a sixteenth of `spacing` at
   * most.
   */
  readonly firstBits: number;
  /** True when the kernel's texts are exact but its numbers may not be. */
  readonly isBeyondDoubles: boolean;
  /** The kernel's parameters, laid out as `distribution` in assembly/gaussians.ts. */
  readonly parameters: Uint8Array;
  readonly #digits: number;
  /** mean and stddev, as integer multiples of 1 / unit. */
  readonly #mean: bigint;
  readonly #stddev: bigint;
  readonly #unit: bigint;
  /** The distance of neighbouring decimals at |mean| + stddev is ten to this power. */
  readonly #spacing: number;

  constructor({ mean, stddev, digits }: Distribution) {
    assert(stddev > 0 && digits >= 2 && digits <= 14, 'a normal distribution with 2 to 14 digits');
    const [m, s] = [decimalOf(mean), decimalOf(stddev)];
    const exponent = Math.min(m.exponent, s.exponent, 0);
    const whole = (each: Decimal) => each.digits * powerOfTen(each.exponent - exponent);
    this.#digits = digits;
    this.#mean = whole(m);
    this.#stddev = whole(s);
    this.#unit = powerOfTen(-exponent);
    this.#spacing = exponentOf(magnitude(this.#mean) + this.#stddev, this.#unit) - digits + 1;
    const [share, step] = scaledTo(16n * this.#stddev, this.#unit, this.#spacing);
    let firstBits = 0;
    while (step << BigInt(firstBits) < share) firstBits++;
    this.firstBits = firstBits;
    this.isBeyondDoubles = this.#spacing + 2 - DECADES < -EXACT_POWER_MAX;
    this.parameters = this.#parametersFor(mean, stddev);
  }

  /** Returns how many times `spacing` fits into stddev · numerator / denominator, rounded up. */
  spacingsIn(numerator: bigint, denominator: bigint): number {
    const [value, step] = scaledTo(numerator * this.#stddev, denominator * this.#unit, this.#spacing);
    return Number((value + step - 1n) / step);
  }

  /** Returns mean ± stddev · (whole + fraction / 2^known), rounded; undefined if the known bits do not decide it. */
  round(whole: number, fraction: bigint, known: number, isNegative: boolean): number | undefined {
    const shift = BigInt(known);
    const steps = (BigInt(whole) << shift) | fraction;
    const near = (this.#mean << shift) + (isNegative ? -steps : steps) * this.#stddev;
    const far = isNegative ? near - this.#stddev : near + this.#stddev;
    const [low, high] = near < far ? [near, far] : [far, near];
    if (low <= 0n && high >= 0n) return undefined; // towards 0 the decimals become ever denser
    const [inner, outer] = low > 0n ? [low, high] : [-high, -low];
    const unit = this.#unit << shift;
    const decimal = roundedTo(inner, unit, this.#digits);
    if (nearest(...scaledTo(outer, unit, decimal.exponent)) !== decimal.digits) return undefined;
    return Number(`${low > 0n ? '' : '-'}${decimal.digits}e${decimal.exponent}`);
  }

  #parametersFor(mean: number, stddev: number): Uint8Array {
    const words: bigint[] = [];
    const putFloat = (value: number) => words.push(BigInt.asUintN(64, doubleBits(value)));
    putFloat(mean);
    putFloat(stddev);
    putFloat((Math.abs(mean) + 16 * stddev) * 2 ** -50);
    putFloat(this.firstBits);
    putFloat(this.#digits);
    const exponents = Array.from({ length: DECADES }, (_, i) => this.#spacing + 1 - i);
    const placeOf = (exponent: number) => exponent + this.#digits - 1;
    for (const exponent of [exponents[0] + 1, ...exponents]) putFloat(Number(`1e${placeOf(exponent)}`));
    for (const exponent of exponents) {
      words.push(...this.#scaleOf(exponent));
      putFloat(exponent < 0 ? 1 : 10 ** exponent);
      putFloat(exponent < 0 ? Number(`1e${-exponent}`) : 1);
      words.push(BigInt(placeOf(exponent)));
    }
    return new Uint8Array(BigUint64Array.from(words, (word) => BigInt.asUintN(64, word)).buffer);
  }

  /** Returns mean, s and q of assembly/gaussians.ts: mean and stddev in steps of 10^exponent. */
  #scaleOf(exponent: number): bigint[] {
    const fixed = (value: bigint, bits: number) => {
      const [n, d] = scaledTo(value, this.#unit, exponent);
      return (n << BigInt(bits)) / d;
    };
    const mean = fixed(this.#mean, 64 - powerOfTen(this.#digits).toString(2).length);
    const stddev = fixed(this.#stddev, FIXED_BITS);
    const cut = BigInt(stddev.toString(2).length - 64);
    return [mean, stddev >> cut, BigInt(FIXED_BITS) - cut];
  }
}

function doubleBits(value: number): bigint {
  return new BigUint64Array(Float64Array.of(value).buffer)[0];
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Returns the decimal that JSON prints for a number. */
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

/** Returns e with 10^e <= value / unit < 10^(e+1). */
function exponentOf(value: bigint, unit: bigint): number {
  const about = Math.floor(Math.log10(Number(value)) - Math.log10(Number(unit)));
  let exponent = Number.isFinite(about) ? about : value.toString().length - unit.toString().length;
  while (isReached(exponent + 1, value, unit)) exponent++;
  while (!isReached(exponent, value, unit)) exponent--;
  return exponent;
}

function isReached(exponent: number, value: bigint, unit: bigint): boolean {
  const [reached, needed] = scaledTo(value, unit, exponent);
  return reached >= needed;
}

/** Returns numerator and denominator of (value / unit) / 10^exponent. */
function scaledTo(value: bigint, unit: bigint, exponent: number): [bigint, bigint] {
  return exponent >= 0 ? [value, unit * powerOfTen(exponent)] : [value * powerOfTen(-exponent), unit];
}

/** Returns the decimal of `digits` significant digits that is nearest to value / unit, which is positive. */
function roundedTo(value: bigint, unit: bigint, digits: number): Decimal {
  const exponent = exponentOf(value, unit) - digits + 1;
  const whole = nearest(...scaledTo(value, unit, exponent));
  if (whole < powerOfTen(digits)) return { digits: whole, exponent };
  return { digits: whole / 10n, exponent: exponent + 1 };
}

function nearest(value: bigint, unit: bigint): bigint {
  return ((value << 1n) + unit) / (unit << 1n);
}
