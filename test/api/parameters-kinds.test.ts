import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseCertificateQuery } from '../../src/http/endpoints/table.ts';
import { assertRefused, codeOf, NOTHING_SAID, parse } from './parameters-parsing.ts';

/**
 * Bytes, floats, UUIDs, bitstrings, shuffles, certificates: the rows of the specification, and the decisions.
 */

describe('bytes', () => {
  it('echo count, encoding and bits', () => {
    assert.deepEqual(parse('bytes', 'count=32&encoding=base64').request, {
      endpoint: 'bytes',
      values: { kind: 'bytes', count: 1, length: 32, encoding: 'base64', single: true },
      valueKey: 'bytes',
      members: { count: 32, encoding: 'base64', bits: 256 },
      ...NOTHING_SAID,
    });
    assert.deepEqual(parse('bytes', '').request.members, { count: 16, encoding: 'hex', bits: 128 });
  });

  it('take format as an alias of encoding, which wins', () => {
    assert.equal(parse('bytes', 'format=base64').request.members['encoding'], 'base64');
    for (const query of [
      'format=hex&encoding=base64',
      'encoding=base64&format=hex',
      'encoding=base64&format=nonsense',
    ]) {
      const { request, ignored } = parse('bytes', query);
      assert.equal(request.members['encoding'], 'base64');
      assert.deepEqual(ignored, ['format']);
    }
    assertRefused('bytes', 'format=hex&format=hex', 'duplicate_parameter');
  });

  it('know two encodings', () => {
    for (const text of ['', 'HEX', 'base64url', 'base32', 'utf8', 'hex,base64', '%68']) {
      for (const name of ['encoding', 'format']) {
        assertRefused('bytes', `${name}=${text}`, 'invalid_encoding');
      }
    }
    assert.equal(parse('bytes', 'encoding=%68ex').request.members['encoding'], 'hex');
  });
});

describe('floats, uuid, bitstring', () => {
  it('echo their parameters', () => {
    assert.deepEqual(parse('floats', '').request.members, { count: 1, precision: null });
    assert.deepEqual(parse('floats', 'precision=3&count=2').request.values, {
      kind: 'floats',
      count: 2,
      precision: 3,
    });
    assert.equal(parse('floats', '').request.valueKey, 'values');
    assert.deepEqual(parse('uuid', 'count=2').request.members, { count: 2, version: 4 });
    assert.equal(parse('uuid', '').request.valueKey, 'uuids');
    assert.deepEqual(parse('bitstring', '').request.members, { length: 128 });
    assert.deepEqual(parse('bitstring', 'length=9').request.values, { kind: 'bitstring', length: 9 });
    assert.equal(parse('bitstring', '').request.valueKey, 'bitstring');
  });
});

describe('shuffle', () => {
  const itemsOf = (query: string) => {
    const { values } = parse('shuffle', query).request;
    assert.ok(values.kind === 'shuffle');
    return values.items;
  };

  const LISTS: readonly [query: string, items: readonly string[]][] = [
    ['items=a,b', ['a', 'b']],
    ['items=a%2Cb,c', ['a,b', 'c']],
    ['items=,', ['', '']],
    ['items=a,,b,', ['a', '', 'b', '']],
    ['items=a+b,%2B,%20', ['a b', '+', ' ']],
    ['items=ada%2Cgrace%20hopper', ['ada', 'grace hopper']],
    ['items=ada%2Cgrace+hopper%2C%2B', ['ada', 'grace hopper', '+']],
    ['items=a=b,c', ['a=b', 'c']],
    ['items=%26,%3D,%3F,%23', ['&', '=', '?', '#']],
    ['items=%F0%9F%8E%B2,%C3%A9', ['🎲', 'é']],
    ['items=%00,%0D%0A,%22,%5C', ['\0', '\r\n', '"', '\\']],
    ['items=__proto__,constructor', ['__proto__', 'constructor']],
    ['items=a,a,a', ['a', 'a', 'a']],
    ['items=%EF%BB%BFx,y', ['\ufeffx', 'y']],
  ];
  for (const [query, items] of LISTS) {
    it(`reads ${query} as ${items.length} items`, () => {
      assert.deepEqual(itemsOf(query), items);
      assert.deepEqual(parse('shuffle', query).request.members, { count: items.length });
      assert.equal(parse('shuffle', query).request.valueKey, 'items');
    });
  }

  it('takes 2 to 10,000 items', () => {
    const list = (count: number) => `items=${Array.from({ length: count }, (_, i) => i).join(',')}`;
    assert.equal(itemsOf(list(2)).length, 2);
    assert.equal(itemsOf(list(10_000)).length, 10_000);
    for (const query of [
      '',
      'items',
      'items=',
      'items=a',
      'items=a%20b',
      list(10_001),
      `items=${','.repeat(60_000)}`,
    ]) {
      assert.equal(
        codeOf(() => itemsOf(query)),
        'invalid_items',
        query.slice(0, 40),
      );
    }
  });

  it('refuses escapes that are malformed or not UTF-8, and bytes that must be escaped', () => {
    const wrong = [
      '%',
      '%4',
      '%zz',
      '%C3',
      '%ff',
      '%C0%80',
      '%ED%A0%80',
      '%F5%80%80%80',
      '%u0041',
      'é',
      '\ufffd',
      ' ',
    ];
    for (const item of wrong)
      assert.equal(
        codeOf(() => itemsOf(`items=a,${item}`)),
        'invalid_items',
        item,
      );
  });

  it('gives back what was encoded (property)', () => {
    const item = fc.string({ unit: 'grapheme', maxLength: 6 });
    fc.assert(
      fc.property(fc.array(item, { minLength: 2, maxLength: 40 }), (items) => {
        assert.deepEqual(itemsOf(`items=${items.map(encodeURIComponent).join(',')}`), items);
      }),
      { numRuns: 300 },
    );
  });
});

describe('certificate', () => {
  const ID = 'cert_0123456789abcdefghjkmnpqrs';
  const read = (query: string) => parseCertificateQuery(query).values;

  it('takes an id and a format', () => {
    assert.deepEqual({ ...read(`id=${ID}`) }, { id: ID, format: 'json' });
    assert.deepEqual({ ...read(`format=pdf&id=${ID}`) }, { id: ID, format: 'pdf' });
  });

  it('refuses ids that no certificate has', () => {
    const ids = [
      ID.slice(0, -1),
      `${ID}0`,
      ID.toUpperCase(),
      ID.replace('r', 'i'),
      ID.replace('r', 'u'),
      ` ${ID}`,
      `${ID}%0A`,
    ];
    for (const query of [
      '',
      'id',
      'id=',
      'format=pdf',
      ...ids.map((id) => `id=${id}`),
      `id=${ID.slice(5)}`,
      'id=../x',
    ]) {
      assert.equal(
        codeOf(() => read(query)),
        'invalid_id',
        query,
      );
    }
    for (const format of ['', 'PDF', 'html', 'json,pdf']) {
      assert.equal(
        codeOf(() => read(`id=${ID}&format=${format}`)),
        'invalid_format',
        format,
      );
    }
    assert.equal(
      codeOf(() => read('id=x&format=x')),
      'invalid_id',
    );
    assert.equal(
      codeOf(() => read(`id=${ID}&id=${ID}`)),
      'duplicate_parameter',
    );
  });
});
