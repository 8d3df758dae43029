import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { TextType } from '../../src/core/vocabulary.ts';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { drawJson } from '../../src/values/sample.ts';
import { drawText, textBytesMax } from '../../src/values/text-lines.ts';
import { jsonBytesMax, type ValueRequest } from '../../src/values/value-request.ts';
import { anyCharacter } from '../support/any-character.ts';
import {
  permutationsRequest,
  sampleRequest,
  sequencesRequest,
  stringsRequest,
  weightedRequest,
} from './requests.ts';

/** Returns a reader of the same bytes each time. */
function reader(): EntropyReader {
  let state = 1;
  return new EntropyReader(() =>
    Uint8Array.from({ length: 4_096 }, () => (state = (state * 48_271) % 0x7fff_ffff) & 255),
  );
}

/** Returns the text, and asserts that nothing else was written. */
function textOf(request: ValueRequest, type: TextType): string {
  const room = textBytesMax(request, type);
  const memory = new Uint8Array(room + 20);
  const end = drawText(request, type, reader(), memory, 10);
  assert.ok(end <= 10 + room);
  const outside = [...memory.subarray(0, 10), ...memory.subarray(end)];
  assert.ok(
    outside.every((byte) => byte === 0),
    'nothing lies beside the text',
  );
  return Buffer.from(memory.subarray(10, end)).toString();
}

function valuesOf(request: ValueRequest): string[] {
  const memory = new Uint8Array(jsonBytesMax(request));
  const end = drawJson(request, reader(), memory, 0);
  const json = JSON.parse(Buffer.from(memory.subarray(0, end)).toString());
  return Array.isArray(json)
    ? json.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
    : [json];
}

const count = fc.integer({ min: 1, max: 300 });
const requests: fc.Arbitrary<ValueRequest> = fc.oneof(
  fc.record({
    kind: fc.constant('integers' as const),
    count,
    min: fc.integer({ min: -1_000, max: 0 }),
    max: fc.integer({ min: 301, max: 2 ** 40 }),
    unique: fc.boolean(),
    sort: fc.constantFrom('none' as const, 'descending' as const),
  }),
  fc.record({ kind: fc.constant('floats' as const), count, precision: fc.constantFrom(null, 1, 15) }),
  fc.record({
    kind: fc.constant('bytes' as const),
    count,
    length: fc.integer({ min: 1, max: 40 }),
    encoding: fc.constantFrom('hex' as const, 'base64' as const),
    single: fc.constant(false),
  }),
  fc.record({ kind: fc.constant('uuid' as const), count }),
  fc.record({ kind: fc.constant('bitstring' as const), length: count }),
  fc.record({
    kind: fc.constant('shuffle' as const),
    items: fc.array(fc.string({ unit: anyCharacter }), { minLength: 2, maxLength: 40 }),
  }),
  sampleRequest,
  weightedRequest,
  stringsRequest,
);

/** A reader of RFC 4180 as its grammar says. */
function parsedCsv(text: string): string[] {
  const records = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))\r\n/gy)];
  assert.equal(records.map(([all]) => all).join(''), text, 'the text is records and nothing else');
  return records.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
}

describe('values as lines of text', () => {
  it('are the values of JSON, one to a line (property)', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const lines = valuesOf(request).map((value) => `${value}\n`);
        assert.equal(textOf(request, 'plain'), lines.join(''));
      }),
      { numRuns: 150 },
    );
  });

  it('are the values of JSON in a column of CSV, below a header (property)', () => {
    fc.assert(
      fc.property(requests, (request) => {
        assert.deepEqual(parsedCsv(textOf(request, 'csv')), ['value', ...valuesOf(request)]);
      }),
      { numRuns: 150 },
    );
  });

  it('have a line for each sequence or permutation, its numbers side by side (property)', () => {
    fc.assert(
      fc.property(fc.oneof(sequencesRequest, permutationsRequest), (request) => {
        const rows = valuesOf(request).map((json) => JSON.parse(json).flat() as number[]);
        assert.equal(textOf(request, 'plain'), rows.map((row) => `${row.join(' ')}\n`).join(''));
        const [header, ...records] = textOf(request, 'csv').split('\r\n');
        assert.equal(header.split(',').length, rows[0].length);
        assert.deepEqual(records, [...rows.map(String), '']);
      }),
      { numRuns: 60 },
    );
  });

  it('name the columns of sequences', () => {
    const ranges = [
      { length: 2, min: 5, max: 5, unique: false },
      { length: 1, min: -7, max: -7, unique: false },
    ];
    const request: ValueRequest = { kind: 'sequences', count: 2, ranges, sort: 'none' };
    assert.equal(textOf(request, 'csv'), 'value_1,value_2,value_3\r\n5,5,-7\r\n5,5,-7\r\n');
  });

  it('quote items that would break a line of CSV', () => {
    const items = ['a,b', 'say "x"', 'two\nlines', '', 'plain'];
    const lines = textOf({ kind: 'shuffle', items }, 'csv').split('\r\n');
    assert.deepEqual(
      lines.sort(),
      ['', '""', '"a,b"', '"say ""x"""', '"two\nlines"', 'plain', 'value'].sort(),
    );
  });

  it('of a single string are one line', () => {
    const request = { kind: 'bytes', count: 1, length: 3, encoding: 'hex', single: true } as const;
    const [value] = valuesOf(request);
    assert.equal(textOf(request, 'plain'), `${value}\n`);
    assert.equal(textOf(request, 'csv'), `value\r\n${value}\r\n`);
  });
});
