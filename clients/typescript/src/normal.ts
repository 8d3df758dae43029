/**
 * Samples exactly from the normal distribution and rounds once, to the nearest double: C. F. F. Karney, "Sampling
 * exactly from the normal distribution", ACM TOMS 42 (2016), algorithm N. Every decision compares digits of uniform
 * numbers, so no probability is rounded.
 */

/** Returns a uniform whole number in [0, span), or a promise of it when bytes must be fetched first. */
export type Below = (span: number) => number | Promise<number>;

const DIGIT_BITS = 16;
const DIGITS = 2 ** DIGIT_BITS;
/** With 55 bits, two more than a double's 53, the bits that are not drawn cannot change how the value is rounded. */
const ROUNDING_BITS = 55;

/** A uniform number in (0, 1). Its digits are drawn only when they are needed. */
class Uniform {
  readonly digits: number[] = [];
}

/** Returns a normal deviate with mean 0 and standard deviation 1. */
export async function standardNormal(below: Below): Promise<number> {
  for (;;) {
    // a whole part k with a probability proportional to exp(-k² / 2)
    let k = 0;
    while (await isBelowRootOfE(below)) k++;
    let trials = k * (k - 1);
    while (trials > 0 && (await isBelowRootOfE(below))) trials--;
    if (trials > 0) continue;
    // a fraction x, accepted with probability exp(-x (2k + x) / 2): k + 1 trials of the (k + 1)-th root of that
    const x = new Uniform();
    let accepted = 0;
    while (accepted <= k && (await isAccepted(k, x, below))) accepted++;
    if (accepted <= k) continue;
    const magnitude = await rounded(k, x, below);
    return (await below(2)) === 0 ? magnitude : -magnitude;
  }
}

async function digit(number: Uniform, at: number, below: Below): Promise<number> {
  while (number.digits.length <= at) number.digits.push(await below(DIGITS));
  return number.digits[at] as number;
}

async function isLess(one: Uniform, other: Uniform, below: Below): Promise<boolean> {
  for (let at = 0; ; at++) {
    const difference = (await digit(one, at, below)) - (await digit(other, at, below));
    if (difference !== 0) return difference < 0;
  }
}

/**
 * Returns true with probability exp(-1/2): the probability that a falling run of uniform numbers that starts below 1/2
 * has an even length (von Neumann).
 */
async function isBelowRootOfE(below: Below): Promise<boolean> {
  let last = new Uniform();
  if ((await digit(last, 0, below)) >= DIGITS / 2) return true;
  for (let even = false; ; even = !even) {
    const next = new Uniform();
    if (!(await isLess(next, last, below))) return even;
    last = next;
  }
}

/**
 * Returns true with probability exp(-x (2k + x) / (2k + 2)). It uses a falling run as `isBelowRootOfE` does, but each
 * step also ends the run with probability 1 - (2k + x) / (2k + 2).
 */
async function isAccepted(k: number, x: Uniform, below: Below): Promise<boolean> {
  let last = x;
  for (let even = true; ; even = !even) {
    const next = new Uniform();
    if (!(await isLess(next, last, below))) return even;
    const share = await below(2 * k + 2);
    if (share === 2 * k + 1) return even;
    if (share === 2 * k && !(await isLess(new Uniform(), x, below))) return even;
    last = next;
  }
}

/** Returns the double nearest to k + x. */
async function rounded(k: number, x: Uniform, below: Below): Promise<number> {
  let whole = BigInt(k);
  for (let at = 0; ; at++) {
    const bits = DIGIT_BITS * at;
    // the digits that are not drawn are neither all 0 nor all 1, so one more bit stands for them
    if (whole >> BigInt(ROUNDING_BITS - 1) > 0n) return Number(2n * whole + 1n) / 2 ** (bits + 1);
    whole = (whole << BigInt(DIGIT_BITS)) | BigInt(await digit(x, at, below));
  }
}
