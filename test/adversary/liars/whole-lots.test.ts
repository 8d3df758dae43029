import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstLot } from './first-lot.ts';
import { type Model, markov, sound } from './models.ts';

const LOT_BITS = 2_200_000;
const coin = (random: () => number, ones: number) => (random() < ones ? 1 : 0);

/** A million good bits, as many as earlier releases looked at, and behind them 0101... with 5 % of errors. */
const goodFirstMegabit: Model = {
  name: 'a good first megabit',
  width: 1,
  minEntropyPerBit: 0.074,
  rule: (random) => (shot) => (shot < 1_000_000 ? coin(random, 0.5) : (shot & 1) ^ coin(random, 0.05)),
};

/** One channel of eight goes bad over the lot, from a fair coin to one that is 1 nine times of ten. */
const driftingChannel: Model = {
  name: 'a channel that drifts',
  width: 8,
  minEntropyPerBit: 0.94,
  rule: (random) => (shot, channel) =>
    coin(random, channel === 5 ? 0.5 + (0.4 * shot) / (LOT_BITS / 8) : 0.5),
};

/** Half of the channels repeat the other half, a shot later. */
const lateCopies: Model = {
  name: 'channels copied a shot later',
  width: 8,
  minEntropyPerBit: 0.5,
  rule: (random) => {
    let before: number[] = [0, 0, 0, 0];
    let now: number[] = [];
    return (_shot, channel) => {
      if (channel === 0) [before, now] = [now.length === 4 ? now : before, []];
      if (channel >= 4) return before[channel - 4];
      now[channel] = coin(random, 0.5);
      return now[channel];
    };
  },
};

describe('a whole lot of a source that lies', () => {
  for (const model of [goodFirstMegabit, driftingChannel, lateCopies, markov(0.25), markov(0.4)]) {
    it(`is refused, or credited with no more than it has: ${model.name}`, async () => {
      const { record, blocks } = await firstLot(model, LOT_BITS);
      if (!record.accepted) return assert.equal(blocks.length, 0);
      assert.ok(
        (record.minEntropyPerBit ?? 1) <= model.minEntropyPerBit,
        `credited ${record.minEntropyPerBit} of ${model.minEntropyPerBit}`,
      );
    });
  }

  it('whose first megabit is good is refused, and one that is good throughout is not', async () => {
    const lying = await firstLot(goodFirstMegabit, LOT_BITS);
    assert.equal(lying.record.accepted, false);
    assert.match(lying.record.rejection, /below the floor|health tests/);
    const honest = await firstLot(sound(1), LOT_BITS);
    assert.equal(honest.record.accepted, true, honest.record.rejection);
  });
});
