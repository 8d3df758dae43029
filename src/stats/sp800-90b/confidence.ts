/** The 99.5 % quantile of the standard normal: the half-width of a 99 % interval (SP 800-90B 6.3.1). */
export const Z_995 = 2.5758293035489008;

/** Returns the upper end of the 99 % confidence interval of a proportion of `count` samples (SP 800-90B 6.3.1). */
export function upperBound(proportion: number, count: number): number {
  return Math.min(1, proportion + Z_995 * Math.sqrt((proportion * (1 - proportion)) / (count - 1)));
}

/** Returns the min-entropy in bits of an event of this probability. A certain event has 0 bits (not -0). */
export function minEntropyOf(probability: number): number {
  return probability >= 1 ? 0 : -Math.log2(probability);
}

/**
 * Finds by bisection where a decreasing function reaches its target, down to neighbouring doubles. `isAbove(x)` says
 * whether the function at x is above the target. Returns `high` when it is above everywhere.
 */
export function bisect(low: number, high: number, isAbove: (x: number) => boolean): number {
  let below = low;
  let above = high;
  for (;;) {
    const middle = (below + above) / 2;
    if (middle <= below || middle >= above) return above;
    if (isAbove(middle)) below = middle;
    else above = middle;
  }
}
