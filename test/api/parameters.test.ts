import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ApiError } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { anyCharacter } from '../support/any-character.ts';
import { AS_BATCHES, BODIES, CERTIFICATE_QUERIES, QUERIES } from '../support/request-table.ts';
import {
  codeOf,
  parse,
  parseBatch,
  parseCertificateQuery,
  parsePost,
  parseStream,
} from './parameters-parsing.ts';

/** Promises about the parameters that examples cannot show. The examples are in test/vectors/requests.json. */

const batchCodeOf = (...request: Parameters<typeof parseBatch>) => codeOf(() => parseBatch(...request));

describe('the table of requests', () => {
  it('has accepted and refused rows for every endpoint', () => {
    for (const endpoint of new Set([...QUERIES, ...BODIES].map((row) => row.endpoint))) {
      const rows = [...QUERIES, ...BODIES].filter((row) => row.endpoint === endpoint);
      assert.ok(rows.some(({ code }) => code === undefined) && rows.some(({ code }) => code !== undefined));
    }
    assert.ok(AS_BATCHES.length > 100, `${AS_BATCHES.length}`);
  });

  it('matches the parsers, also for requests that no client can send', () => {
    const calls = [
      ...QUERIES.map((row) => ({ ...row, parsing: () => parse(row.endpoint, row.request) })),
      ...[...BODIES, ...AS_BATCHES].map((row) => ({
        ...row,
        parsing: () => parsePost(row.endpoint, row.request),
      })),
      ...CERTIFICATE_QUERIES.map((row) => ({ ...row, parsing: () => parseCertificateQuery(row.request) })),
    ];
    for (const { request, code, parsing } of calls)
      if (code !== 'payload_too_large') assert.equal(codeOf(parsing), code, request.slice(0, 200)); // the front refuses those
  });
});

it('the accepted requests of the table ask for the values that their answers state', () => {
  const accepted = QUERIES.filter(({ code, data }) => code === undefined && data !== undefined);
  let compared = 0;
  for (const { endpoint, request, data } of accepted) {
    const { values, members } = parse(endpoint, request).request;
    const asked: Record<string, unknown> = { ...values, ...members };
    for (const [name, told] of Object.entries(data!)) {
      if (!(name in asked)) continue; // the values themselves, and the mode that the tier decides
      assert.deepEqual(asked[name], told, `${endpoint}?${request}: ${name}`);
      compared++;
    }
  }
  assert.ok(compared > 100, String(compared));
});

describe('the blocks of a stream', () => {
  const MAX = LIMITS.batchCountMax;
  const cases: [query: string, sizes: number[]][] = [
    ['type=uuid&total=10&block=4', [4, 4, 2]],
    ['type=uuid&total=8&block=4', [4, 4]],
    ['type=uuid&total=3&block=4', [3]],
    [`type=uuid&total=${2 * MAX + 1}`, [MAX, MAX, 1]],
    [`type=uuid&total=${MAX}&block=${MAX}`, [MAX]],
    ['type=bytes&length=1024&total=20000', [16_384, 3_616]],
    [`type=bytes&length=1&total=${MAX + 1}`, [MAX, 1]],
  ];
  for (const [query, sizes] of cases)
    it(`are divided so that the last has the rest: ${query}`, () => {
      const { request, stream } = parseStream(query);
      const countOf = ({ values }: { values: object }) => (values as { count: number }).count;
      assert.deepEqual([stream!.blocks, stream!.first], [sizes.length, 0]);
      assert.deepEqual(
        sizes.map((_, i) => countOf(stream!.requestOf(i))),
        sizes,
      );
      assert.equal(countOf(request), Number(/total=(\d+)/.exec(query)![1]));
    });

  it('begin at a block that exists', () => {
    const parsing = (first: number) => parseStream(`type=uuid&total=10&block=4&first=${first}`);
    assert.equal(parsing(2).stream!.first, 2);
    for (const first of [3, 4])
      assert.throws(
        () => parsing(first),
        ({ code, facts }: ApiError) => {
          assert.deepEqual([code, facts.details], ['invalid_count', { parameter: 'first', min: 0, max: 2 }]);
          return true;
        },
      );
  });

  it('ignore the parameters of other types, and refuse more values in total than are allowed', () => {
    assert.deepEqual(parseStream('type=uuid&total=1&length=5&min=2&x=1').ignored, ['x', 'length', 'min']);
    for (const total of [0, LIMITS.streamTotalMax + 1])
      assert.equal(
        codeOf(() => parseStream(`type=uuid&total=${total}`)),
        'invalid_count',
      );
    assert.equal(parseStream(`type=uuid&total=${LIMITS.streamTotalMax}`).stream?.first, 0);
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

  it('are joined by the format of bytes, where encoding is given too', () => {
    assert.deepEqual(parse('bytes', 'format=hex&encoding=base64').ignored, ['format']);
    assert.deepEqual(parse('bytes', 'format=hex').ignored, []);
  });

  it('are named in a bounded list', () => {
    const names = ignoredOf(Array.from({ length: 5_000 }, (_, i) => `n${i}=1`).join('&'));
    assert.equal(names.length, 16);
    assert.ok(ignoredOf(`${'a'.repeat(60_000)}=1`)[0].length <= 64);
  });

  it('can put nothing but their own name into a header (property)', () => {
    assert.deepEqual(ignoredOf('a,b=1&a b=1&a"b=1&é=1&\ud800=1'), [
      'a%2Cb',
      'a%20b',
      'a%22b',
      '%C3%A9',
      '%EF%BF%BD',
    ]);
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 100 }), (text) => {
        for (const name of ignoredOf(text)) assert.match(name, /^[0-9A-Za-z._~%-]{1,64}$/);
      }),
      { numRuns: 500 },
    );
  });
});

