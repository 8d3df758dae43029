import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ApiError, type ErrorCode } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { DataEndpoint } from '../../src/core/vocabulary.ts';
import type { DataRequest } from '../../src/delivery/data-request.ts';
import { parseCertificateQuery } from '../../src/http/endpoints/certificate.ts';
import { DATA_ENDPOINT_DEFINITIONS, ENDPOINT_DEFINITIONS } from '../../src/http/endpoints/table.ts';
import type { ParameterDefinition } from '../../src/http/params.ts';

/** The rows of the specification for each query parameter, and of the decisions where it is silent. */

const NO_BODY = { contentType: '', body: new Uint8Array(0) };

function definitionOf(endpoint: DataEndpoint) {
  const found = DATA_ENDPOINT_DEFINITIONS.find(({ name }) => name === endpoint);
  assert.ok(found);
  return found;
}

function parse(endpoint: DataEndpoint, query: string): { request: DataRequest; ignored: readonly string[] } {
  return definitionOf(endpoint).parse({ query, ...NO_BODY });
}

function codeOf(parsing: () => unknown): ErrorCode | undefined {
  try {
    parsing();
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
  return undefined;
}

/** What no whole number looks like: syntax of SPEC-NOTES, integer syntax. */
const NOT_INTEGERS = [
  ...[
    '',
    '+1',
    '%2B1',
    '1.0',
    '1.',
    '.5',
    '1e3',
    '1E3',
    '0x10',
    '0b1',
    '1_000',
    '1,000',
    '1 ',
    '%201',
    '1%20',
    '- 1',
  ],
  ...[
    '--1',
    '-',
    'NaN',
    'Infinity',
    'null',
    'true',
    'one',
    '١',
    '%D9%A1',
    '%EF%BC%91',
    '1%00',
    '%',
    '%1',
    '%ff',
    '1n',
  ],
  ...[
    '9007199254740992',
    '-9007199254740992',
    '99999999999999999999999999',
    '1;2',
    '1%0d%0aX:y',
    '[1]',
    '"1"',
  ],
  ...['9'.repeat(60_000)],
];

interface IntegerRow {
  readonly endpoint: DataEndpoint;
  readonly parameter: string;
  readonly min: number;
  readonly max: number;
  readonly fallback: number | null;
  readonly error: ErrorCode;
}

const INTEGER_ROWS: readonly IntegerRow[] = [
  { endpoint: 'integers', parameter: 'count', min: 1, max: 10_000, fallback: 1, error: 'invalid_count' },
  { endpoint: 'bytes', parameter: 'count', min: 1, max: 1_024, fallback: 16, error: 'invalid_count' },
  { endpoint: 'floats', parameter: 'count', min: 1, max: 10_000, fallback: 1, error: 'invalid_count' },
  { endpoint: 'floats', parameter: 'precision', min: 1, max: 15, fallback: null, error: 'invalid_precision' },
  { endpoint: 'uuid', parameter: 'count', min: 1, max: 10_000, fallback: 1, error: 'invalid_count' },
  {
    endpoint: 'bitstring',
    parameter: 'length',
    min: 1,
    max: 100_000,
    fallback: 128,
    error: 'invalid_length',
  },
];

describe('bounded integers', () => {
  for (const { endpoint, parameter, min, max, fallback, error } of INTEGER_ROWS) {
    const valueFor = (query: string) => parse(endpoint, query).request.members[parameter];

    it(`${endpoint} ${parameter}: ${min} to ${max}, ${fallback} when left out`, () => {
      assert.equal(valueFor(''), fallback);
      for (const value of [min, min + 1, max - 1, max])
        assert.equal(valueFor(`${parameter}=${value}`), value);
      assert.equal(valueFor(`${parameter}=000${max}`), max);
      assert.equal(valueFor(`${parameter}=%3${String(min)[0]}`), Number(String(min)[0]));
      for (const value of [min - 1, max + 1, -1, 0, '-0', -max]) {
        assert.equal(
          codeOf(() => valueFor(`${parameter}=${value}`)),
          error,
          String(value),
        );
      }
    });

    it(`${endpoint} ${parameter}: anything else is ${error}`, () => {
      for (const text of NOT_INTEGERS) {
        assert.equal(
          codeOf(() => valueFor(`${parameter}=${text}`)),
          error,
          text.slice(0, 40),
        );
      }
      assert.equal(
        codeOf(() => valueFor(parameter)),
        error,
        'a name without =',
      );
    });
  }

  it('accept exactly optional minus and digits within the bounds (property)', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
      fc.integer().map(String),
      fc.stringMatching(/^-?0*[0-9]{1,6}$/),
    );
    fc.assert(
      fc.property(text, (given) => {
        const expected = /^-?[0-9]+$/.test(given) && Number(given) >= 1 && Number(given) <= 10_000;
        const query = `count=${encodeURIComponent(given)}`;
        const code = codeOf(() => assert.equal(parse('uuid', query).request.members['count'], Number(given)));
        assert.equal(code, expected ? undefined : 'invalid_count');
      }),
      { numRuns: 500, seed: 31 },
    );
  });
});

