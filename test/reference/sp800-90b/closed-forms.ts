/** The statistics of SP 800-90B 6.3.2 and 6.3.4 solved from the formulas as they are printed. Slow. */

/** A root of a decreasing function in (low, high) by 200 halvings. */
function halve(low: number, high: number, target: number, value: (x: number) => number): number {
  for (let round = 0; round < 200; round++) {
    const middle = (low + high) / 2;
    if (value(middle) > target) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** 6.3.2, step 7: the expected time to a collision, for p in (1/2, 1). */
function expectedCollisionTime(p: number): number {
  const q = 1 - p;
  // F(1/z) = Gamma(3, z) z^-3 e^z, and Gamma(3, z) = (z^2 + 2z + 2) e^-z.
  const f = (x: number): number => x * (2 * x * x + 2 * x + 1);
  return (p / q ** 2) * (1 + (1 / p - 1 / q) / 2) * f(q) - (p / q) * ((1 / p - 1 / q) / 2);
}

export function plainCollisionP(meanLower: number): number {
  return halve(0.5, 1 - 1e-9, meanLower, expectedCollisionTime);
}

/** 6.3.4, step 7, for `blocks` blocks of which 1,000 fill the dictionary: the double sum, term by term. */
export function expectedCompressionMean(p: number, blocks: number): number {
  const g = (z: number): number => {
    let sum = 0;
    for (let t = 1001; t <= blocks; t++) {
      for (let u = 1; u <= t; u++) {
        sum += Math.log2(u) * (u < t ? z * z * (1 - z) ** (u - 1) : z * (1 - z) ** (t - 1));
      }
    }
    return sum / (blocks - 1000);
  };
  return g(p) + 63 * g((1 - p) / 63);
}

/** 6.3.4, steps 2 to 6: mean and the lower end of its interval. */
export function plainCompressionMean(bits: Uint8Array): { mean: number; meanLower: number } {
  const blocks = Array.from({ length: Math.floor(bits.length / 6) }, (_, i) =>
    bits.subarray(6 * i, 6 * i + 6).join(''),
  );
  const logs = blocks.slice(1000).map((block, i) => {
    const at = i + 1000;
    // -1, which is place 0 counted from one, when there is no earlier block like it.
    return Math.log2(at - blocks.lastIndexOf(block, at - 1));
  });
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const squares = logs.reduce((sum, log) => sum + log * log, 0);
  const deviation = 0.5907 * Math.sqrt(squares / (logs.length - 1) - mean * mean);
  return { mean, meanLower: mean - (2.5758293035489008 * deviation) / Math.sqrt(logs.length) };
}
