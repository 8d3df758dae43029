import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DataEndpoint } from '../../src/core/vocabulary.ts';
import { assertRefused, codeOf, NOT_INTEGERS, parse, parseBatch, parsePost } from './parameters-parsing.ts';

const MAX = 2 ** 53 - 1;

const batch = (body: object) => parseBatch(body).request;

/** `params` of a batch of one value are refused with the code; undefined: they are not. */
function assertBatchRefused(type: string, params: object, code: string | undefined, count = 1): void {
  const what = `${type} ${JSON.stringify(params).slice(0, 80)}`;
  assert.equal(
    codeOf(() => batch({ type, count, params })),
    code,
    what,
  );
}

describe('a list in a JSON body', () => {
  const LISTS: readonly [endpoint: DataEndpoint, body: object, query: string][] = [
    ['shuffle', { items: ['a', 'b c'] }, 'items=a,b+c'],
    ['sample', { count: 2, items: ['a', 'b', 'c'] }, 'count=2&items=a,b,c'],
    ['weighted', { count: 3, items: ['a', 'b'], weights: [1, 2] }, 'count=3&items=a,b&weights=1,2'],
  ];
  for (const [endpoint, body, query] of LISTS) {
    it(`asks ${endpoint} for what the same query asks`, () => {
      assert.deepEqual(parsePost(endpoint, body).request, parse(endpoint, query).request);
      const told = { ...body, entropy_mode: 'pure', purpose: 'p' };
      assert.deepEqual(
        parsePost(endpoint, told, 'format=csv&entropy_mode=csprng').request,
        parse(endpoint, `${query}&entropy_mode=pure&format=csv&purpose=p`).request,
      );
    });

    it(`refuses what ${endpoint} does not have`, () => {
      assert.equal(
        codeOf(() => parsePost(endpoint, { ...body, params: {} })),
        'unknown_parameter',
      );
      assert.equal(
        codeOf(() => parsePost(endpoint, { ...body, items: 'a,b' })),
        'invalid_items',
      );
      assert.equal(
        codeOf(() => parsePost(endpoint, body, '', 'text/plain')),
        'unsupported_media_type',
      );
      assert.equal(
        codeOf(() => parsePost(endpoint, '{"items":["a","b"],')),
        'invalid_json',
      );
      assert.deepEqual(parsePost(endpoint, body, 'items=x,y').ignored, ['items']);
    });
  }
});

describe('sample', () => {
  it('reads count and items, and says how many items there were', () => {
    const { request } = parse('sample', 'count=2&items=a,b,c');
    assert.deepEqual(request.values, { kind: 'sample', count: 2, items: ['a', 'b', 'c'] });
    assert.deepEqual(request.members, {
      count: 2,
      list_sha256: 'sha256:fa1844c2988ad15ab7b49e0ece09684500fad94df916859fb9a43ff85f5bb477',
      of: 3,
    });
    assert.equal(request.valueKey, 'items');
    assert.deepEqual(batch({ type: 'sample', count: 2, params: { items: ['a,b', 'c'] } }).values, {
      kind: 'sample',
      count: 2,
      items: ['a,b', 'c'],
    });
  });

  it('takes a count of all of the items, and refuses a larger one with unique_impossible', () => {
    assertRefused('sample', 'count=3&items=a,b,c', undefined);
    assertRefused('sample', 'count=4&items=a,b,c', 'unique_impossible');
    assertBatchRefused('sample', { items: ['a', 'b'] }, 'unique_impossible', 3);
  });

  it('refuses anything but a list of 2 to 10,000 well-formed texts', () => {
    for (const items of [[], ['a'], 'a,b', [1, 2], ['a', null], ['a', '\ud800'], Array(10_001).fill('a'), {}])
      assertBatchRefused('sample', { items }, 'invalid_items');
    assertBatchRefused('sample', {}, 'invalid_items');
    assertRefused('sample', 'items=a', 'invalid_items');
    assertRefused('sample', 'items=a,%ff', 'invalid_items');
  });
});

