/** The results that SP 800-90B §4.4 states of its tests, by slow exact sums: nothing here is taken from src/. */

/** P(X >= k) for X of Binomial(n, p), each term from its logarithm. */
export function atLeast(n: number, k: number, p: number): number {
  if (k <= 0) return 1;
  if (p === 1) return 1;
  let logChoose = 0;
  let sum = 0;
  for (let i = 0; i <= n; i++) {
    if (i >= k) sum += Math.exp(logChoose + i * Math.log(p) + (n - i) * Math.log1p(-p));
    logChoose += Math.log(n - i) - Math.log(i + 1);
  }
  return Math.min(1, sum);
}

/** RCT (§4.4.1): C = 1 + ceil(-log2(alpha) / H). */
export function rctSamples(alphaBits: number, h: number): number {
  return 1 + Math.ceil(alphaBits / h);
}

const APT_WINDOW = 1024;

/** APT (§4.4.2): C = 1 + CRITBINOM(W, 2^-H, 1 - alpha), the least k with P(X > k) <= alpha. */
export function aptMatches(alphaBits: number, h: number): number {
  let low = 0;
  let high = APT_WINDOW;
  while (low < high) {
    const k = (low + high) >> 1;
    if (atLeast(APT_WINDOW, k + 1, 2 ** -h) <= 2 ** -alphaBits) high = k;
    else low = k + 1;
  }
  return 1 + low;
}

/** The chance that a window of bits that are 1 with probability `ones` reaches C: its first bit matches itself. */
export function aptChance(ones: number, cutoff: number): number {
  const of = (first: number) => (first === 0 ? 0 : first * atLeast(APT_WINDOW - 1, cutoff - 1, first));
  return of(ones) + of(1 - ones);
}

/** The chance of a run of at least `cutoff` equal bits among `samples`: a chain over the length of the run under way. */
export function runChance(ones: number, cutoff: number, samples: number): number {
  // runs[bit][length]: the chance to be in such a run and to have had no long one
  let runs = [new Float64Array(cutoff), new Float64Array(cutoff)];
  if (cutoff === 1) return 1;
  runs[0][1] = 1 - ones;
  runs[1][1] = ones;
  let found = 0;
  for (let sample = 1; sample < samples; sample++) {
    const next = [new Float64Array(cutoff), new Float64Array(cutoff)];
    for (const bit of [0, 1]) {
      const same = bit === 1 ? ones : 1 - ones;
      for (let length = 1; length < cutoff; length++) {
        const here = runs[bit][length];
        if (length + 1 < cutoff) next[bit][length + 1] += here * same;
        else found += here * same;
        next[1 - bit][1] += here * (1 - same);
      }
    }
    runs = next;
  }
  return found;
}
