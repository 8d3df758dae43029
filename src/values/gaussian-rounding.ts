import { assert } from '../core/assert.ts';

/**
 * Rounds normally distributed numbers to decimals, exactly (gaussians.ts, step 3), in whole numbers. The kernel decides in 64 bits
 * where an error bound allows it (assembly/gaussians.ts), and leaves to this what comes closer to a border. Both decide alike,
 * so speed changes no value and no bit that is drawn.
 */

/** What says how numbers are rounded: N(mean, stddev²), and the significant digits. */
interface Distribution {
  readonly mean: number;
  readonly stddev: number;
  readonly digits: number;
}

/** A power of ten up to this is exact in a double, so that a whole double times or by it is rounded once. */
const EXACT_POWER_MAX = 22;
/** Decades that the kernel knows, of which the second begins at the power of ten below |mean| + stddev. */
const DECADES = 7;
/** Bits behind the point, of which the first 64 of stddev are kept. It is above 10^-15 in steps of any decade. */
const FIXED_BITS = 200;

export class GaussianRounding {
  /** Bits of the fraction from which on it is rounded: the two bounds are at most a sixteenth of `spacing` apart. */
  readonly firstBits: number;
  /** True when the kernel's text is exact and its numbers may not be. */
  readonly isBeyondDoubles: boolean;
  /** What the kernel rounds by: `distribution` in assembly/gaussians.ts. */
  readonly parameters: Uint8Array;
  readonly #digits: number;
  /** mean and stddev as whole numbers of 1 / unit. */
  readonly #mean: bigint;
  readonly #stddev: bigint;
  readonly #unit: bigint;
  /** Distance of neighbouring decimals at |mean| + stddev, as a power of ten. */
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

  /** How often `spacing` goes into stddev · numerator / denominator, rounded up. */
  spacingsIn(numerator: bigint, denominator: bigint): number {
    const [value, step] = scaledTo(numerator * this.#stddev, denominator * this.#unit, this.#spacing);
    return Number((value + step - 1n) / step);
  }

  /** mean ± stddev · (whole + fraction / 2^known), rounded; undefined where more bits of the fraction decide. */
  round(whole: number, fraction: bigint, known: number, isNegative: boolean): number | undefined {
    const shift = BigInt(known);
    const steps = (BigInt(whole) << shift) | fraction;
    const near = (this.#mean << shift) + (isNegative ? -steps : steps) * this.#stddev;
    const far = isNegative ? near - this.#stddev : near + this.#stddev;
    const [low, high] = near < far ? [near, far] : [far, near];
    if (low <= 0n && high >= 0n) return undefined; // near 0 decimals lie ever closer
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

  /** mean and stddev in steps of 10^exponent: mean, s and q. */
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

/** Numerator and denominator of (value / unit) / 10^exponent. */
function scaledTo(value: bigint, unit: bigint, exponent: number): [bigint, bigint] {
  return exponent >= 0 ? [value, unit * powerOfTen(exponent)] : [value * powerOfTen(-exponent), unit];
}

/** The decimal of so many digits that is nearest to value / unit, which is positive. */
function roundedTo(value: bigint, unit: bigint, digits: number): Decimal {
  const exponent = exponentOf(value, unit) - digits + 1;
  const whole = nearest(...scaledTo(value, unit, exponent));
  if (whole < powerOfTen(digits)) return { digits: whole, exponent };
  return { digits: whole / 10n, exponent: exponent + 1 };
}

function nearest(value: bigint, unit: bigint): bigint {
  return ((value << 1n) + unit) / (unit << 1n);
}
