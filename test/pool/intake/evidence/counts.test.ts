import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { onesPerChannel } from '../../../../src/pool/intake/evidence/counts.ts';
import { packBits } from '../../../support/bit-sequences.ts';
import { countingTurns } from '../../fixtures.ts';

/** Shots as lists of bits, and the same packed. */
const reads = fc.integer({ min: 1, max: 9 }).chain((width) =>
  fc
    .array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: width, maxLength: width }), {
      minLength: 1,
      maxLength: 40,
    })
    .map((shots) => ({ width, shots, bits: packBits(shots.flat()) })),
);

describe('counts', () => {
  it('gives the ones of each channel as a plain count does', async () => {
    await fc.assert(
      fc.asyncProperty(reads, async ({ width, shots, bits }) => {
        const ones = shots.reduce(
          (sums, shot) => sums.map((sum, i) => sum + shot[i]),
          new Array<number>(width).fill(0),
        );
        assert.deepEqual(Array.from(await onesPerChannel({ bits, width, shots: shots.length })), ones);
      }),
    );
  });

  it('is made in slices, with a turn of the event loop between them', async () => {
    const [width, shots] = [3, 1_000_003];
    const bits = new Uint8Array(Math.ceil((width * shots) / 8)).fill(0b1011_0110);
    const { result: ones, turns } = await countingTurns(() => onesPerChannel({ bits, width, shots }));
    const expected = [0, 0, 0];
    for (let at = 0; at < width * shots; at++) expected[at % 3] += (0b1011_0110 >> (7 - (at % 8))) & 1;
    assert.deepEqual(Array.from(ones), expected);
    assert.ok(turns >= 5, `${turns} turns in six slices`);
  });
});
