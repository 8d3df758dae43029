import { writeAscii, writeTrimmedEightDigits } from './digits.ts';

/**
 * The shortest decimal of a multiple of 2^-53 in [0, 1): the text that String(x) gives (ECMA-262 6.1.6.1.20), several
 * times faster because the exponent is known to be small.
 *
 * Let x = m / 2^53 and z the zeros behind the point, so that y = x·10^(16+z) lies in [10^15, 10^16). With n = m·10^z,
 * y = n·10^16 / 2^53 is computed exactly as a·10^8 + b + f / 2^37, its sixteen digits and a fraction. A decimal reads
 * back as x when it is nearer to x than half the distance between doubles there, H below, in units of 2^-37 of the
 * sixteenth digit: for x in [2^-(j+1), 2^-j) that is 2^-(54+j), so H = 5^(16+z)·2^(z-1-j).
 * - H is no whole number (j >= z), so the question whether the border itself counts never arises.
 * - H / y lies between 2^-54 and 2^-53, so H is between 0.055 and 1.11 sixteenth digits: at most one number of fifteen
 *   digits is that near, one of seventeen digits always is.
 * - Carries do not reach 10^16: y is at least 1.11 below it when z = 0, where H = 0.56, and else n is even, so at
 *   least 2, and y at least 2.22, below.
 * - A power of two has its lower neighbour nearer than H says; but from 2^-19 on it has at most 14 digits itself, which
 *   are found as what is nearest, and none fewer reads as the same double (DBL_DIG = 15).
 * Left to String(x): x below 10^-6 (printed with an exponent) and exact halves of the last digit.
 */
export function writeShortest(view: DataView, at: number, x: number): number {
  if (x < 1e-6) return writeAscii(view, at, String(x));
  const m = x * 2 ** 53;
  const top = Math.floor(m * 2 ** -32) | 0;

  let n = m;
  let zeros = 0;
  for (; n < 2 ** 53 / 10; n *= 10) zeros++;
  const half = HALF_SPACING[zeros] / (1 << (Math.clz32(top) - 11)); // j = clz32(top) - 11: m has 53 - j bits

  // a + rest / 2^45 = n·5^8 / 2^45, in limbs of 27 bits so that every product stays below 2^53
  const nHigh = Math.floor(n * 2 ** -27);
  const p = (n - nHigh * 2 ** 27) * FIVE_8;
  const pHigh = Math.floor(p * 2 ** -27);
  const s = nHigh * FIVE_8 + pHigh;
  let a = Math.floor(s * 2 ** -18) | 0;
  // b + f / 2^37 = rest·5^8 / 2^37
  const q = (p - pHigh * 2 ** 27) * FIVE_8;
  const qHigh = Math.floor(q * 2 ** -27);
  const t = (s - a * 2 ** 18) * FIVE_8 + qHigh;
  let b = Math.floor(t * 2 ** -10) | 0;
  const f = (t - b * 2 ** 10) * 2 ** 27 + (q - qHigh * 2 ** 27);

  const last = b % 10;
  const r = last * UNIT + f;
  const isShort = Math.min(r, 10 * UNIT - r) < half;
  const isSixteen = Math.min(f, UNIT - f) < half;
  let seventeenth = 0;
  if (isShort) b += r > 5 * UNIT ? 10 - last : -last;
  else if (f === UNIT / 2) return writeAscii(view, at, String(x));
  else if (isSixteen) b += f > UNIT / 2 ? 1 : 0;
  else {
    seventeenth = Math.floor((10 * f) / UNIT);
    const beyond = 10 * f - seventeenth * UNIT;
    if (beyond === UNIT / 2) return writeAscii(view, at, String(x));
    if (beyond > UNIT / 2) seventeenth++;
  }
  if (b === 100_000_000) {
    b = 0;
    a++;
  }
  return writeFraction(view, at, zeros, a, b, seventeenth, isShort);
}

/** 2^37: one unit of the sixteenth digit. */
const UNIT = 2 ** 37;
const FIVE_8 = 390_625;
/** 5^(16+z)·2^(z-1) for z zeros behind the point, exact: 5^21 has 49 bits. */
const HALF_SPACING: readonly number[] = [0, 1, 2, 3, 4, 5].map((z) => 5 ** 16 * 5 ** z * 2 ** (z - 1));

function writeFraction(
  view: DataView,
  start: number,
  zeros: number,
  a: number,
  b: number,
  seventeenth: number,
  isShort: boolean,
): number {
  view.setUint16(start, 0x2e30, true); // '0.'
  let at = start + 2;
  for (let i = 0; i < zeros; i++) view.setUint8(at++, 0x30);
  const endOfA = writeTrimmedEightDigits(view, at, a);
  const endOfB = writeTrimmedEightDigits(view, at + 8, b);
  if (isShort) return b === 0 ? endOfA : endOfB;
  if (seventeenth === 0) return at + 16;
  view.setUint8(at + 16, 0x30 + seventeenth);
  return at + 17;
}