describe('weighted', () => {
  it('reads one weight for each item', () => {
    const { request } = parse('weighted', `count=5&items=a,b&weights=1,${MAX}`);
    assert.deepEqual(request.values, { kind: 'weighted', count: 5, items: ['a', 'b'], weights: [1, MAX] });
    assert.deepEqual(request.members, {
      count: 5,
      list_sha256: 'sha256:0473ef2dc0d324ab659d3580c1134e9d812035905c4781fdd6d529b0c6860e13',
      weights: [1, MAX],
    });
    assert.deepEqual(parse('weighted', 'items=a,b&weights=007%2C8').request.values, {
      kind: 'weighted',
      count: 1,
      items: ['a', 'b'],
      weights: [7, 8],
    });
  });

  it('refuses weights that are zero, negative or fractional, and lists of another length', () => {
    for (const text of [
      '0,1',
      '1,0',
      '-1,2',
      '1',
      '1,2,3',
      '1,',
      ',',
      '',
      '1;2',
      ...NOT_INTEGERS.map((each) => `1,${each}`),
    ])
      assertRefused('weighted', `items=a,b&weights=${text}`, 'invalid_weights');
    for (const weights of [[0, 1], [1.5, 1], ['1', 1], [1], [1, 2, 3], null, 12, [1, 2 ** 53]])
      assertBatchRefused('weighted', { items: ['a', 'b'], weights }, 'invalid_weights');
    assertRefused('weighted', 'items=a,b', 'invalid_weights');
  });

  it('accepts weights whose sum is 2^53 and refuses a sum of 2^53 + 1', () => {
    assertRefused('weighted', `items=a,b&weights=${MAX},1`, undefined);
    assertRefused('weighted', `items=a,b&weights=${MAX},2`, 'invalid_weights');
    assertRefused('weighted', `items=a,b,c&weights=${MAX},${MAX},${MAX}`, 'invalid_weights');
  });

  it('refuses a count whose items could take more than 16 MiB', () => {
    const items = ['a', 'b'.repeat(160)];
    assertBatchRefused('weighted', { items, weights: [1, 1] }, undefined, 100_000);
    assertRefused('weighted', `count=10000&items=a,${'b'.repeat(1_700)}&weights=1,1`, 'invalid_count');
    assertRefused('weighted', `count=10000&items=a,${'b'.repeat(1_600)}&weights=1,1`, undefined);
  });
});

describe('strings', () => {
  it('read an alphabet of code points', () => {
    const { request } = parse('strings', 'count=2&length=3&alphabet=a%F0%9D%84%9E%C3%A9');
    assert.deepEqual(request.values, { kind: 'strings', count: 2, length: 3, alphabet: ['a', '𝄞', 'é'] });
    assert.deepEqual(request.members, { alphabet: 'a𝄞é', count: 2, length: 3 });
    const { values } = parse('strings', '').request;
    assert.ok(values.kind === 'strings');
    assert.deepEqual([values.count, values.length, values.alphabet.length], [1, 16, 62]);
  });

  it('refuse alphabets with a character twice, too short, too long and not of Unicode', () => {
    const wide = Array.from({ length: 1_001 }, (_, i) => String.fromCodePoint(0x4e00 + i));
    for (const text of ['', 'a', 'aba', '%F0%9D%84%9E%F0%9D%84%9E', '%ff', encodeURIComponent(wide.join(''))])
      assertRefused('strings', `alphabet=${text}`, 'invalid_alphabet');
    assertRefused('strings', `alphabet=${encodeURIComponent(wide.slice(1).join(''))}`, undefined);
    for (const alphabet of ['a\ud800', '\udc00\ud800', 7, ['a', 'b'], null])
      assertBatchRefused('strings', { alphabet }, 'invalid_alphabet');
  });

  it('refuse lengths outside 1 to 128, and a batch that could take more than a reply', () => {
    assertRefused('strings', 'length=0', 'invalid_length');
    assertRefused('strings', 'length=129', 'invalid_length');
    assertRefused('strings', 'length=128&count=10000', undefined);
    assertBatchRefused('strings', { length: 128, alphabet: '\u0001\u0002' }, 'invalid_params', 100_000);
  });
});

