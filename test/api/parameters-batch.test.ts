import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ApiError, ErrorCode } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { ENVELOPE_BYTES_MAX } from '../../src/http/endpoint.ts';
import { jsonBytesMax } from '../../src/values/value-request.ts';
import { NOTHING_SAID, parseBatch, codeOf as refusalOf } from './parameters-parsing.ts';

/** The rows of the specification for the body of POST /v1/batch, and of the decisions where it is silent. */

const codeOf = (...request: Parameters<typeof parseBatch>) => refusalOf(() => parseBatch(...request));

describe('a batch', () => {
  const REQUESTS: readonly [body: Record<string, unknown>, values: object][] = [
    [{ type: 'integers' }, { kind: 'integers', min: 0, max: 100, unique: false, sort: 'none' }],
    [
      { type: 'integers', params: { min: -5, max: 5 } },
      { kind: 'integers', min: -5, max: 5, unique: false, sort: 'none' },
    ],
    [
      { type: 'integers', params: { min: -0, max: 1e3 } },
      { kind: 'integers', min: 0, max: 1_000, unique: false, sort: 'none' },
    ],
    [
      { type: 'integers', params: { unique: true, sort: 'descending' } },
      { kind: 'integers', min: 0, max: 100, unique: true, sort: 'descending' },
    ],
    [{ type: 'floats' }, { kind: 'floats', precision: null }],
    [
      { type: 'floats', params: { precision: 15 } },
      { kind: 'floats', precision: 15 },
    ],
    [
      { type: 'floats', params: { precision: null } },
      { kind: 'floats', precision: null },
    ],
    [{ type: 'bytes' }, { kind: 'bytes', length: 16, encoding: 'hex', single: false }],
    [
      { type: 'bytes', params: { encoding: 'base64', length: 1_024 } },
      { kind: 'bytes', length: 1_024, encoding: 'base64', single: false },
    ],
    [{ type: 'uuid' }, { kind: 'uuid' }],
    [{ type: 'uuid', params: {} }, { kind: 'uuid' }],
  ];
  for (const [body, values] of REQUESTS) {
    it(`reads ${JSON.stringify(body)} with its defaults`, () => {
      const { request, ignored } = parseBatch({ ...body, count: 7 });
      assert.deepEqual(request, {
        endpoint: 'batch',
        values: { ...values, count: 7 },
        valueKey: 'values',
        members: { count: 7, params: echoOf(values), type: body['type'] },
        ...NOTHING_SAID,
      });
      assert.deepEqual(ignored, []);
    });
  }

  it('echoes the hash of a list that it was drawn from', () => {
    const items = ['a', 'b', 'c'];
    const sha256 = createHash('sha256').update('["a","b","c"]').digest('hex');
    const list_sha256 = `sha256:${sha256}`;
    const { members } = parseBatch({ type: 'sample', count: 2, params: { items } }).request;
    assert.deepEqual(members, { count: 2, params: { list_sha256, of: 3 }, type: 'sample' });
    const weights = [1, 2, 3];
    const weighted = parseBatch({ type: 'weighted', count: 9, params: { items, weights } }).request;
    assert.deepEqual(weighted.members, { count: 9, params: { list_sha256, weights }, type: 'weighted' });
  });

  it('has 1 to 100,000 values of any kind', () => {
    for (const type of ['integers', 'floats', 'bytes', 'uuid']) {
      for (const count of [1, 100_000])
        assert.equal(parseBatch({ type, count }).request.members['count'], count);
    }
  });
});

/** What `params` of an answer says of values: all that they are drawn with. */
function echoOf(values: object): object {
  const { kind: _, single: __, ...params } = values as Record<string, unknown>;
  return params;
}

