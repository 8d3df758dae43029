/**
 * The binary digits of e and pi, computed with BigInt alone: the input of the known answers of SP 800-22. The
 * expansion includes the integer part, most significant bit first, without leading zero or radix point (pi =
 * 11.001... gives 11001...), as in NIST's data.e and data.pi.
 */
import assert from 'node:assert/strict';

/** Extra bits; a last digit could only be wrong behind a run of 60 equal ones, which is checked. */
const GUARD_BITS = 64n;

/** floor(sqrt(v)) by Newton's method, started from the root of a quarter-length problem. */
function integerSqrt(v: bigint): bigint {
  if (v < 1n << 52n) return BigInt(Math.floor(Math.sqrt(Number(v))));
  const bits = v.toString(16).length * 4;
  const half = BigInt((bits >> 2) & ~1);
  let x = (integerSqrt(v >> (2n * half)) + 1n) << half; // above the root
  for (;;) {
    const y = (x + v / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
}

/** floor(e 2^bits): 1 + Σ 1/k! by binary splitting. */
function fixedE(bits: bigint): bigint {
  let terms = 1;
  for (let log2 = 0; log2 < Number(bits) + 8; ) log2 += Math.log2(++terms);
  const split = (from: number, to: number): [p: bigint, q: bigint] => {
    if (to - from === 1) return [1n, BigInt(to)];
    const middle = (from + to) >> 1;
    const [p1, q1] = split(from, middle);
    const [p2, q2] = split(middle, to);
    return [p1 * q2 + p2, q1 * q2];
  };
  const [p, q] = split(0, terms);
  return (1n << bits) + (p << bits) / q;
}

/** floor(pi 2^bits): the Chudnovsky series by binary splitting, 47.11 bits a term. */
function fixedPi(bits: bigint): bigint {
  const c3 = 640320n ** 3n / 24n;
  const split = (from: number, to: number): [p: bigint, q: bigint, t: bigint] => {
    if (to - from === 1) {
      if (from === 0) return [1n, 1n, 13591409n];
      const k = BigInt(from);
      const p = (6n * k - 5n) * (2n * k - 1n) * (6n * k - 1n);
      const t = p * (13591409n + 545140134n * k);
      return [p, k * k * k * c3, from % 2 === 1 ? -t : t];
    }
    const middle = (from + to) >> 1;
    const [p1, q1, t1] = split(from, middle);
    const [p2, q2, t2] = split(middle, to);
    return [p1 * p2, q1 * q2, q2 * t1 + p1 * t2];
  };
  const [, q, t] = split(0, Math.ceil(Number(bits) / 47.11) + 2);
  return (q * 426880n * integerSqrt(10005n << (2n * bits))) / t;
}

/** The first `count` binary digits (a multiple of 8) of e or pi, packed, most significant bit first. */
export function digitsOf(constant: 'e' | 'pi', count: number): Uint8Array {
  const integerBits = 2n; // e and pi are both 1x in binary
  const fixed = constant === 'e' ? fixedE : fixedPi;
  const value = fixed(BigInt(count) - integerBits + GUARD_BITS);
  const guard = value & ((1n << GUARD_BITS) - 1n);
  assert.ok(guard > 16n && guard < (1n << GUARD_BITS) - 16n, 'the guard bits decide the last digit');
  const bytes = Buffer.from((value >> GUARD_BITS).toString(16), 'hex');
  assert.equal(bytes.length * 8, count);
  return bytes;
}
