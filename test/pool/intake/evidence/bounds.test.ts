import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { rateUpperBound, readoutMinEntropy } from '../../../../src/pool/intake/evidence/bounds.ts';

const SEED = 20_261_121;
const NATS_40 = 40 * Math.LN2;

function near(actual: number, expected: number, tolerance: number): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual}, not ${expected}`);
}

/** ln of the binomial coefficient, by adding up. */
function lnChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log(n - k + i) - Math.log(i);
  return sum;
}

/** P(at most `count` events in `samples` trials). */
function binomialTail(count: number, samples: number, rate: number): number {
  let sum = 0;
  for (let k = 0; k <= count; k++) {
    sum += Math.exp(lnChoose(samples, k) + k * Math.log(rate) + (samples - k) * Math.log1p(-rate));
  }
  return sum;
}

describe('readout', () => {
  /** Shares of an ideal |+> behind such a readout. */
  const ideal = (e01: number, e10: number) => (1 - e10 + e01) / 2;

  it('is 1 - log2(1 + e01 + e10) for an ideal qubit', () => {
    for (const [e01, e10, expected] of [
      [0.004, 0.006, 0.986],
      [0.01, 0, 0.986],
      [0.02, 0.026, 0.935],
      [0, 0, 1],
      [0.5, 0.5, 0],
    ]) {
      const p1 = ideal(e01, e10);
      near(readoutMinEntropy({ e01, e10 }, p1, 1 - p1), expected, 0.0005);
      near(readoutMinEntropy({ e01, e10 }, p1, 1 - p1), 1 - Math.log2(1 + e01 + e10), 1e-12);
    }
  });

  it('is what remains against an adversary who sees which readouts worked, for any state', () => {
    const rate = fc.double({ min: 0, max: 0.5, noNaN: true });
    fc.assert(
      fc.property(rate, rate, fc.double({ min: 0, max: 1, noNaN: true }), (e01, e10, q) => {
        const works = 1 - e01 - e10;
        const guess = e01 + e10 + works * Math.max(q, 1 - q);
        const p1 = e01 + works * q;
        near(2 ** -readoutMinEntropy({ e01, e10 }, p1, 1 - p1), guess, 1e-12);
      }),
      { seed: SEED },
    );
  });

  it('does not let two errors cancel although they cancel in the bias', () => {
    const e = { e01: 0.2, e10: 0.2 };
    near(readoutMinEntropy(e, 0.5, 0.5), 1 - Math.log2(1.4), 1e-12);
  });

  it('is 0, and never less, when nothing is left', () => {
    assert.equal(readoutMinEntropy({ e01: 0.9, e10: 0.9 }, 0.5, 0.5), 0);
  });
});

describe('bounds on rates', () => {
  const cases = fc.integer({ min: 1, max: 400 }).chain((samples) =>
    fc.record({
      samples: fc.constant(samples),
      count: fc.integer({ min: 0, max: samples }),
      nats: fc.double({ min: 1, max: 30, noNaN: true }),
    }),
  );

  it('hold for the exact binomial tail: they are never below Clopper and Pearson', () => {
    fc.assert(
      fc.property(cases, ({ samples, count, nats }) => {
        const bound = rateUpperBound(count, samples, nats);
        assert.ok(bound > count / samples || bound === 1);
        if (bound < 1) assert.ok(binomialTail(count, samples, bound) <= Math.exp(-nats) * (1 + 1e-9));
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('are close to Clopper and Pearson', () => {
    // With no event at all the two agree: (1 - p)^n = exp(-nats).
    near(rateUpperBound(0, 1000, NATS_40), 1 - 2 ** (-40 / 1000), 1e-12);
    // Clopper and Pearson's of 100 in 10,000 at 2^-40 is where the exact tail is 2^-40.
    const bound = rateUpperBound(100, 10_000, NATS_40);
    let exact = 0.01;
    while (binomialTail(100, 10_000, exact) > 2 ** -40) exact += 1e-5;
    assert.ok(bound >= exact - 1e-5 && bound < exact * 1.05, `${bound}, exactly ${exact}`);
  });

  it('admit every rate that is not refuted', () => {
    assert.equal(rateUpperBound(5, 5, 1), 1);
    assert.equal(rateUpperBound(1, 1, NATS_40), 1);
    near(rateUpperBound(500_000, 1_000_000, 1e-12), 0.5, 1e-6);
  });
});
