import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { collision, compression, markov } from '../../../src/stats/sp800-90b/closed-forms.ts';
import {
  expectedCompressionMean,
  plainCollisionP,
  plainCompressionMean,
} from '../../reference/sp800-90b/closed-forms.ts';
import { uniforms } from '../../support/chance.ts';
import { assertClose } from './details.ts';
import { sources } from './sources.ts';

const bitsOf = (text: string): Uint8Array => Uint8Array.from(text, Number);
const biasedBits = (length: number, one: number, seed: number): Uint8Array => {
  const uniform = uniforms(seed);
  return Uint8Array.from({ length }, () => Number(uniform() < one));
};

suite('collision', () => {
  test('times to collision: 00 and 11 take two bits, all else three', () => {
    // 11 | 100 | 00 | 101 | 1: the last bit collides with nothing
    const estimate = collision(bitsOf('11100001011'));
    assert.deepEqual([estimate?.collisions, estimate?.samplesUsed], [4, 10]);
    assertClose(estimate?.deviation ?? 0, Math.sqrt((4 + 9 + 4 + 9 - 4 * 2.5 ** 2) / 3), 'deviation');
  });

  test('its quadratic is the equation of 6.3.2', () => {
    for (const one of [0.6, 0.75, 0.9]) {
      const estimate = collision(biasedBits(20_000, one, 7));
      assert.ok(estimate !== null && estimate.meanLower < 2.5);
      assertClose(estimate.p, plainCollisionP(estimate.meanLower), `Pr[1] = ${one}`);
    }
  });

  test('never colliding at once means full entropy, always means none', () => {
    assert.equal(collision(bitsOf('01'.repeat(500)))?.minEntropy, 1);
    assert.equal(collision(new Uint8Array(1000))?.minEntropy, 0);
  });

  test('a sequence that is too short has no estimate', () => {
    assert.equal(collision(bitsOf('0010')), null);
    assert.equal(collision(bitsOf('00101'))?.collisions, 2);
  });
});

suite('Markov', () => {
  test('the estimate has the counts and the likeliest chain', () => {
    const bits = bitsOf('0001101110');
    const estimate = markov(bits);
    assert.deepEqual(estimate.initial, [0.5, 0.5]);
    assert.deepEqual(estimate.transition, [
      [0.5, 0.5],
      [0.4, 0.6],
    ]);
    assertClose(estimate.minEntropy, -(Math.log2(0.5) + 127 * Math.log2(0.6)) / 128, '11...1');
  });

  test('the likeliest of the six chains, walked step by step', () => {
    const chains = [
      '0'.repeat(128),
      '01'.repeat(64),
      `0${'1'.repeat(127)}`,
      `1${'0'.repeat(127)}`,
      '10'.repeat(64),
      '1'.repeat(128),
    ];
    const likeliest = new Set<string>();
    const property = fc.property(sources({ min: 2, max: 60 }, [2]), ({ symbols }) => {
      const { initial, transition, minEntropy, pMax } = markov(symbols);
      const probabilities = chains.map((chain) => {
        const steps = Array.from(chain.slice(1), (next, i) => transition[Number(chain[i])][Number(next)]);
        return steps.reduce((product, step) => product * step, initial[Number(chain[0])]);
      });
      const highest = Math.max(...probabilities, 2 ** -128);
      likeliest.add(chains[probabilities.indexOf(highest)]);
      assertClose(pMax, highest, 'probability');
      assertClose(minEntropy, 0 - Math.log2(highest) / 128, 'min-entropy');
    });
    fc.assert(property, { numRuns: 400 });
    // Counts of steps there and back differ by one at most, so the two mixed chains hardly ever win.
    for (const pure of [0, 1, 4, 5])
      assert.ok(likeliest.has(chains[pure]), `${chains[pure].slice(0, 4)}... has won`);
  });
});

suite('compression', () => {
  test('mean and root are those of the printed double sum', () => {
    for (const [one, seed] of [
      [0.7, 3],
      [0.9, 4],
    ] as const) {
      const bits = biasedBits(6 * 1060 + 5, one, seed);
      const estimate = compression(bits);
      assert.ok(estimate !== null);
      const plain = plainCompressionMean(bits);
      assertClose(estimate.mean, plain.mean, 'mean');
      assertClose(estimate.meanLower, plain.meanLower, 'lower end of the mean');
      assert.ok(estimate.p > 1 / 64);
      assertClose(expectedCompressionMean(estimate.p, 1060), estimate.meanLower, 'p solves the equation');
    }
  });

  test('one block forever has no entropy', () => {
    assertClose(compression(new Uint8Array(12_000))?.minEntropy ?? -1, 0, 'stuck');
  });

  test('blocks that come as late as can be have full entropy', () => {
    // All 64 blocks in turn: the distance is 64 each time, longer than random blocks have on average.
    const bits = Uint8Array.from({ length: 6 * 2000 }, (_, i) => (Math.floor(i / 6) >> (5 - (i % 6))) & 1);
    assert.equal(compression(bits)?.mean, 6);
    assert.equal(compression(bits)?.minEntropy, 1);
  });

  test('a sequence that is too short has no estimate', () => {
    assert.equal(compression(new Uint8Array(6 * 1001 + 5)), null);
    assert.notEqual(compression(new Uint8Array(6 * 1002)), null);
  });
});
