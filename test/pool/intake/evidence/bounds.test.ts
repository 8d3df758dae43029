import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  clustersNeeded,
  isAboveQuantum,
  jointMinEntropyRate,
  localNats,
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

  it('does not let two errors cancel that cancel in the bias', () => {
    const e = { e01: 0.2, e10: 0.2 };
    near(readoutMinEntropy(e, 0.5, 0.5), 1 - Math.log2(1.4), 1e-12);
  });

  it('is 0, not less, where nothing is left', () => {
    assert.equal(readoutMinEntropy({ e01: 0.9, e10: 0.9 }, 0.5, 0.5), 0);
  });
});

describe('X basis', () => {
  it('gives the known answers', () => {
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

describe('the joint entropy of a lot', () => {
  it('has known values of 1 - h(Q)', () => {
    for (const [error, expected] of [
      [0, 1],
      [0.01, 0.919],
      [0.11, 0.5],
      [0.5, 0],
      [0.9, 0],
    ]) {
      near(jointMinEntropyRate(error), expected, 0.0005);
    }
  });

  it('counts strings: 2^(N h(Q)) is at least the number of strings of N bits with QN ones or fewer', () => {
    for (const [bits, ones] of [
      [10, 3],
      [100, 7],
      [400, 120],
    ]) {
      let strings = 0;
      for (let k = 0; k <= ones; k++) strings += Math.exp(lnChoose(bits, k));
      assert.ok(Math.log2(strings) <= bits * (1 - jointMinEntropyRate(ones / bits)));
    }
  });
});

describe('CHSH over clusters', () => {
  it('asks for no more clusters than Azuma and Hoeffding do: 5,546 at S = 2.4, 2,465 at 2.6, 1,387 at 2.8', () => {
    for (const [s, azuma] of [
      [2.4, 5546],
      [2.5, 3549],
      [2.6, 2465],
      [2.7, 1811],
      [2.8, 1387],
    ]) {
      const needed = clustersNeeded(0.5 + s / 8, NATS_40);
      assert.ok(needed <= azuma && needed > azuma / 2, `${needed} clusters at S = ${s}`);
      assert.ok(localNats(0.5 + s / 8, needed) >= NATS_40);
      assert.ok(localNats(0.5 + s / 8, needed - 1) < NATS_40);
    }
    assert.equal(localNats(0.75, 1e9), 0);
  });

  it('is never below the exact tail of the best local strategy, which wins 3 of 4 independent clusters', () => {
    for (const clusters of [16, 100, 400]) {
      for (let wins = Math.ceil(0.75 * clusters); wins <= clusters; wins += Math.ceil(clusters / 20)) {
        const tail = binomialTail(clusters - wins, clusters, 1 / 4); // so few losses or fewer
        assert.ok(tail <= Math.exp(-localNats(wins / clusters, clusters)) * (1 + 1e-9));
      }
    }
  });

  it('takes S above 2 sqrt 2 by more than six standard errors for impossible, and chance for chance', () => {
    const quantum = (2 + Math.SQRT2) / 4;
    assert.equal(isAboveQuantum(1, 1, 16, 16_000), true);
    assert.equal(isAboveQuantum(1, 1, 8, 8), false, 'eight runs may all win');
    assert.equal(isAboveQuantum(quantum, quantum * quantum, 1e4, 1e6), false);
    assert.equal(isAboveQuantum(quantum + 0.01, (quantum + 0.01) ** 2, 1e4, 1e6), true);
    // Clusters that differ much leave an error of the mean of their own: sd 0.35 / 10.
    assert.equal(isAboveQuantum(0.9, 0.9 ** 2 + 0.35 ** 2, 100, 1e8), false);
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

  it('bounds the rest so that a sample without replacement refutes more', () => {
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
        const bound = restUpperBound(count / samples, samples, rest, nats);
        // the fewest events among the rest that the bound calls impossible
        const refuted = Math.floor(bound * rest + 1e-9) + 1;
        if (refuted > rest) return;
        const tail = hypergeometricTail(count, samples, samples + rest, count + refuted);
        assert.ok(tail <= Math.exp(-nats) * (1 + 1e-9), `${tail} > ${Math.exp(-nats)}`);
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  it('of the rest: close to that of all when the rest is endless, and Serfling’s where errors are many', () => {
    const nats = NATS_40 + Math.LN2;
    near(restUpperBound(0.01, 2000, 1e12, NATS_40), rateUpperBound(20, 2000, nats), 1e-9);
    assert.ok(restUpperBound(0.01, 2000, 16_000, NATS_40) > rateUpperBound(20, 2000, nats));
    const serfling = 0.3 + Math.sqrt((1024 * 513 * nats) / (2 * 512 * 512 * 512));
    near(restUpperBound(0.3, 512, 512, NATS_40), serfling, 1e-12);
    assert.equal(restUpperBound(0.9, 1000, 10, NATS_40), 1);
  });

  it('of the rest: never above the figures of arXiv:1103.4130 at 2^-40 but for the halved probability', () => {
    for (const [all, tested, mu] of [
      [1024, 256, 0.269],
      [4096, 1024, 0.134],
      [16_384, 4096, 0.067],
      [65_536, 8192, 0.044],
      [262_144, 32_768, 0.022],
    ]) {
      assert.ok(restUpperBound(0.01, tested, all - tested, NATS_40) <= 0.01 + 1.02 * mu);
    }
    assert.equal(restUpperBound(0, 2, 14, NATS_40), 1, 'two tests of sixteen say nothing');
  });
});
