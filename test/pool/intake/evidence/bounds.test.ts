import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  chshMargin,
  chshMinEntropyPerRun,
  rateUpperBound,
  readoutMinEntropy,
  restUpperBound,
  xBasisMinEntropy,
} from '../../../../src/pool/intake/evidence/bounds.ts';

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

/** P(at most `count` of a sample of `samples` without replacement from `all`, of which `marked` are marked). */
function hypergeometricTail(count: number, samples: number, all: number, marked: number): number {
  let sum = 0;
  for (let k = Math.max(0, samples - (all - marked)); k <= Math.min(count, marked, samples); k++) {
    sum += Math.exp(lnChoose(marked, k) + lnChoose(all - marked, samples - k) - lnChoose(all, samples));
  }
  return sum;
}

describe('readout', () => {
  /** Shares of an ideal |+> behind such a readout. */
  const ideal = (e01: number, e10: number) => (1 - e10 + e01) / 2;

  it('known answers: 1 - log2(1 + e01 + e10) for an ideal qubit', () => {
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

  it('is what somebody guesses who sees which readouts worked, for any state', () => {
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

  it('two errors that cancel in the bias do not cancel here', () => {
    const e = { e01: 0.2, e10: 0.2 };
    near(readoutMinEntropy(e, 0.5, 0.5), 1 - Math.log2(1.4), 1e-12);
  });

  it('is 0, not less, where nothing is left', () => {
    assert.equal(readoutMinEntropy({ e01: 0.9, e10: 0.9 }, 0.5, 0.5), 0);
  });
});

describe('X basis', () => {
  it('known answers', () => {
    for (const [error, expected] of [
      [0, 1],
      [0.001, 0.912],
      [0.005, 0.81],
      [0.01, 0.738],
      [0.02, 0.644],
      [0.05, 0.478],
      [0.5, 0],
      [0.9, 0],
    ]) {
      near(xBasisMinEntropy(error), expected, 0.0005);
    }
  });

  it('never grows with the error', () => {
    for (let error = 0; error < 0.6; error += 0.001) {
      assert.ok(xBasisMinEntropy(error + 0.001) <= xBasisMinEntropy(error));
    }
  });
});

describe('CHSH', () => {
  it('known answers of f', () => {
    for (const [s, expected] of [
      [-2.8, 0],
      [2, 0],
      [2.2, 0.083],
      [2.4, 0.194],
      [2.6, 0.361],
      [2.7, 0.493],
      [2.8, 0.737],
      [2 * Math.SQRT2, 1],
      [3.9, 1],
    ]) {
      near(chshMinEntropyPerRun(s), expected, 0.0005);
    }
  });

  it('f is convex: the mean of many S says no more than they do', () => {
    const s = fc.double({ min: 2, max: 2.82, noNaN: true }); // above, its slope has no bound
    fc.assert(
      fc.property(s, s, (a, b) => {
        const middle = chshMinEntropyPerRun((a + b) / 2);
        assert.ok(middle <= (chshMinEntropyPerRun(a) + chshMinEntropyPerRun(b)) / 2 + 1e-12);
      }),
      { seed: SEED },
    );
  });

  it('known answers of the margin for 2^-40', () => {
    for (const [runs, expected] of [
      [1e5, 0.161],
      [1e6, 0.051],
      [1e7, 0.016],
    ]) {
      near(chshMargin(runs, 1 / 4, NATS_40), expected, 0.0005);
    }
    assert.ok(chshMargin(1e6, 0.2, NATS_40) > chshMargin(1e6, 0.25, NATS_40), 'a rare setting costs');
  });

  it('the margin is that whose delta is the probability given', () => {
    const [runs, q, nats] = [123_456, 0.24, 17];
    const eps = chshMargin(runs, q, nats);
    near((runs * eps ** 2) / (2 * (1 / q + 2 * Math.SQRT2) ** 2), nats, 1e-9);
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

  it('hold by the exact binomial tail: they are never below Clopper and Pearson', () => {
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
    // With no event at all the two are the same: (1 - p)^n = exp(-nats).
    near(rateUpperBound(0, 1000, NATS_40), 1 - 2 ** (-40 / 1000), 1e-12);
    // Clopper and Pearson's of 100 in 10,000 at 2^-40 is where the exact tail is 2^-40.
    const bound = rateUpperBound(100, 10_000, NATS_40);
    let exact = 0.01;
    while (binomialTail(100, 10_000, exact) > 2 ** -40) exact += 1e-5;
    assert.ok(bound >= exact - 1e-5 && bound < exact * 1.05, `${bound}, exactly ${exact}`);
  });

  it('leave room for every rate that is not refuted', () => {
    assert.equal(rateUpperBound(5, 5, 1), 1);
    assert.equal(rateUpperBound(1, 1, NATS_40), 1);
    near(rateUpperBound(500_000, 1_000_000, 1e-12), 0.5, 1e-6);
  });

  it('of the rest: a sample without replacement refutes what is above', () => {
    const worlds = fc
      .record({ samples: fc.integer({ min: 1, max: 60 }), rest: fc.integer({ min: 1, max: 120 }) })
      .chain(({ samples, rest }) =>
        fc.record({
          samples: fc.constant(samples),
          rest: fc.constant(rest),
          count: fc.integer({ min: 0, max: samples }),
          nats: fc.double({ min: 0.5, max: 20, noNaN: true }),
        }),
      );
    fc.assert(
      fc.property(worlds, ({ samples, rest, count, nats }) => {
        const bound = restUpperBound(count, samples, rest, nats);
        // the fewest events among the rest that the bound calls impossible
        const refuted = Math.floor(bound * rest + 1e-9) + 1;
        if (refuted > rest) return;
        const tail = hypergeometricTail(count, samples, samples + rest, count + refuted);
        assert.ok(tail <= Math.exp(-nats) * (1 + 1e-9), `${tail} > ${Math.exp(-nats)}`);
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  it('of the rest: more than that of all, and the same when the rest is endless', () => {
    const all = rateUpperBound(20, 2000, NATS_40);
    assert.ok(restUpperBound(20, 2000, 16_000, NATS_40) > all);
    near(restUpperBound(20, 2000, 1e12, NATS_40), all, 1e-9);
    assert.equal(restUpperBound(900, 1000, 10, NATS_40), 1);
  });
});