describe('a batch that is malformed', () => {
  const REFUSED: readonly [code: ErrorCode, bodies: readonly unknown[]][] = [
    ['invalid_json', ['', '[]', 'null', '1', '"{}"', '{', '{"type":"uuid","count":1,}', "{'type':'uuid'}"]],
    [
      'invalid_type',
      [
        {},
        { count: 1 },
        ...[
          null,
          1,
          true,
          [],
          {},
          '',
          'UUID',
          'integer',
          'shuffle',
          'bitstring',
          '__proto__',
          'constructor',
        ].map((type) => ({ type, count: 1 })),
      ],
    ],
    [
      'invalid_count',
      [
        { type: 'uuid' },
        ...[null, '1', true, [1], {}, 0, -1, 1.5, 100_001, 1e300, 2 ** 53].map((count) => ({
          type: 'uuid',
          count,
        })),
        '{"type":"uuid","count":1e400}',
      ],
    ],
    ['invalid_params', [null, 1, 'x', true, [], [{}]].map((params) => ({ type: 'uuid', count: 1, params }))],
    [
      'invalid_range',
      [
        { min: 5, max: 5 },
        { min: 6, max: 5 },
        { min: 100 },
        { max: 0 },
        { min: '1' },
        { max: null },
        { min: 0.5 },
        { max: 2 ** 53 },
        { min: -(2 ** 53) },
        { min: -(2 ** 53) + 1, max: 2 ** 53 - 1 },
        { min: [] },
      ].map((params) => ({ type: 'integers', count: 1, params })),
    ],
    [
      'invalid_precision',
      [0, 16, -1, 1.5, '3', true, []].map((precision) => ({
        type: 'floats',
        count: 1,
        params: { precision },
      })),
    ],
    [
      'invalid_encoding',
      ['', 'HEX', 'base64url', 1, null, []].map((encoding) => ({
        type: 'bytes',
        count: 1,
        params: { encoding },
      })),
    ],
    [
      'invalid_length',
      [0, 1_025, -1, 1.5, '16', null, true].map((length) => ({
        type: 'bytes',
        count: 1,
        params: { length },
      })),
    ],
    [
      'invalid_entropy_mode',
      ['', 'x', 1, null, true, [], ['pure']].map((mode) => ({ type: 'uuid', count: 1, entropy_mode: mode })),
    ],
    ['invalid_boolean', [1, 0, 'true', null, []].map((dry) => ({ type: 'uuid', count: 1, dry_run: dry }))],
    [
      'duplicate_parameter',
      [
        '{"type":"uuid","count":1,"count":1}',
        '{"type":"uuid","count":1,"co\\u0075nt":2}',
        '{"type":"integers","count":1,"params":{"min":1,"min":2}}',
        '{"type":"uuid","count":1,"x":1,"x":2}', // before x itself is refused
        '{"type":"uuid","type":"x"}',
      ],
    ],
  ];
  for (const [code, bodies] of REFUSED) {
    it(`is refused with ${code}, in each of ${bodies.length} bodies`, () => {
      for (const body of bodies) assert.equal(codeOf(body), code, JSON.stringify(body));
    });
  }

  it('is refused for another Content-Type before its body is read', () => {
    for (const type of [
      '',
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json5',
      'multipart/form-data',
    ]) {
      assert.equal(codeOf('not json', '', type), 'unsupported_media_type', type);
    }
    assert.equal(codeOf({ type: 'uuid', count: 1 }, '', 'Application/JSON; charset=UTF-8'), undefined);
  });

  it('is refused with the first error in the declared order', () => {
    const wrong: [member: object, code: ErrorCode][] = [
      [{ type: 'x' }, 'invalid_type'],
      [{ count: 0 }, 'invalid_count'],
      [{ params: { min: 9, max: 9 } }, 'invalid_range'],
      [{ entropy_mode: 'x' }, 'invalid_entropy_mode'],
      [{ dry_run: 'x' }, 'invalid_boolean'],
    ];
    for (let first = 0; first < wrong.length; first++) {
      const members = wrong.slice(first).map(([member]) => member);
      assert.equal(codeOf(Object.assign({ type: 'integers', count: 1 }, ...members)), wrong[first][1]);
    }
    assert.equal(codeOf('{"type":"x","type":"y"}', 'dry_run=1&dry_run=1'), 'duplicate_parameter');
  });

  it('is refused when its answer could exceed 64 MiB, with the limit named', () => {
    const body = (length: number, encoding: string) => ({
      type: 'bytes',
      count: 100_000,
      params: { length, encoding },
    });
    assert.equal(codeOf(body(1_024, 'hex')), 'invalid_params');
    assert.throws(
      () => parseBatch(body(1_024, 'base64')),
      (error: ApiError) =>
        error.facts.details?.['limit'] === LIMITS.replyBytesMax && /67,108,864/.test(error.message),
    );
    for (const encoding of ['hex', 'base64'] as const) {
      for (const length of [300, 333, 334, 400, 500, 501, 512]) {
        const values = { kind: 'bytes', count: 100_000, length, encoding, single: false } as const;
        const fits = jsonBytesMax(values) + ENVELOPE_BYTES_MAX <= LIMITS.replyBytesMax;
        assert.equal(
          codeOf(body(length, encoding)),
          fits ? undefined : 'invalid_params',
          `${length} ${encoding}`,
        );
      }
    }
  });
});

