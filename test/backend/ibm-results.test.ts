import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeResult } from '../../src/backend/ibm/results.ts';
import { failsWith } from './backend-contract.ts';

/** Shots as people write them: character i of a shot is c[i]. */
type Shots = readonly string[];

const reversed = (shot: string) => [...shot].reverse().join('');
const packedBits = (bits: string) =>
  Uint8Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) =>
    Number.parseInt(bits.slice(8 * at, 8 * at + 8).padEnd(8, '0'), 2),
  );

function samplesOf(shots: Shots): object {
  const samples = shots.map((shot) => `0x${BigInt(`0b${reversed(shot)}`).toString(16)}`);
  return { samples, num_bits: shots[0].length };
}

const plain = (...registers: readonly object[]) => ({
  results: registers.map((c) => ({ data: { c }, metadata: {} })),
});
const decoded = async (json: unknown, shots: number, width: number) =>
  (await decodeResult(json, { shots, width })).bits;

const shotLists = fc
  .record({ shots: fc.integer({ min: 1, max: 9 }), width: fc.integer({ min: 1, max: 70 }) })
  .chain(({ shots, width }) => {
    const shot = fc.array(fc.constantFrom('0', '1'), { minLength: width, maxLength: width });
    return fc.array(
      shot.map((bits) => bits.join('')),
      { minLength: shots, maxLength: shots },
    );
  });

test('the bits of the samples are decoded, c[0] first', async () => {
  await fc.assert(
    fc.asyncProperty(shotLists, async (shots) => {
      const expected = packedBits(shots.join(''));
      const size = [shots.length, shots[0].length] as const;
      assert.deepEqual(await decoded(plain(samplesOf(shots)), ...size), expected);
    }),
    { numRuns: 200 },
  );
});

test('more shots than one turn of the event loop decodes are decoded', async () => {
  const shots = Array.from({ length: 10_000 }, (_, shot) => (shot % 8).toString(2).padStart(3, '0'));
  const expected = packedBits(shots.join(''));
  assert.deepEqual(await decoded(plain(samplesOf(shots)), shots.length, 3), expected);
});

const SHOTS = ['010', '110'];
const WRONG: Readonly<Record<string, unknown>> = {
  'no object': null,
  'no PUBs': {},
  'a PUB too few': plain(),
  'a PUB too many': plain(samplesOf(SHOTS), samplesOf(SHOTS)),
  'a shot too few': plain(samplesOf(SHOTS.slice(1))),
  'a shot too many': plain(samplesOf([...SHOTS, '000'])),
  'another width': plain({ samples: ['0x2', '0x3'], num_bits: 2 }),
  'a width that says how it is printed': plain({ samples: ['0x2', '0x3'], num_bits: { toString: 1 } }),
  'no width': plain({ samples: ['0x2', '0x3'] }),
  'a shot beyond the width': plain({ samples: ['0x2', '0x8'], num_bits: 3 }),
  'a number for a text': plain({ samples: [2, 3], num_bits: 3 }),
  'a decimal': plain({ samples: ['2', '3'], num_bits: 3 }),
  'a negative': plain({ samples: ['-0x2', '0x3'], num_bits: 3 }),
  'nothing after 0x': plain({ samples: ['0x', '0x3'], num_bits: 3 }),
};

for (const [what, json] of Object.entries(WRONG)) {
  test(`results are refused for ${what}`, async () => {
    await assert.rejects(decoded(json, 2, 3), failsWith('permanent'));
  });
}

test('counts and probabilities are refused, because they are not shots', async () => {
  for (const json of [
    plain({ counts: { '0x2': 1, '0x3': 1 }, num_bits: 3 }),
    plain({ evs: [0.5] }),
    { results: [{ data: { meas: samplesOf(SHOTS) } }] },
    { quasi_dists: [{ 2: 0.5, 3: 0.5 }], metadata: [] },
  ]) {
    await assert.rejects(decoded(json, 2, 3), failsWith('no_raw_shots'));
  }
});
