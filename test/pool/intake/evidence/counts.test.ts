import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chshCounts, chshValue, onesPerChannel } from '../../../../src/pool/intake/evidence/counts.ts';

/** Shots as lists of bits, and the same packed. */
const reads = fc.integer({ min: 1, max: 9 }).chain((width) =>
  fc
    .array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: width, maxLength: width }), {
      minLength: 1,
      maxLength: 40,
    })
    .map((shots) => ({ width, shots, bits: packed(shots.flat()) })),
);

function packed(bits: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  bits.forEach((bit, at) => {
    bytes[at >> 3] |= bit << (7 - (at & 7));
  });
  return bytes;
}

describe('counts', () => {
  it('ones per channel are those of a plain count', async () => {
    await fc.assert(
      fc.asyncProperty(reads, async ({ width, shots, bits }) => {
        const ones = shots.reduce(
          (sums, shot) => sums.map((sum, i) => sum + shot[i]),
          new Array<number>(width).fill(0),
        );
        assert.deepEqual(Array.from(await onesPerChannel(bits, width, shots.length)), ones);
      }),
      { seed: 20_261_121 },
    );
  });

  it('run on over slices, with a turn of the event loop between them', async () => {
    const [width, shots] = [3, 1_000_003];
    const bits = new Uint8Array(Math.ceil((width * shots) / 8)).fill(0b1011_0110);
    let turns = 0;
    let next: NodeJS.Immediate;
    const turn = () => {
      turns++;
      next = setImmediate(turn);
    };
    next = setImmediate(turn);
    const ones = await onesPerChannel(bits, width, shots);
    clearImmediate(next);
    const expected = [0, 0, 0];
    for (let at = 0; at < width * shots; at++) expected[at % 3] += (0b1011_0110 >> (7 - (at % 8))) & 1;
    assert.deepEqual(Array.from(ones), expected);
    assert.ok(turns >= 5, `${turns} turns in six slices`);
  });

  it('S by hand: every pair and setting apart', async () => {
    // Pair 0: equal in settings 00, 01, 10, different in 11, so S = 4. Pair 1: always equal, S = 2. Pair 2: as pair 0 in all but
    // one of two shots of setting 00, S = 3.
    const shots = [
      [0, 0, 1, 1, 1, 1],
      [1, 1, 0, 0, 0, 1],
      [1, 1, 1, 1, 0, 0],
      [0, 0, 0, 0, 1, 1],
      [1, 0, 0, 0, 0, 1],
    ];
    const settings = Uint8Array.of(0, 0, 1, 2, 3);
    const counts = await chshCounts(packed(shots.flat()), 6, settings);
    assert.deepEqual(Array.from(counts.shots), [2, 1, 1, 1]);
    assert.deepEqual(Array.from(counts.equal), [2, 1, 1, 0, 2, 1, 1, 1, 1, 1, 1, 0]);
    assert.deepEqual(
      [0, 1, 2].map((pair) => chshValue(counts, pair)),
      [4, 2, 3],
    );
  });
});
