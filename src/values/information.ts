/**
 * The binary logarithm of large counts of possibilities, exact where it decides a price: the result lies on
 * the right side of every multiple of 8. So ceil(bits / 8) is right, however near the true value is to one.
 */

/** Choices that are made together, `times` times: `count` values out of `of`, without repeats if `unique`. */
export interface Choices {
  readonly of: number;
  readonly count: number;
  readonly unique: boolean;
  readonly times: number;
}

/** Returns the logarithm of the number of outcomes that independent choices have together. */
export function bitsOfChoices(choices: readonly Choices[]): number {
  let bits = 0;
  let factors = 0;
  for (const { of, count, unique, times } of choices) {
    bits += times * (unique ? aboutFalling(of, count) : count * Math.log2(of));
    factors += times * count;
  }
  return settle(bits, factors, (precision) => {
    let result: Bounds = ONE;
    for (const { of, count, unique, times } of choices) {
      const once = unique ? fallingBounds(of, count, precision) : powerBounds(exactly(of), count, precision);
      result = multiply(result, powerBounds(once, times, precision), precision);
    }
    return result;
  });
}

/**
 * Returns about log2(n·(n-1)·…·(n-count+1)). Dividing the running product by powers of two, which is exact, keeps it
 * within a double. Each multiplication rounds by at most 2^-53, so the logarithm is off by at most count·2^-52.4 before
 * the last addition.
 */
function aboutFalling(n: number, count: number): number {
  let product = 1;
  let exponent = 0;
  for (let i = 0; i < count; i++) {
    product *= n - i;
    if (product >= 2 ** 900) {
      product *= 2 ** -900;
      exponent += 900;
    }
  }
  return exponent + Math.log2(product);
}

/** An integer that lies between low·2^exponent and high·2^exponent. */
interface Bounds {
  readonly low: bigint;
  readonly high: bigint;
  readonly exponent: number;
}

const ONE: Bounds = exactly(1);

function exactly(value: number): Bounds {
  return { low: BigInt(value), high: BigInt(value), exponent: 0 };
}

/** Moves `estimate` to the side of the nearest multiple of 8 where the true logarithm lies. */
function settle(estimate: number, factors: number, bounds: (precision: number) => Bounds): number {
  const edge = 8 * Math.round(estimate / 8);
  // Four times the error of the estimates above: a few units in the last place, and 2^-52.4 for each factor.
  const errorMax = (estimate + factors) * 2 ** -50;
  if (Math.abs(estimate - edge) > errorMax) return estimate;
  const order = compareToPowerOfTwo(edge, bounds);
  if (order === 0) return edge;
  return order < 0 ? Math.min(estimate, edge) : Math.max(estimate, edge * (1 + Number.EPSILON));
}

/** Returns the sign of V - 2^edge. It ends with some precision, because the bounds are exact when V is a power of two. */
function compareToPowerOfTwo(edge: number, bounds: (precision: number) => Bounds): -1 | 0 | 1 {
  for (let precision = 256; ; precision *= 2) {
    const { low, high, exponent } = bounds(precision);
    // The power is 0 when edge < exponent. Then V is larger, because low is at least 1.
    const power = 1n << BigInt(edge - exponent);
    if (low > power) return 1;
    if (high < power) return -1;
    if (low === high) return 0;
  }
}

/** Returns base^count by squaring, in log2(count) steps. */
function powerBounds(base: Bounds, count: number, precision: number): Bounds {
  let result = ONE;
  let square = base;
  for (let rest = count; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, square, precision);
    if (rest > 1) square = multiply(square, square, precision);
  }
  return result;
}

function fallingBounds(n: number, count: number, precision: number): Bounds {
  let result = ONE;
  const together = 16; // 16 exact multiplications cost less than a rounding after each
  for (let from = 0; from < count; from += together) {
    let product = 1n;
    for (let i = from; i < Math.min(count, from + together); i++) product *= BigInt(n - i);
    result = multiply(result, { low: product, high: product, exponent: 0 }, precision);
  }
  return result;
}

/** Returns the product, cut to about `precision` bits: low rounded down, high rounded up. */
function multiply(x: Bounds, y: Bounds, precision: number): Bounds {
  const low = x.low * y.low;
  const high = x.high * y.high;
  const exponent = x.exponent + y.exponent;
  const surplus = 4 * high.toString(16).length - precision;
  if (surplus <= 0) return { low, high, exponent };
  const cut = BigInt(surplus);
  return { low: low >> cut, high: -(-high >> cut), exponent: exponent + surplus };
}
