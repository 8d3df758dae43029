import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aptCutoff, falseAlarmChance, rctCutoff } from '../../../src/pool/intake/health.ts';

/**
 * The cutoffs of the health tests against what SP 800-90B §4.4 states of them, by slow exact sums that take nothing from src/.
 * That the tests fire at their cutoffs, whatever came before, is shown by their twin (test/pool/intake/health.test.ts).
 */
const CLAIMS = [1, 0.9, 0.8, 0.5, 0.3];
const WINDOW = 1024;

/** P(X >= k) for X of Binomial(n, p), each term from its logarithm. */
function atLeast(n: number, k: number, p: number): number {
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
function rctSamples(alphaBits: number, h: number): number {
  return 1 + Math.ceil(alphaBits / h);
}

/** APT (§4.4.2): C = 1 + CRITBINOM(W, 2^-H, 1 - alpha), the least k with P(X > k) <= alpha. */
function aptMatches(alphaBits: number, h: number): number {
  let low = 0;
  let high = WINDOW;
  while (low < high) {
    const k = (low + high) >> 1;
    if (atLeast(WINDOW, k + 1, 2 ** -h) <= 2 ** -alphaBits) high = k;
    else low = k + 1;
  }
  return 1 + low;
}

/** The chance that a window of bits that are 1 with probability `ones` reaches C: its first bit matches itself. */
function aptChance(ones: number, cutoff: number): number {
  const of = (first: number) => (first === 0 ? 0 : first * atLeast(WINDOW - 1, cutoff - 1, first));
  return of(ones) + of(1 - ones);
}

/** The chance of a run of at least `cutoff` equal bits among `samples`: a chain over the length of the run under way. */
function runChance(ones: number, cutoff: number, samples: number): number {
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

describe('cutoffs', () => {
  it('are those of SP 800-90B 4.4, computed again from the sums', () => {
    for (const h of CLAIMS) {
      for (const alphaBits of [20, 30, 40, 60]) {
        assert.equal(rctCutoff(h, alphaBits), rctSamples(alphaBits, h));
        assert.equal(aptCutoff(h, alphaBits), aptMatches(alphaBits, h));
      }
    }
  });

  it('fail a sound window with probability 2 alpha at most, and a sound read no more often than the stated bound', () => {
    for (const h of CLAIMS) {
      const p = 2 ** -h;
      const chance = Math.max(atLeast(WINDOW - 1, aptMatches(30, h) - 1, p), aptChance(p, aptMatches(30, h)));
      assert.ok(chance <= 2 * 2 ** -30, `${h}: ${chance * 2 ** 30} alpha`);
    }
    for (const shots of [1024, 4096]) {
      const exact =
        runChance(0.5, rctSamples(30, 1), shots) + (shots / WINDOW) * aptChance(0.5, aptMatches(30, 1));
      assert.ok(16 * exact <= falseAlarmChance({ shots, width: 16 }));
    }
  });
});
