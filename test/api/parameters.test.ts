import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ErrorCode } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { DataEndpoint } from '../../src/core/vocabulary.ts';
import {
  assertRefused,
  codeOf,
  dataGets,
  NOT_INTEGERS,
  NOTHING_SAID,
  parse,
  requiredQuery,
} from './parameters-parsing.ts';

/** The rows of the specification for each query parameter, and of the decisions where it is silent. */

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

    it(`takes ${parameter} of ${endpoint} from ${min} to ${max}, and ${fallback} when it is left out`, () => {
      assert.equal(valueFor(''), fallback);
      for (const value of [min, min + 1, max - 1, max])
        assert.equal(valueFor(`${parameter}=${value}`), value);
      assert.equal(valueFor(`${parameter}=000${max}`), max);
      assert.equal(valueFor(`${parameter}=%3${String(min)[0]}`), Number(String(min)[0]));
      for (const value of [min - 1, max + 1, -1, 0, '-0', -max]) {
        assertRefused(endpoint, `${parameter}=${value}`, error);
      }
    });

    it(`refuses anything else as ${parameter} of ${endpoint} with ${error}`, () => {
      for (const text of NOT_INTEGERS) {
        assertRefused(endpoint, `${parameter}=${text}`, error);
      }
      assertRefused(endpoint, parameter, error);
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
      { numRuns: 500 },
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
      ...NOTHING_SAID,
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
    it(`draws from ${min} to ${max} for ${query}`, () => {
      const { members } = parse('integers', query).request;
      assert.ok(Object.is(members['min'], min) && Object.is(members['max'], max));
    });
  }

  it('refuse a range that is empty, too wide or malformed', () => {
    const queries = [
      'min=5&max=5',
      'min=6&max=5',
      'min=100',
      'max=0',
      `min=-1&max=${BIG}`,
      `min=${-BIG}&max=${BIG}`,
    ];
    for (const text of NOT_INTEGERS) queries.push(`min=${text}`, `max=${text}`);
    for (const query of queries) assertRefused('integers', query, 'invalid_range');
  });

  it('are refused with unique_impossible when the range holds too few values', () => {
    assert.equal(parse('integers', 'unique=true&count=101').request.members['count'], 101);
    assertRefused('integers', 'unique=true&count=102', 'unique_impossible');
    assertRefused('integers', 'unique=1&count=3&min=1&max=2', 'unique_impossible');
    assertRefused('integers', 'unique=false&count=3&min=1&max=2', undefined);
  });

  it('accept three values of sort', () => {
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
      assertRefused('integers', `sort=${sort}`, 'invalid_sort');
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
      assertRefused('integers', query, wrong[first][1]);
    }
    assertRefused('integers', 'sort=x&unique=1&count=5&max=3', 'unique_impossible');
  });
});

describe('booleans', () => {
  for (const [endpoint, parameter] of [
    ['integers', 'unique'],
    ...dataGets().map((name) => [name, 'dry_run']),
  ]) {
    it(`takes true, false, 1 or 0 in lower case as ${parameter} of ${endpoint}`, () => {
      const required = requiredQuery(endpoint as DataEndpoint);
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
