/** Turns weights into whole numbers exactly: each double is a whole multiple of a power of two. */

const MANTISSA_BITS = 52;
const EXPONENT_BIAS = 1_075;

/**
 * Returns whole numbers in the same proportion. Throws a RangeError for a weight that is not finite or below 0, or when
 * all are 0.
 */
export function wholeWeights(weights: readonly number[]): bigint[] {
  const parts = weights.map((weight) => {
    if (!(weight >= 0 && weight < Infinity)) throw new RangeError('weights: numbers of at least 0');
    return parted(weight);
  });
  const unit = Math.min(...parts.filter(({ mantissa }) => mantissa > 0n).map(({ exponent }) => exponent));
  if (unit === Infinity) throw new RangeError('weights: one of them must be above 0');
  return parts.map(({ mantissa, exponent }) => (mantissa === 0n ? 0n : mantissa << BigInt(exponent - unit)));
}

/** weight = mantissa · 2^exponent */
function parted(weight: number): { readonly mantissa: bigint; readonly exponent: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, weight);
  const field = bits.getUint16(0) >> 4;
  const fraction = bits.getBigUint64(0) & ((1n << BigInt(MANTISSA_BITS)) - 1n);
  if (field === 0) return { mantissa: fraction, exponent: 1 - EXPONENT_BIAS };
  let mantissa = fraction | (1n << BigInt(MANTISSA_BITS));
  let exponent = field - EXPONENT_BIAS;
  while (mantissa % 2n === 0n) {
    mantissa /= 2n;
    exponent++;
  }
  return { mantissa, exponent };
}
