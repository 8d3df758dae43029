import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SCREENED_BITS } from '../../../src/pool/intake/assessor.ts';
import { assessBits } from '../../../src/stats/sp800-90b/assess.ts';
import { fixedBytes } from '../../support/backends.ts';
import { firstLot } from './lying.ts';
import {
  biased,
  driftingChannel,
  goodFirstMegabit,
  type Model,
  markov,
  neighbours,
  noisyPeriod,
  periodic,
  sound,
} from './models.ts';

describe('a lot that is too short to be assessed', () => {
  it('hides no period: each from 1 to 64 bits is refused with the first lot', async () => {
    const by: Record<string, number> = {};
    for (let period = 1; period <= 64; period++) {
      const { health, record, blocks } = await firstLot(periodic(period), SCREENED_BITS);
      assert.deepEqual([record.accepted, blocks.length, record.minEntropyPerBit], [false, 0, null]);
      const test = health.failures.at(-1)?.test ?? 'floor';
      assert.match(record.rejection, test === 'floor' ? /below the floor$/ : /^health tests: /);
      by[test] = (by[test] ?? 0) + 1;
    }
    // RCT and APT detect what is stuck or biased, the search for copies detects a pattern that it samples, the
    // estimators detect the rest.
    assert.deepEqual(Object.keys(by).sort(), ['apt', 'floor', 'replay']);
  });

  const liars: readonly Model[] = [
    periodic(16, 16),
    periodic(200, 16),
    periodic(4096),
    neighbours(1),
    neighbours(0.9),
    neighbours(1, 2),
    markov(0.9),
    markov(0.1),
    markov(0.85, 1),
  ];
  for (const model of liars) {
    it(`hides nothing that RCT and APT miss: ${model.name}`, async () => {
      for (const bits of [SCREENED_BITS * 2, 65_536]) {
        const { record, blocks } = await firstLot(model, bits);
        assert.deepEqual([record.accepted, blocks.length], [false, 0], record.rejection);
      }
    });
  }

  it('serves if the source is sound: the lowest score is far above the floor', () => {
    const source = fixedBytes('short and sound');
    const bits = new Uint8Array(SCREENED_BITS / 8);
    // Of 12,000 lots the lowest score was 0.416, and one in a thousand scored below 0.434: a decade for each 0.018,
    // and the floor is 0.3.
    for (let trial = 0; trial < 60; trial++) {
      source(bits);
      const score = assessBits(bits, SCREENED_BITS).minEntropyPerBit;
      assert.ok(score > 0.4, `${score}`);
    }
  });

  it('serves if the source is usable, and reports no estimate', async () => {
    for (const model of [sound(), sound(1), biased(0.55)]) {
      const { record, blocks } = await firstLot(model, 65_536);
      assert.deepEqual([record.accepted, blocks.length > 0, record.minEntropyPerBit], [true, true, null]);
    }
  });
});

/** Raw bits of two windows. `node test/adversary/liars/run.ts models` tests these models and more. */
const LOT_BITS = 2_200_000;

describe('a whole lot of a lying source', () => {
  for (const model of [goodFirstMegabit, driftingChannel, markov(0.4), noisyPeriod(65_537, 0.25)]) {
    it(`is refused, or credited with no more entropy than it has: ${model.name}`, async () => {
      const { record, blocks } = await firstLot(model, LOT_BITS);
      if (!record.accepted) return assert.equal(blocks.length, 0);
      assert.notEqual(model, goodFirstMegabit, 'what lies behind the first megabit is assessed');
      assert.ok(
        (record.minEntropyPerBit ?? 1) <= model.minEntropyPerBit,
        `credited ${record.minEntropyPerBit} of ${model.minEntropyPerBit}`,
      );
    });
  }
});