describe('integers', () => {
  const BIG = LIMITS.integerMagnitudeMax;

  it('echo the effective parameters', () => {
    assert.deepEqual(parse('integers', '').request, {
      endpoint: 'integers',
      values: { kind: 'integers', count: 1, min: 0, max: 100, unique: false, sort: 'none' },
      valueKey: 'values',
      members: { count: 1, min: 0, max: 100, unique: false, sort: 'none' },
      mode: undefined,
      dryRun: false,
    });
    const { request } = parse('integers', 'max=-1&min=-3&count=3&sort=descending&unique=1');
    assert.deepEqual(request.values, {
      kind: 'integers',
      count: 3,
      min: -3,
      max: -1,
      unique: true,
      sort: 'descending',
    });
    assert.deepEqual(request.members, { count: 3, min: -3, max: -1, unique: true, sort: 'descending' });
  });

  const RANGES: readonly [query: string, min: number, max: number][] = [
    [`min=${-BIG}&max=0`, -BIG, 0],
    [`min=0&max=${BIG}`, 0, BIG],
    [`min=${BIG - 1}&max=${BIG}`, BIG - 1, BIG],
    [`min=-1&max=${BIG - 1}`, -1, BIG - 1],
    ['min=-0&max=007', 0, 7],
    ['min=99', 99, 100],
    ['max=1', 0, 1],
  ];
  for (const [query, min, max] of RANGES) {
    it(`${query} is ${min} to ${max}`, () => {
      const { members } = parse('integers', query).request;
      assert.ok(Object.is(members['min'], min) && Object.is(members['max'], max));
    });
  }

  it('refuse a range that is empty, too wide or no range', () => {
    const queries = [
      'min=5&max=5',
      'min=6&max=5',
      'min=100',
      'max=0',
      `min=-1&max=${BIG}`,
      `min=${-BIG}&max=${BIG}`,
    ];
    for (const text of NOT_INTEGERS) queries.push(`min=${text}`, `max=${text}`);
    for (const query of queries)
      assert.equal(
        codeOf(() => parse('integers', query)),
        'invalid_range',
        query.slice(0, 60),
      );
  });

  it('refuse unique where the range holds too few', () => {
    assert.equal(parse('integers', 'unique=true&count=101').request.members['count'], 101);
    assert.equal(
      codeOf(() => parse('integers', 'unique=true&count=102')),
      'unique_impossible',
    );
    assert.equal(
      codeOf(() => parse('integers', 'unique=1&count=3&min=1&max=2')),
      'unique_impossible',
    );
    assert.equal(
      codeOf(() => parse('integers', 'unique=false&count=3&min=1&max=2')),
      undefined,
    );
  });

  it('know three orders', () => {
    for (const sort of ['none', 'ascending', 'descending']) {
      assert.equal(parse('integers', `sort=${sort}`).request.members['sort'], sort);
    }
    for (const sort of [
      '',
      'asc',
      'Ascending',
      'NONE',
      'true',
      'ascending%20',
      'none,ascending',
      '%',
      '__proto__',
    ]) {
      assert.equal(
        codeOf(() => parse('integers', `sort=${sort}`)),
        'invalid_sort',
        sort,
      );
    }
  });

  it('are checked in the order count, min and max, unique, sort, entropy_mode, dry_run', () => {
    const wrong: [query: string, error: ErrorCode][] = [
      ['count=0', 'invalid_count'],
      ['min=7&max=7', 'invalid_range'],
      ['unique=x', 'invalid_boolean'],
      ['sort=x', 'invalid_sort'],
      ['entropy_mode=x', 'invalid_entropy_mode'],
      ['dry_run=x', 'invalid_boolean'],
    ];
    for (let first = 0; first < wrong.length; first++) {
      const query = wrong
        .slice(first)
        .map(([each]) => each)
        .reverse()
        .join('&');
      assert.equal(
        codeOf(() => parse('integers', query)),
        wrong[first][1],
        query,
      );
    }
    assert.equal(
      codeOf(() => parse('integers', 'sort=x&unique=1&count=5&max=3')),
      'unique_impossible',
    );
  });
});