describe('the body and the query of a batch', () => {
  const BODY = { type: 'uuid', count: 1 };

  it('both take entropy_mode and dry_run, and the body wins', () => {
    assert.equal(parseBatch({ ...BODY, entropy_mode: 'Hybrid' }).request.mode, 'quantum-seeded');
    assert.equal(parseBatch(BODY, 'entropy_mode=PURE').request.mode, 'pure');
    assert.equal(parseBatch({ ...BODY, dry_run: true }).request.dryRun, true);
    assert.equal(parseBatch(BODY, 'dry_run=1').request.dryRun, true);
    const both = parseBatch(
      { ...BODY, entropy_mode: 'pure', dry_run: false },
      'entropy_mode=nonsense&dry_run=1',
    );
    assert.deepEqual([both.request.mode, both.request.dryRun], ['pure', false]);
    assert.deepEqual(both.ignored, ['entropy_mode', 'dry_run']);
    assert.equal(codeOf(BODY, 'entropy_mode=x'), 'invalid_entropy_mode');
    assert.equal(codeOf(BODY, 'entropy_mode=pure&entropy_mode=pure'), 'duplicate_parameter');
  });

  it('may have unknown parameters in the query, which are ignored and listed', () => {
    assert.deepEqual(parseBatch(BODY, 'x=1&count=5').ignored, ['x', 'count']);
  });

  const UNKNOWN: readonly [body: unknown, names: readonly string[], said: RegExp][] = [
    [
      { ...BODY, note: 1, 'a\r\nb': 2 },
      ['note', 'a%0D%0Ab'],
      /no member note, a%0D%0Ab\. Those there are: type/,
    ],
    [{ ...BODY, '': 1 }, ['""'], /no member ""\./],
    [{ ...BODY, min: 1 }, ['min'], /no member min: min belongs in params\./],
    [{ type: 'x', count: 1, precision: 1 }, ['precision'], /precision belongs in params/],
    [{ ...BODY, params: { min: 1 } }, ['params.min'], /no member params\.min\. There are none here\./],
    [
      { type: 'floats', count: 1, params: { count: 2 } },
      ['params.count'],
      /params\.count: count belongs beside params\. Those there are: precision\./,
    ],
    ['{"__proto__":{"type":"uuid","count":1}}', ['__proto__'], /no member __proto__/],
    [
      '{"type":"integers","count":1,"params":{"__proto__":{"min":99},"constructor":1}}',
      ['params.__proto__', 'params.constructor'],
      /Those there are: min, max, unique, sort\./,
    ],
  ];
  for (const [body, names, said] of UNKNOWN) {
    it(`have no unknown member: ${JSON.stringify(body)} names ${names.join(', ')}`, () => {
      assert.throws(
        () => parseBatch(body),
        ({ code, message, facts }: ApiError) => {
          assert.equal(code, 'unknown_parameter');
          assert.deepEqual(facts.details?.['parameters'], names);
          assert.match(message, said);
          return true;
        },
      );
    });
  }

  it('turn any JSON into a request or a documented error (property)', () => {
    const member = fc.oneof(
      fc.constantFrom('type', 'count', 'params', 'entropy_mode', 'dry_run'),
      fc.string(),
    );
    const value = fc.oneof(
      fc.constantFrom('integers', 'floats', 'bytes', 'uuid', 1, 5, { min: 1 }, {}),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.dictionary(member, value), (body) => {
        const code = codeOf(body);
        if (code !== undefined) return;
        assert.ok(Number.isSafeInteger(body['count']) && typeof body['type'] === 'string');
      }),
      { numRuns: 500 },
    );
  });
});
