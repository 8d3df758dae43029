import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Coins, RandomWords } from '../../../src/backend/simulator/coins.ts';
import { fixedBytes } from '../../support/backends.ts';
import { bitAt } from '../../support/shots.ts';

function toss(probabilities: readonly number[], shots: number, label: string): Uint8Array {
  const bits = new Uint8Array(Math.ceil((shots * probabilities.length) / 8)).fill(0xff);
  new Coins(probabilities).fill(bits, 0, shots, new RandomWords(fixedBytes(label)));
  return bits;
}

/** The slow twin: each lane by itself, u as a sum of its digits, from the same words. */
function slowToss(probabilities: readonly number[], shots: number, label: string): number[] {
  const words = new RandomWords(fixedBytes(label));
  const width = probabilities.length;
  const result: number[] = [];
  const finer = (p: number, digits: number) => p % 2 ** -digits !== 0;
  for (let first = 0; first < shots * width; first += 32) {
    const p = Array.from({ length: 32 }, (_, lane) => probabilities[(first + lane) % width]);
    const u = new Array(32).fill(0);
    let digits = 0;
    // Undecided while the digits so far agree; digits go on while any p in the word has more of them.
    const isOpen = (lane: number) =>
      p[lane] < 1 && Math.floor(p[lane] * 2 ** digits) === u[lane] * 2 ** digits;
    while (p.some((_, lane) => isOpen(lane)) && p.some((each) => each < 1 && finer(each, digits))) {
      const word = words.word();
      digits++;
      for (let lane = 0; lane < 32; lane++) u[lane] += ((word >>> (31 - lane)) & 1) * 2 ** -digits;
    }
    for (let lane = 0; lane < 32; lane++) result.push(u[lane] < p[lane] ? 1 : 0);
  }
  return result.slice(0, shots * width);
}

test('a lane is 1 exactly when its binary fraction is below its probability', () => {
  // Probabilities of at most 40 digits: u then stays an exact double in the slow twin.
  const probability = fc.oneof(
    fc.integer({ min: 0, max: 2 ** 40 }).map((k) => k * 2 ** -40),
    fc.constantFrom(0, 0.25, 0.5, 0.75, 1),
  );
  fc.assert(
    fc.property(
      fc.array(probability, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 40 }),
      fc.string({ maxLength: 4 }),
      (probabilities, shots, label) => {
        const bits = toss(probabilities, shots, label);
        const slow = slowToss(probabilities, shots, label);
        assert.deepEqual(
          slow.map((_, position) => bitAt(bits, position)),
          slow,
        );
      },
    ),
    { numRuns: 100 },
  );
});

test('a probability of 0 never gives 1, 1 always does, and the padding is zero', () => {
  const bits = toss([0, 1, 0.3], 1001, 'edges');
  for (let shot = 0; shot < 1001; shot++) {
    assert.equal(bitAt(bits, 3 * shot), 0);
    assert.equal(bitAt(bits, 3 * shot + 1), 1);
  }
  assert.equal(bits[bits.length - 1] & 0x1f, 0, '3003 bits leave five bits of padding');
});

test('each channel has its own rate, even in words that the width does not divide', () => {
  const probabilities = [0.01, 0.2, 0.501, 0.77, 0.999];
  const shots = 100_000;
  const bits = toss(probabilities, shots, 'rates');
  probabilities.forEach((p, channel) => {
    let ones = 0;
    for (let shot = 0; shot < shots; shot++) ones += bitAt(bits, shot * 5 + channel);
    const z = (ones - shots * p) / Math.sqrt(shots * p * (1 - p));
    assert.ok(Math.abs(z) < 4, `channel ${channel}: ${z} standard deviations off`);
  });
});

test('bytes around the slice are not changed', () => {
  const bits = new Uint8Array(12).fill(0xaa);
  new Coins([1, 1]).fill(bits, 3, 9, new RandomWords(fixedBytes('slice')));
  assert.deepEqual([...bits], [0xaa, 0xaa, 0xaa, 0xff, 0xff, 0xc0, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa]);
});