describe('booleans', () => {
  for (const [endpoint, parameter] of [
    ['integers', 'unique'],
    ...dataGets().map((name) => [name, 'dry_run']),
  ]) {
    it(`${endpoint} ${parameter}: true, false, 1 or 0, in lower case`, () => {
      const required = endpoint === 'shuffle' ? 'items=a,b&' : '';
      const read = (text: string) => {
        const { request } = parse(endpoint as DataEndpoint, `${required}${parameter}=${text}`);
        return parameter === 'unique' ? request.members['unique'] : request.dryRun;
      };
      assert.deepEqual(['true', '1', 'false', '0'].map(read), [true, true, false, false]);
      for (const text of ['', 'TRUE', 'True', 'yes', 'on', '2', '-1', '01', 'true%20', 'null', '%', '%ff']) {
        assert.equal(
          codeOf(() => read(text)),
          'invalid_boolean',
          text,
        );
      }
    });
  }
});

describe('bytes', () => {
  it('echo count, encoding and bits', () => {
    assert.deepEqual(parse('bytes', 'count=32&encoding=base64').request, {
      endpoint: 'bytes',
      values: { kind: 'bytes', count: 1, length: 32, encoding: 'base64', single: true },
      valueKey: 'bytes',
      members: { count: 32, encoding: 'base64', bits: 256 },
      mode: undefined,
      dryRun: false,
    });
    assert.deepEqual(parse('bytes', '').request.members, { count: 16, encoding: 'hex', bits: 128 });
  });

  it('take format for encoding, and encoding before format', () => {
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
    assert.equal(
      codeOf(() => parse('bytes', 'format=hex&format=hex')),
      'duplicate_parameter',
    );
  });

  it('know two encodings', () => {
    for (const text of ['', 'HEX', 'base64url', 'base32', 'utf8', 'hex,base64', '%68']) {
      for (const name of ['encoding', 'format']) {
        assert.equal(
          codeOf(() => parse('bytes', `${name}=${text}`)),
          'invalid_encoding',
          text,
        );
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
    ['items=a+b,%2B,%20', ['a+b', '+', ' ']],
    ['items=a=b,c', ['a=b', 'c']],
    ['items=%26,%3D,%3F,%23', ['&', '=', '?', '#']],
    ['items=%F0%9F%8E%B2,%C3%A9', ['🎲', 'é']],
    ['items=%00,%0D%0A,%22,%5C', ['\0', '\r\n', '"', '\\']],
    ['items=__proto__,constructor', ['__proto__', 'constructor']],
    ['items=a,a,a', ['a', 'a', 'a']],
    ['items=%EF%BB%BFx,y', ['\ufeffx', 'y']],
  ];
  for (const [query, items] of LISTS) {
    it(query, () => {
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
      'items=a%2Cb',
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
      { numRuns: 300, seed: 41 },
    );
  });
});

describe('entropy_mode', () => {
  const SPELT: readonly [text: string, mode: string][] = [
    ['quantum-seeded', 'quantum-seeded'],
    ['Quantum-Seeded', 'quantum-seeded'],
    ['hybrid', 'quantum-seeded'],
    ['HYBRID', 'quantum-seeded'],
    ['pure', 'pure'],
    ['Pure', 'pure'],
    ['csprng', 'csprng'],
    ['CSPRNG', 'csprng'],
    ['quantum%2Dseeded', 'quantum-seeded'],
  ];
  for (const endpoint of dataGets()) {
    it(`on ${endpoint}: three modes, in any letter case`, () => {
      const query = endpoint === 'shuffle' ? 'items=a,b&' : '';
      assert.equal(parse(endpoint, query).request.mode, undefined);
      for (const [text, mode] of SPELT)
        assert.equal(parse(endpoint, `${query}entropy_mode=${text}`).request.mode, mode);
      for (const text of [
        '',
        'quantum',
        'quantum_seeded',
        'auto',
        'pure,csprng',
        'pure%20',
        'null',
        '__proto__',
        'constructor',
      ]) {
        const code = codeOf(() => parse(endpoint, `${query}entropy_mode=${text}`));
        assert.equal(code, 'invalid_entropy_mode', text);
      }
    });
  }

  it('lists the three when it is none of them', () => {
    assert.throws(
      () => parse('uuid', 'entropy_mode=x'),
      (error: ApiError) => {
        assert.deepEqual(error.facts.details?.['allowed'], ['quantum-seeded', 'pure', 'csprng']);
        return /quantum-seeded, pure or csprng/.test(error.message);
      },
    );
  });
});

describe('repeated parameters', () => {
  it('are refused before anything else is checked, however they are spelt', () => {
    for (const query of [
      'count=1&count=1',
      'count=1&min=x&count=2',
      'count=x&%63ount=1',
      'count&count',
      'count=1&x=2&count=',
    ]) {
      assert.equal(
        codeOf(() => parse('integers', query)),
        'duplicate_parameter',
        query,
      );
    }
    for (const endpoint of dataGets()) {
      for (const { name } of definitionOf(endpoint).parameters) {
        assert.equal(
          codeOf(() => parse(endpoint, `${name}=1&${name}=1`)),
          'duplicate_parameter',
          `${endpoint} ${name}`,
        );
      }
    }
  });
});

describe('unknown parameters', () => {
  const ignoredOf = (query: string) => parse('uuid', query).ignored;

  it('are ignored and named once each', () => {
    assert.deepEqual(ignoredOf('_=1700000000&count=2&b&_=2&Count=3&count%00=1'), [
      '_',
      'b',
      'Count',
      'count%00',
    ]);
    assert.deepEqual(ignoredOf('&&&=&=x&?count=1'), ['%3Fcount']);
    assert.deepEqual(ignoredOf('min=x&max=y'), ['min', 'max']);
  });

  it('are named in a bounded list', () => {
    const names = ignoredOf(Array.from({ length: 5_000 }, (_, i) => `n${i}=1`).join('&'));
    assert.equal(names.length, 16);
    assert.ok(ignoredOf(`${'a'.repeat(60_000)}=1`)[0].length <= 64);
  });

  it('can put nothing into a header but their own name (property)', () => {
    assert.deepEqual(ignoredOf('a,b=1&a b=1&a"b=1&é=1&\ud800=1'), [
      'a%2Cb',
      'a%20b',
      'a%22b',
      '%C3%A9',
      '%EF%BF%BD',
    ]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        for (const name of ignoredOf(text)) assert.match(name, /^[0-9A-Za-z._~%-]{1,64}$/);
      }),
      { numRuns: 500, seed: 43 },
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

describe('the definitions', () => {
  it('are the endpoints of the specification', () => {
    assert.deepEqual(
      ENDPOINT_DEFINITIONS.map(({ method, path, scope }) => `${method} ${path} ${scope}`),
      [
        'GET /v1/integers entropy:read',
        'GET /v1/bytes entropy:read',
        'GET /v1/floats entropy:read',
        'GET /v1/uuid entropy:read',
        'GET /v1/bitstring entropy:read',
        'GET /v1/shuffle entropy:read',
        'POST /v1/batch entropy:batch',
        'GET /v1/certificate certificate:read',
        'GET /v1/health health:read',
        'GET /v1/usage usage:read',
      ],
    );
  });

  it('have defaults that are valid, and names that are used once', () => {
    for (const { name, parameters, body } of ENDPOINT_DEFINITIONS) {
      const lists: (readonly ParameterDefinition[])[] = [parameters];
      if (body !== undefined) lists.push(body.members, ...Object.values(body.params));
      for (const list of lists) {
        const names = list.flatMap((each) => [each.name, ...(each.aliases ?? [])]);
        assert.equal(new Set(names).size, names.length, name);
        for (const each of list) {
          if (each.kind === 'integer') {
            assert.ok(each.min < each.max);
            const value = each.default;
            assert.ok(
              value === undefined || value === null || (value >= each.min && value <= each.max),
              each.name,
            );
          }
          if (each.kind === 'choice' && each.default !== undefined)
            assert.ok(each.values.includes(each.default));
          assert.match(each.description, /\.$/);
        }
      }
    }
  });
});

function dataGets(): DataEndpoint[] {
  return DATA_ENDPOINT_DEFINITIONS.filter(({ method }) => method === 'GET').map(({ name }) => name);
}
