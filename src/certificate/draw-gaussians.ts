import type { ByteStream } from './draw-samplers.ts';

/**
 * The verifier's own sampler of normally distributed values (draw-samplers.ts): algorithm N of Karney, "Sampling
 * exactly from the normal distribution", ACM TOMS 42:1 (2016), in BigInt.
 */
export interface Gaussian {
  readonly mean: number;
  readonly stddev: number;
  /** Significant decimal digits. */
  readonly digits: number;
}

export function gaussians(count: number, request: Gaussian, bytes: ByteStream): number[] {
  const bits = bitsOf(bytes);
  return Array.from({ length: count }, () => gaussian(request, bits));
}

type NextBit = () => bigint;

/** Returns a reader of single bits. Each word of four bytes gives its lowest bit first. */
function bitsOf(bytes: ByteStream): NextBit {
  let word: bigint[] = [];
  return () => {
    if (word.length === 0) {
      const number = bytes.number(4);
      word = Array.from({ length: 32 }, (_, i) => (number >> BigInt(i)) & 1n);
    }
    return word.shift()!;
  };
}

/** A random number in (0, 1). Its bits are drawn only when somebody reads them. */
type Lazy = { bits: bigint[]; next: NextBit };

function bitAt(number: Lazy, i: number): bigint {
  while (number.bits.length <= i) number.bits.push(number.next());
  return number.bits[i];
}

function isLess(a: Lazy, b: Lazy): boolean {
  let i = 0;
  while (bitAt(a, i) === bitAt(b, i)) i++;
  return bitAt(a, i) < bitAt(b, i);
}

/**
 * Returns one value. Runs Karney's algorithm N step by step, which gives k, x and a sign. Then encloses X = mean ±
 * stddev · (k + x) between two fractions, with ever more bits of x, until both round to the same value.
 */
function gaussian(request: Gaussian, next: NextBit): number {
  const fresh = (): Lazy => ({ bits: [], next });
  const dice = (sides: bigint): bigint => {
    let [v, c] = [1n, 0n];
    for (;;) {
      [v, c] = [2n * v, 2n * c + next()];
      if (v >= sides && c < sides) return c;
      if (v >= sides) [v, c] = [v - sides, c - sides];
    }
  };
  const half = (): boolean => {
    const u = fresh();
    if (bitAt(u, 0) === 1n) return true;
    let [row, last] = [1, u];
    for (let z = fresh(); isLess(z, last); z = fresh()) [row, last] = [row + 1, z];
    return row % 2 === 0;
  };
  const part = (k: number, x: Lazy): boolean => {
    let [row, last] = [0, x];
    for (let z = fresh(); isLess(z, last); z = fresh()) {
      const side = dice(BigInt(2 * k + 2));
      if (side === 0n || (side === 1n && !isLess(fresh(), x))) break;
      [row, last] = [row + 1, z];
    }
    return row % 2 === 0;
  };
  const all = (times: number, trial: () => boolean): boolean => {
    while (times-- > 0) if (!trial()) return false;
    return true;
  };
  for (;;) {
    let k = 0;
    while (half()) k++;
    if (!all(k * (k - 1), half)) continue;
    const x = fresh();
    if (!all(k + 1, () => part(k, x))) continue;
    return roundedGaussian(request, k, x, next() === 1n);
  }
}

function roundedGaussian(
  { mean, stddev, digits }: Gaussian,
  k: number,
  x: Lazy,
  isNegative: boolean,
): number {
  const [m, s] = [fractionOf(mean), fractionOf(stddev)];
  const typical: Ratio = [(m[0] < 0n ? -m[0] : m[0]) * s[1] + s[0] * m[1], m[1] * s[1]];
  let first = 0;
  const spacing = placeOf(typical) - digits + 1;
  while (!isAtLeast(power(spacing), [16n * s[0], s[1] << BigInt(first)])) first++;
  for (let known = Math.max(first, x.bits.length); ; known += 4) {
    let fraction = 0n;
    for (let i = 0; i < known; i++) fraction = 2n * fraction + bitAt(x, i);
    const at = (steps: bigint): Ratio => {
      const z = ((BigInt(k) << BigInt(known)) + steps) * (isNegative ? -1n : 1n);
      return [m[0] * s[1] * (1n << BigInt(known)) + z * s[0] * m[1], (m[1] * s[1]) << BigInt(known)];
    };
    const ends = [at(fraction), at(fraction + 1n)];
    if (ends.every(([n]) => n > 0n) || ends.every(([n]) => n < 0n)) {
      const [a, b] = ends.map((each) => decimalText(each, digits));
      if (a === b) return Number(a);
    }
  }
}

type Ratio = readonly [numerator: bigint, denominator: bigint];

function fractionOf(value: number): Ratio {
  const [digits, exponent = '0'] = String(value).split('e');
  const places = (digits.split('.')[1] ?? '').length;
  const [n, d] = power(Number(exponent) - places);
  return [BigInt(digits.replace('.', '')) * n, d];
}

function power(exponent: number): Ratio {
  return exponent >= 0 ? [10n ** BigInt(exponent), 1n] : [1n, 10n ** BigInt(-exponent)];
}

function isAtLeast(a: Ratio, b: Ratio): boolean {
  return a[0] * b[1] >= b[0] * a[1];
}

/** Returns the decimal exponent of the first digit: 0 for 1 to 9.99…. Counts up or down to it. */
function placeOf(value: Ratio): number {
  let place = 0;
  while (isAtLeast(value, power(place + 1))) place++;
  while (!isAtLeast(value, power(place))) place--;
  return place;
}

/** Returns the nearest decimal with `digits` significant digits. */
function decimalText([n, d]: Ratio, digits: number): string {
  const value: Ratio = [n < 0n ? -n : n, d];
  const exponent = placeOf(value) - digits + 1;
  const [p, q] = power(exponent);
  const twice = (2n * value[0] * q) / (value[1] * p);
  const whole = (twice + 1n) / 2n;
  // With three digits 99.96 rounds to 1000e-1. Write 100e0 instead, as for 100.2: the caller compares texts.
  return `${n < 0n ? '-' : ''}${whole === 10n ** BigInt(digits) ? `${whole / 10n}e${exponent + 1}` : `${whole}e${exponent}`}`;
}
