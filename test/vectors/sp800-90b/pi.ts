/** Binary digits of pi by Chudnovsky's series with binary splitting, in integers alone. */

const GUARD_BITS = 64n;

/** The first `count` binary digits of pi, 11.001001..., radix point dropped, one per byte. */
export function piBits(count: number): Uint8Array {
  const scaled = piTimesPowerOfTwo(BigInt(count - 2) + GUARD_BITS) >> GUARD_BITS;
  return Uint8Array.from(scaled.toString(2), Number);
}

/** pi * 2^bits, but for an error far below 2^64. */
function piTimesPowerOfTwo(bits: bigint): bigint {
  const terms = Math.ceil(Number(bits) / 47.11) + 2; // 47.11 bits a term
  const [, q, t] = split(0, terms);
  return (q * 426_880n * squareRoot(10_005n << (2n * bits))) / t;
}

function split(from: number, to: number): [bigint, bigint, bigint] {
  if (to - from > 1) {
    const middle = (from + to) >> 1;
    const [p1, q1, t1] = split(from, middle);
    const [p2, q2, t2] = split(middle, to);
    return [p1 * p2, q1 * q2, q2 * t1 + p1 * t2];
  }
  if (from === 0) return [1n, 1n, 13_591_409n];
  const k = BigInt(from);
  const p = (6n * k - 5n) * (2n * k - 1n) * (6n * k - 1n);
  const t = p * (13_591_409n + 545_140_134n * k);
  return [p, (k * k * k * 640_320n ** 3n) / 24n, from % 2 === 1 ? -t : t];
}

/** floor(sqrt(value)) by Newton's method from a root of half the precision. */
function squareRoot(value: bigint): bigint {
  if (value < 1n << 52n) return BigInt(Math.floor(Math.sqrt(Number(value))));
  const quarter = BigInt(value.toString(16).length); // of its bits
  // An over-estimate, right in its upper half.
  let root = (squareRoot(value >> (2n * quarter)) + 1n) << quarter;
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
