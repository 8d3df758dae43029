import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstLot } from './first-lot.ts';
import { driftingChannel, goodFirstMegabit, markov } from './models.ts';

/** Of two windows. `node test/adversary/liars/run.ts models` has these and more models, see MODELS in attacks.ts. */
const LOT_BITS = 2_200_000;

describe('a whole lot of a source that lies', () => {
  for (const model of [goodFirstMegabit, driftingChannel, markov(0.4)]) {
    it(`is refused, or credited with no more than it has: ${model.name}`, async () => {
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
