/**
 * Pearson's statistic of observed counts against exact probabilities; an outcome that cannot happen must not.
 */
export function chiSquare(counts: ArrayLike<number>, probabilities: ArrayLike<number>): number {
  let total = 0;
  for (let outcome = 0; outcome < counts.length; outcome++) total += counts[outcome];
  let sum = 0;
  for (let outcome = 0; outcome < counts.length; outcome++) {
    const expected = total * probabilities[outcome];
    if (expected === 0) sum += counts[outcome] === 0 ? 0 : Infinity;
    else sum += (counts[outcome] - expected) ** 2 / expected;
  }
  return sum;
}
