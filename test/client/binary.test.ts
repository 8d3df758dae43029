import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { batchValues, octetsOf, requestIdOf, uuidText } from '../../clients/typescript/src/binary.ts';
import { QrnError } from '../../clients/typescript/src/error.ts';
import { base32Of, uuidText as serviceUuidText } from '../../src/core/ids.ts';
import { keystream } from '../values/keystream.ts';

describe('batchValues', () => {
  const integers = [0, -1, 2 ** 31 - 1, -(2 ** 31)];
  const floats = [0, 0.1, 1 - 2 ** -53, 2 ** 52];

  function octets(width: 4 | 8, values: readonly number[], littleEndian: boolean): Uint8Array<ArrayBuffer> {
    const view = new DataView(new ArrayBuffer(width * values.length));
    values.forEach((value, i) => {
      if (width === 4) view.setInt32(4 * i, value, littleEndian);
      else view.setFloat64(8 * i, value, littleEndian);
    });
    return new Uint8Array(view.buffer);
  }

  it('are 32-bit integers, or doubles when they do not fit, and floats', () => {
    assert.deepEqual(batchValues('integers', 4, octets(4, integers, true)), Int32Array.from(integers));
    assert.deepEqual(batchValues('integers', 4, octets(8, floats, true)), Float64Array.from(floats));
    assert.deepEqual(batchValues('floats', 4, octets(8, floats, true)), Float64Array.from(floats));
  });

  it('are the same on a machine that keeps the most significant byte first', () => {
    // what such a machine would have to hand to its typed arrays is what this one reads after turning it once more
    assert.deepEqual(
      batchValues('integers', 4, octets(4, integers, false), false),
      Int32Array.from(integers),
    );
    assert.deepEqual(batchValues('floats', 4, octets(8, floats, false), false), Float64Array.from(floats));
    const bytes = Uint8Array.of(1, 2, 3, 4);
    assert.deepEqual(batchValues('bytes', 2, bytes, false), Uint8Array.of(1, 2, 3, 4));
  });

  it('convert back to the received octets, in either byte order', () => {
    for (const littleEndian of [true, false]) {
      const sent = octets(4, integers, littleEndian);
      const values = batchValues('integers', 4, sent, littleEndian);
      const data = { values, count: 4, type: 'integers' } as const;
      assert.deepEqual(octetsOf(data, littleEndian), sent);
    }
  });

  it('are refused when their count is not the requested one', () => {
    const cases: ['integers' | 'floats' | 'bytes' | 'uuid', count: number, size: number][] = [
      ['integers', 3, 16],
      ['integers', 2, 32],
      ['floats', 2, 8],
      ['floats', 4, 16],
      ['uuid', 1, 15],
      ['bytes', 3, 10],
      ['bytes', 3, 0],
    ];
    for (const [type, count, size] of cases) {
      assert.throws(
        () => batchValues(type, count, new Uint8Array(size)),
        (error) => error instanceof QrnError && error.code === 'invalid_answer',
        `${type} ${count} ${size}`,
      );
    }
  });
});

it("ids have the service's form", () => {
  const bytes = keystream(16 * 50);
  for (let at = 0; at < bytes.length; at += 16) {
    const id = bytes.slice(at, at + 16);
    assert.equal(uuidText(id), serviceUuidText(id));
    assert.equal(requestIdOf(uuidText(id)), `req_${base32Of(id)}`);
  }
});
