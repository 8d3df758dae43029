import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { drawJson } from '../../src/values/sample.ts';
import {
  entropyBytesMax,
  informationBits,
  jsonBytesMax,
  type ValueRequest,
  valueCount,
} from '../../src/values/value-request.ts';
import { drawnText, drawnValues } from './drawn.ts';
import { keystream, keystreamReader, readerOf } from './keystream.ts';
import { anyRequest, integers } from './requests.ts';

const ENTROPY = keystream(40_000);

describe('informationBits', () => {
  it('is the logarithm of the possible answers', () => {
    const cases: [ValueRequest, number][] = [
      [integers(5, 0, 255), 40],
      [integers(3, 7, 7), 0],
      [integers(10, 1, 6), 10 * Math.log2(6)],
      [integers(2, 1, 2, { unique: true }), 1],
      [integers(6, 1, 49, { unique: true }), Math.log2(49 * 48 * 47 * 46 * 45 * 44)],
      [{ kind: 'floats', count: 3, precision: null }, 159],
      [{ kind: 'floats', count: 2, precision: 6 }, 2 * Math.log2(1e6)],
      [{ kind: 'bytes', count: 4, length: 16, encoding: 'hex', single: false }, 512],
      [{ kind: 'uuid', count: 2 }, 244],
      [{ kind: 'bitstring', length: 13 }, 13],
      [{ kind: 'shuffle', items: ['a', 'b', 'c'] }, Math.log2(6)],
    ];
    for (const [request, bits] of cases) {
      assert.ok(
        Math.abs(informationBits(request) - bits) < 1e-9,
        `${request.kind}: ${informationBits(request)}`,
      );
    }
  });

  it('does not depend on the requested order', () => {
    const [bits, ...others] = (['none', 'ascending', 'descending'] as const).map((sort) =>
      informationBits(integers(6, 1, 49, { unique: true, sort })),
    );
    assert.deepEqual(others, [bits, bits]);
  });
});

describe('entropyBytesMax', () => {
  it('is never exceeded, and no answer is priced above the entropy that was drawn for it', () => {
    fc.assert(
      fc.property(anyRequest, fc.nat(2_000), (request, skip) => {
        const reader = readerOf(ENTROPY.subarray(skip));
        drawnText(request, reader);
        assert.ok(reader.consumedBytes <= entropyBytesMax(request));
        assert.ok(8 * reader.consumedBytes >= informationBits(request));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is exact for kinds without refusals', () => {
    assert.equal(entropyBytesMax({ kind: 'uuid', count: 3 }), 48);
    assert.equal(entropyBytesMax({ kind: 'floats', count: 3, precision: null }), 21);
    assert.equal(entropyBytesMax({ kind: 'bitstring', length: 9 }), 2);
    assert.equal(entropyBytesMax({ kind: 'bytes', count: 3, length: 5, encoding: 'hex', single: false }), 15);
    assert.equal(entropyBytesMax({ kind: 'shuffle', items: ['only'] }), 0);
  });

  it('allows for repeats as well as for refused words', () => {
    // The second of two values out of 1024 repeats the first with p = 2^-10: six times in a row with p = 2^-60, which the
    // bound must still hold, each repeat costing a word.
    assert.ok(entropyBytesMax(integers(2, 1, 1_024, { unique: true })) >= 4 * (1 + 6));
  });

  it('stays near what large answers draw', () => {
    const large: ValueRequest[] = [
      integers(100_000, 0, 100),
      integers(100_000, 0, 999_999),
      integers(10_000, 1, 100_000, { unique: true }),
      integers(10_000, 1, 10_000, { unique: true }),
      { kind: 'floats', count: 100_000, precision: 6 },
      { kind: 'shuffle', items: Array.from({ length: 10_000 }, (_, i) => `${i}`) },
    ];
    for (const request of large) {
      const reader = keystreamReader(2 ** 20);
      drawnText(request, reader);
      const max = entropyBytesMax(request);
      assert.ok(reader.consumedBytes <= max);
      assert.ok(max < 1.5 * reader.consumedBytes, `${JSON.stringify(request).slice(0, 80)}: ${max}`);
    }
  });
});

describe('jsonBytesMax', () => {
  it('bounds the text and all scratch memory beside it', () => {
    fc.assert(
      fc.property(anyRequest, fc.nat(9), (request, start) => {
        const size = jsonBytesMax(request);
        const target = new Uint8Array(start + size + 9).fill(0xee);
        const end = drawJson(request, readerOf(ENTROPY), target, start);
        assert.ok(end <= start + size);
        assert.ok(target.subarray(0, start).every((byte) => byte === 0xee));
        assert.ok(target.subarray(start + size).every((byte) => byte === 0xee));
      }),
      { numRuns: 1_000 },
    );
  });

  it('fits the longest texts in a target of exactly that size', () => {
    // Spans of one value take no entropy and make every text as long as the bound has it.
    const longest: [ValueRequest, Uint8Array][] = [
      [integers(50, -(2 ** 31), -(2 ** 31)), new Uint8Array(0)],
      [integers(50, 2 ** 31 - 1, 2 ** 31 - 1), new Uint8Array(0)],
      [integers(50, -Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER), new Uint8Array(0)],
      [integers(50, 7, 7), new Uint8Array(0)],
      [integers(50, -7, -7), new Uint8Array(0)],
      [{ kind: 'floats', count: 9, precision: 1 }, new Uint8Array(4_000).fill(0x7f)],
      [{ kind: 'floats', count: 9, precision: 15 }, new Uint8Array(4_000).fill(0x35)],
    ];
    for (const [request, entropy] of longest) {
      assert.ok(Array.isArray(drawnValues(request, readerOf(entropy))));
    }
  });

  it('fits the longest text of a multiple of 2^-53', () => {
    const request: ValueRequest = { kind: 'floats', count: 1, precision: null };
    let longest = 0;
    // five zeros behind the point and 17 digits: 10^-6 <= x < 10^-5
    for (let m = 9_007_199_255; m < 90_071_992_547; m += 1_000_003)
      longest = Math.max(longest, String(m / 2 ** 53).length);
    assert.equal(longest, 24);
    assert.equal(jsonBytesMax(request), '[]'.length + ','.length + 24);
  });
});

it('the bound of a sample counts each item only as often as it can be drawn', () => {
  const items = ['x'.repeat(60_000), ...Array<string>(999).fill('y')];
  const whole = jsonBytesMax({ kind: 'shuffle', items });
  assert.equal(whole, JSON.stringify(items).length);
  assert.equal(jsonBytesMax({ kind: 'sample', count: 1_000, items }), whole);
  assert.ok(jsonBytesMax({ kind: 'sample', count: 2, items: ['a', 'bc', 'd', 'e', 'f', 'g'] }) < 16);
});

it('valueCount is the count that the answer states', () => {
  assert.equal(valueCount(integers(5, 0, 1)), 5);
  assert.equal(valueCount({ kind: 'bytes', count: 1, length: 16, encoding: 'hex', single: true }), 16);
  assert.equal(valueCount({ kind: 'bytes', count: 3, length: 16, encoding: 'hex', single: false }), 3);
  assert.equal(valueCount({ kind: 'bitstring', length: 99 }), 1);
  assert.equal(valueCount({ kind: 'shuffle', items: ['a', 'b'] }), 2);
});
