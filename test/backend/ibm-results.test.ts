import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { decodeResult, readByteMatrix } from '../../src/backend/ibm/results.ts';
import { failsWith } from '../support/backend-contract.ts';
import { npyOf } from '../support/providers/ibm.ts';

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

function bitArrayOf(shots: Shots, deflated = packedArray(shots)): object {
  const array = { __type__: 'ndarray', __value__: deflated.toString('base64') };
  return { __type__: 'BitArray', __value__: { num_bits: shots[0].length, array } };
}

function packedArray(shots: Shots): Buffer {
  const columns = Math.ceil(shots[0].length / 8);
  const rows = shots.map((shot) => [...packedBits(reversed(shot).padStart(8 * columns, '0'))]);
  return deflateSync(npyOf(shots.length, columns, Uint8Array.from(rows.flat())));
}

const plain = (...registers: readonly object[]) => ({
  results: registers.map((c) => ({ data: { c }, metadata: {} })),
});
const typed = (type: string, value: unknown) => ({ __type__: type, __value__: value });
const primitive = (...registers: readonly object[]) =>
  typed('PrimitiveResult', {
    pub_results: registers.map((c) =>
      typed('SamplerPubResult', { data: typed('DataBin', { field_names: ['c'], fields: { c } }) }),
    ),
  });

const decoded = (json: unknown, shots: number, width: number) => decodeResult(json, { shots, width });

const shotLists = fc
  .record({ shots: fc.integer({ min: 1, max: 9 }), width: fc.integer({ min: 1, max: 70 }) })
  .chain(({ shots, width }) => {
    const shot = fc.array(fc.constantFrom('0', '1'), { minLength: width, maxLength: width });
    return fc.array(
      shot.map((bits) => bits.join('')),
      { minLength: shots, maxLength: shots },
    );
  });

test('both forms of a result hold the same bits, c[0] first', async () => {
  await fc.assert(
    fc.asyncProperty(shotLists, async (shots) => {
      const expected = packedBits(shots.join(''));
      const size = [shots.length, shots[0].length] as const;
      assert.deepEqual(await decoded(plain(samplesOf(shots)), ...size), expected);
      assert.deepEqual(await decoded(primitive(bitArrayOf(shots)), ...size), expected);
    }),
    { numRuns: 200 },
  );
});

test('takes more shots than a turn of the event loop does', async () => {
  const shots = Array.from({ length: 10_000 }, (_, shot) => (shot % 8).toString(2).padStart(3, '0'));
  const expected = packedBits(shots.join(''));
  assert.deepEqual(await decoded(plain(samplesOf(shots)), shots.length, 3), expected);
  assert.deepEqual(await decoded(primitive(bitArrayOf(shots)), shots.length, 3), expected);
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
  'an array with a shot too few': primitive(bitArrayOf(SHOTS.slice(1))),
  'an array of wider shots': primitive(bitArrayOf(SHOTS, deflateSync(npyOf(2, 2, new Uint8Array(4))))),
  'an array with a bit beyond the width': primitive(
    bitArrayOf(SHOTS, deflateSync(npyOf(2, 1, Uint8Array.of(2, 8)))),
  ),
  'an array that is not compressed': primitive(bitArrayOf(SHOTS, npyOf(2, 1, Uint8Array.of(2, 3)))),
  'an array that is cut off': primitive(bitArrayOf(SHOTS, packedArray(SHOTS).subarray(0, 20))),
  'an array that is none': primitive(bitArrayOf(SHOTS, deflateSync(Buffer.from('nothing of the sort')))),
  'an array that grows beyond all bounds': primitive(bitArrayOf(SHOTS, deflateSync(new Uint8Array(2 ** 20)))),
};

for (const [what, json] of Object.entries(WRONG)) {
  test(`refuses ${what}`, async () => {
    await assert.rejects(decoded(json, 2, 3), failsWith('permanent'));
  });
}

test('refuses counts and probabilities, which are no shots', async () => {
  for (const json of [
    plain({ counts: { '0x2': 1, '0x3': 1 }, num_bits: 3 }),
    plain({ evs: [0.5] }),
    { results: [{ data: { meas: samplesOf(SHOTS) } }] },
    { quasi_dists: [{ 2: 0.5, 3: 0.5 }], metadata: [] },
  ]) {
    await assert.rejects(decoded(json, 2, 3), failsWith('no_raw_shots'));
  }
});

test('refuses .npy of another version, type or order', () => {
  const npy = npyOf(2, 3, Uint8Array.of(1, 2, 3, 4, 5, 6));
  const { rows, columns, data } = readByteMatrix(npy);
  assert.deepEqual([rows, columns, ...data], [2, 3, 1, 2, 3, 4, 5, 6]);
  const second = Buffer.concat([
    Buffer.from('\x93NUMPY\x02\x00', 'latin1'),
    Buffer.alloc(4),
    npy.subarray(10),
  ]);
  second.writeUInt32LE(npy.readUInt16LE(8), 8);
  assert.deepEqual([...readByteMatrix(second).data], [1, 2, 3, 4, 5, 6]);
  const fortran = Buffer.from(npy.toString('latin1').replace('False', 'True '), 'latin1');
  const flat = Buffer.from(npy.toString('latin1').replace('(2, 3)', '(6,)  '), 'latin1');
  const longer = Buffer.concat([npy, Buffer.alloc(1)]);
  const headless = Buffer.from(npy);
  headless.writeUInt16LE(60_000, 8);
  const wide = npyOf(1, 3, new Uint8Array(6), '<u2');
  for (const wrong of [fortran, flat, longer, headless, wide, npy.subarray(0, 11), npy.subarray(0, -1)]) {
    assert.throws(() => readByteMatrix(wrong), failsWith('permanent'));
  }
});