it("a list in a JSON body means the same as in a query, and replaces the query's list", () => {
  const body = { count: 2, items: ['a', 'b', 'c'], entropy_mode: 'pure', purpose: 'p' };
  const query = 'count=2&items=a,b,c&entropy_mode=pure&format=csv&purpose=p';
  const posted = parsePost('sample', body, 'format=csv&entropy_mode=csprng&items=x,y');
  assert.deepEqual(posted.request, parse('sample', query).request);
  assert.deepEqual(posted.ignored, ['items', 'entropy_mode']);
});

it('a list is refused in words that fit body and query, under the name that it has there', () => {
  const form = 'strings: a list in a JSON body, or a percent-encoded list with commas in a query';
  const messageOf = (name: string) => ({ message: `${name} must be 2 to 10,000 ${form}.` });
  const none = { type: 'sample', count: 1, params: { items: ['a'] } };
  assert.throws(() => parsePost('shuffle', { items: [1, 2] }), messageOf('items'));
  assert.throws(() => parse('shuffle', 'items=a'), messageOf('items'));
  assert.throws(() => parseBatch(none), messageOf('params.items'));
});

it('an alphabet has at most 1,000 characters', () => {
  const wide = Array.from({ length: 1_001 }, (_, i) => String.fromCodePoint(0x4e00 + i));
  const alphabetOf = (text: string) => codeOf(() => parse('strings', `alphabet=${encodeURIComponent(text)}`));
  assert.equal(alphabetOf(wide.join('')), 'invalid_alphabet');
  assert.equal(alphabetOf(wide.slice(1).join('')), undefined);
});

it('a batch is refused when its answer could exceed 64 MiB, with the limit named', () => {
  const body = (length: number, encoding: string) => ({
    type: 'bytes',
    count: 100_000,
    params: { length, encoding },
  });
  assert.equal(batchCodeOf(body(1_024, 'hex')), 'invalid_params');
  assert.throws(
    () => parseBatch(body(1_024, 'base64')),
    (error: ApiError) =>
      error.facts.details?.['limit'] === LIMITS.replyBytesMax && /67,108,864/.test(error.message),
  );
  // 100,000 texts in quotes with commas between them, beside the envelope
  assert.equal(batchCodeOf(body(333, 'hex')), undefined);
  assert.equal(batchCodeOf(body(334, 'hex')), 'invalid_params');
});

describe('the body and the query of a batch', () => {
  const BODY = { type: 'uuid', count: 1 };

  it('must have the right Content-Type before the body is read', () => {
    assert.equal(batchCodeOf('not json', '', 'text/plain'), 'unsupported_media_type');
    assert.equal(batchCodeOf(BODY, '', 'Application/JSON; charset=UTF-8'), undefined);
    assert.equal(batchCodeOf('{"type":"x","type":"y"}', 'dry_run=1&dry_run=1'), 'duplicate_parameter');
  });

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
    assert.equal(batchCodeOf(BODY, 'entropy_mode=x'), 'invalid_entropy_mode');
    assert.equal(batchCodeOf(BODY, 'entropy_mode=pure&entropy_mode=pure'), 'duplicate_parameter');
  });

  const UNKNOWN: readonly [body: unknown, names: readonly string[], said: RegExp][] = [
    [
      { ...BODY, note: 1, 'a\r\nb': 2 },
      ['note', 'a%0D%0Ab'],
      /no member note, a%0D%0Ab\. The members are: type/,
    ],
    [{ ...BODY, '': 1 }, ['""'], /no member ""\./],
    [{ ...BODY, min: 1 }, ['min'], /no member min\. min belongs in params\./],
    [{ type: 'x', count: 1, precision: 1 }, ['precision'], /precision belongs in params/],
    [{ ...BODY, params: { min: 1 } }, ['params.min'], /no member params\.min\. It must be empty\./],
    [
      { type: 'floats', count: 1, params: { count: 2 } },
      ['params.count'],
      /params\.count\. count belongs beside params\. The members are: precision\./,
    ],
    ['{"__proto__":{"type":"uuid","count":1}}', ['__proto__'], /no member __proto__/],
    [
      '{"type":"integers","count":1,"params":{"__proto__":{"min":99},"constructor":1}}',
      ['params.__proto__', 'params.constructor'],
      /The members are: min, max, unique, sort\./,
    ],
  ];
  for (const [body, names, said] of UNKNOWN) {
    it(`reject unknown members: ${JSON.stringify(body)} names ${names.join(', ')}`, () => {
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
});
