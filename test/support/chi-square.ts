import assert from 'node:assert/strict';

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

const DEVIATIONS_MAX = 4;

/**
 * Requires that chi-square lies within four standard deviations of its mean, to either side: what is too even is wrong, too.
 * For values of a fixed keystream, so that nothing is left to chance.
 */
export function requireDistribution(
  what: string,
  counts: ArrayLike<number>,
  probabilities: ArrayLike<number>,
): void {
  const freedom = counts.length - 1;
  const statistic = chiSquare(counts, probabilities);
  const deviations = (statistic - freedom) / Math.sqrt(2 * freedom);
  assert.ok(
    Math.abs(deviations) < DEVIATIONS_MAX,
    `${what}: chi-square ${statistic}, ${freedom} degrees of freedom`,
  );
}