describe('sequences', () => {
  it('read a length and a range for each, and echo them', () => {
    const { request } = parse(
      'sequences',
      'length=5,1&min=1,-1&max=69,26&unique=true&sort=descending&count=2',
    );
    assert.deepEqual(request.values, {
      kind: 'sequences',
      count: 2,
      ranges: [
        { length: 5, min: 1, max: 69, unique: true },
        { length: 1, min: -1, max: 26, unique: true },
      ],
      sort: 'descending',
    });
    assert.deepEqual(request.members, {
      count: 2,
      length: [5, 1],
      max: [69, 26],
      min: [1, -1],
      sort: 'descending',
      unique: true,
    });
  });

  it('refuse lists of different lengths with invalid_sequences', () => {
    for (const query of ['length=1,2&min=0&max=9', 'length=1&min=0,0&max=9', 'length=1&min=0&max=9,9'])
      assertRefused('sequences', query, 'invalid_sequences');
  });

  it('refuse a sequence that is invalid', () => {
    assertRefused('sequences', 'min=0&max=9', 'invalid_length');
    assertRefused('sequences', 'length=1&max=9', 'invalid_range');
    assertRefused('sequences', 'length=1,1&min=0,9&max=9,9', 'invalid_range');
    assertRefused('sequences', `length=1&min=-1&max=${MAX}`, 'invalid_range');
    assertRefused('sequences', `length=1&min=0&max=${MAX}`, undefined);
    assertRefused('sequences', 'length=1,4&min=0,1&max=9,3&unique=true', 'unique_impossible');
    assertRefused('sequences', 'length=1,4&min=0,1&max=9,3', undefined);
    const many = (text: string, count: number) => Array(count).fill(text).join(',');
    assertRefused(
      'sequences',
      `length=${many('1', 64)}&min=${many('0', 64)}&max=${many('9', 64)}`,
      undefined,
    );
    assertRefused(
      'sequences',
      `length=${many('1', 65)}&min=${many('0', 65)}&max=${many('9', 65)}`,
      'invalid_length',
    );
  });

  it('draw at most 10,000 numbers, 100,000 in a batch', () => {
    assertRefused('sequences', 'count=1000&length=7,3&min=0,0&max=9,9', undefined);
    assertRefused('sequences', 'count=1001&length=7,3&min=0,0&max=9,9', 'invalid_count');
    const params = { length: [7, 3], min: [0, 0], max: [9, 9] };
    assertBatchRefused('sequences', params, undefined, 10_000);
    assertBatchRefused('sequences', params, 'invalid_count', 10_001);
  });
});

describe('gaussians', () => {
  it('reads mean, stddev and digits, with defaults', () => {
    const { request } = parse('gaussians', 'count=3&mean=-0&stddev=1.5e1&digits=5');
    const members = { count: 3, digits: 5, mean: 0, stddev: 15 };
    assert.deepEqual([request.values, request.members], [{ kind: 'gaussians', ...members }, members]);
    const standard = { kind: 'gaussians', count: 1, mean: 0, stddev: 1, digits: 14 };
    assert.deepEqual(parse('gaussians', '').request.values, standard);
    assert.deepEqual(batch({ type: 'gaussians', count: 1, params: {} }).values, standard);
  });

  it('refuses anything but a number within the bounds', () => {
    for (const mean of ['', '1000000.1', '-1e7', '.5', '5.', '1e', 'NaN', 'Infinity', '0x1', '1,5'])
      assertRefused('gaussians', `mean=${mean}`, 'invalid_mean');
    for (const stddev of ['0', '-1', '1e-10', '1e7', '1e999'])
      assertRefused('gaussians', `stddev=${stddev}`, 'invalid_stddev');
    for (const digits of ['1', '15', '2.5']) assertRefused('gaussians', `digits=${digits}`, 'invalid_digits');
    for (const mean of ['0', null, true, [1]]) assertBatchRefused('gaussians', { mean }, 'invalid_mean');
    assertBatchRefused('gaussians', { stddev: 0 }, 'invalid_stddev');
  });
});

describe('permutations', () => {
  it('require a length of 2 to 10,000 and draw at most 10,000 numbers', () => {
    assert.deepEqual(parse('permutations', 'length=52&count=3').request.values, {
      kind: 'permutations',
      count: 3,
      length: 52,
    });
    for (const query of ['', 'length=1', 'length=10001'])
      assertRefused('permutations', query, 'invalid_length');
    assertRefused('permutations', 'length=100&count=100', undefined);
    assertRefused('permutations', 'length=100&count=101', 'invalid_count');
    assertBatchRefused('permutations', { length: 10_000 }, undefined, 10);
    assertBatchRefused('permutations', { length: 10_000 }, 'invalid_count', 11);
  });
});

describe('lists', () => {
  it('refuse a count of zero and above 10,000 on every endpoint', () => {
    const OWN: readonly [DataEndpoint, string][] = [
      ['sample', 'items=a,b'],
      ['weighted', 'items=a,b&weights=1,2'],
      ['strings', ''],
      ['sequences', 'length=1&min=0&max=1'],
      ['permutations', 'length=2'],
    ];
    for (const [endpoint, own] of OWN)
      for (const count of ['0', '10001', '-1', '1.5', ''])
        assertRefused(endpoint, `${own}&count=${count}`, 'invalid_count');
  });
});
