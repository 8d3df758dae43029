import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMITS } from '../../src/core/limits.ts';
import { bearerOf, RequestHead } from '../../src/http/request-head.ts';

type Fields = readonly (readonly [name: string, value: string])[];

function headOf(fields: Fields, method = 'GET', path = '/x', query?: string): RequestHead {
  const forEach = (each: (name: string, value: string) => void) => {
    for (const [name, value] of fields) each(name, value);
  };
  return new RequestHead(method, { getUrl: () => path, getQuery: () => query, forEach });
}

const HOST = ['host', 'a'] as const;
const NOTHING_READ = { ...headOf([]) };

/** Returns how the parsed head with these fields differs from one without any, except in its length. */
function readOf(fields: Fields): object {
  const read = Object.entries(headOf(fields)).filter(([name]) => name !== 'headBytes');
  return Object.fromEntries(
    read.filter(([name, value]) => value !== NOTHING_READ[name as keyof typeof NOTHING_READ]),
  );
}

describe('the fields of a head', () => {
  const known: [name: string, value: string, read: object][] = [
    ['host', 'a:1', { host: 'a:1' }],
    ['accept', 'a/b', { accept: 'a/b' }],
    ['origin', 'o', { origin: 'o' }],
    ['x-api-key', 'k', { apiKey: 'k' }],
    ['traceparent', 't', { traceparent: 't' }],
    ['content-type', 'c/d', { contentType: 'c/d' }],
    ['authorization', 'Bearer k', { authorization: 'Bearer k' }],
    ['accept-encoding', 'br', { acceptEncoding: 'br' }],
    ['idempotency-key', '', { idempotencyKey: '' }],
    ['content-length', '012', { contentLength: 12 }],
    ['transfer-encoding', 'chunked', { transferEncoding: 'chunked' }],
    ['access-control-request-method', 'PUT', { accessControlRequestMethod: 'PUT' }],
    ...['no-cache', 'a, No-Cache', 'no-cache\t,b'].map((value) => {
      return ['cache-control', value, { asksForFresh: true }] as [string, string, object];
    }),
    ...['max-age=0', 'xno-cache'].map((value) => ['cache-control', value, {}] as [string, string, object]),
    ['content-encoding', 'gzip', { isEncoded: true }],
    ['content-encoding', 'identity, gzip', { isEncoded: true }],
    ...['', ' ,\t', 'Identity', 'identity,identity'].map(
      (value) => ['content-encoding', value, {}] as [string, string, object],
    ),
    ['connection', 'TE, close', { asksToClose: true }],
    ['connection', 'keep-alive', {}],
    ...[
      ...['via', 'forwarded', 'x-real-ip', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port'],
      'x-forwarded-proto',
    ].map((name) => [name, 'x', { isForwarded: true }] as [string, string, object]),
  ];
  for (const [name, value, read] of known)
    it(`are found by their whole name: ${name}: ${value}`, () => {
      assert.deepEqual(readOf([[name, value]]), read);
      assert.deepEqual(readOf([[name.replace(/.$/, '_'), value]]), {});
    });

  it('of a list are joined, and fields of Trace Context count once or not at all', () => {
    for (const [name, property] of [
      ['accept', 'accept'],
      ['accept-encoding', 'acceptEncoding'],
    ])
      assert.deepEqual(readOf([...['a', 'b'].map((value) => [name, value] as const)]), {
        [property]: 'a, b',
      });
    assert.deepEqual(readOf(Array.from({ length: 3 }, () => ['traceparent', 't'] as const)), {});
  });

  it('are counted with the request line, as they came', () => {
    const { headBytes } = headOf([HOST, ['unread', 'xyz']], 'PUT', '/path', 'a=b');
    assert.equal(headBytes, 'PUT /path?a=b HTTP/1.1\r\nhost: a\r\nunread: xyz\r\n\r\n'.length);
  });
});

describe('a head', () => {
  const MAX = LIMITS.requestFieldBytesMax;
  const long = 'a'.repeat(MAX);
  const refused: [what: string, fields: Fields, said: RegExp, method?: string, path?: string][] = [
    ['without a host', [], /no Host header/],
    ['with a host that is none', [['host', 'a b']], /Host header must be a host name/],
    ...(
      ['host', 'x-api-key', 'authorization', 'content-type', 'content-length', 'idempotency-key'] as const
    ).map((name): (typeof refused)[number] => [
      `with ${name} twice`,
      [...(name === 'host' ? [] : [HOST]), [name, '1'], ['accept', 'b'], [name, '1']],
      new RegExp(`^The header ${name} must not occur more than once`, 'i'),
      'POST',
    ]),
    [
      'with two fields twice',
      [HOST, HOST, ['x-api-key', 'k'], ['x-api-key', 'k']],
      /header Host must not occur more than once/,
    ],
    ['with Transfer-Encoding twice', [HOST, ['transfer-encoding', 'a'], ['transfer-encoding', 'a']], /once/],
    [
      'with two framings',
      [HOST, ['content-length', '1'], ['transfer-encoding', 'chunked']],
      /both Content-Length and Transfer-Encoding/,
    ],
    ['with another coding', [HOST, ['transfer-encoding', 'gzip']], /must be chunked/, 'POST'],
    ...['', '-1', '1.5', '1e3', '1'.repeat(16)].map((value): (typeof refused)[number] => [
      `with a length of "${value}"`,
      [HOST, ['content-length', value]],
      /must be a number of bytes/,
      'POST',
    ]),
    [
      'with a length where no body may be',
      [HOST, ['content-length', '1']],
      /A GET request must not have a body/,
    ],
    [
      'with chunks where no body may be',
      [HOST, ['transfer-encoding', 'chunked']],
      /DELETE .* not have a body/,
      'DELETE',
    ],
    ['with a path that is not ASCII', [HOST], /byte that is not visible/, 'GET', '/\u00e9'],
    [
      'with a long field',
      [HOST, ['accept', `${long}a`]],
      /header accept must not be longer than 1024 bytes\./,
    ],
    ['with a long list', [HOST, ['accept', long.slice(2)], ['accept', 'a']], /The header accept must not/],
    [
      'with two long fields',
      [HOST, ['origin', `${long}a`], ['accept', `${long}a`]],
      /header origin must not/,
    ],
  ];
  for (const [what, fields, said, method, path] of refused)
    it(`is refused ${what}`, () => {
      const error = headOf(fields, method, path).refusal(MAX * 8);
      assert.match(error?.message ?? 'taken', said);
    });

  const taken: [what: string, fields: Fields, method: string, hasBody: boolean][] = [
    ['with a length of 0 where no body may be', [HOST, ['content-length', '0']], 'GET', false],
    ['with a body', [HOST, ['content-length', '1']], 'POST', true],
    ['with chunks', [HOST, ['transfer-encoding', 'Chunked']], 'PUT', true],
    [
      'with a long list and a long field',
      [HOST, ['accept', long.slice(3)], ['accept', 'b'], ['origin', long]],
      'GET',
      false,
    ],
    ['with a long field that nobody reads', [HOST, ['cookie', `${long}a`]], 'HEAD', false],
  ];
  for (const [what, fields, method, hasBody] of taken)
    it(`is accepted ${what}`, () => {
      const head = headOf(fields, method);
      assert.equal(head.refusal(MAX * 8), undefined);
      assert.deepEqual(
        [head.hasBody, head.isChunked],
        [hasBody, fields.some(([name]) => name.startsWith('tr'))],
      );
    });

  it('may have its largest size and no more', () => {
    const head = headOf([HOST]);
    assert.equal(head.refusal(head.headBytes), undefined);
    assert.equal(head.refusal(head.headBytes - 1)?.code, 'head_too_large');
  });
});

describe('the token of a request', () => {
  it('follows Bearer in any case, whatever came before', () => {
    const cases = {
      ...{
        '': '',
        'Bearer k': 'k',
        'bearer  k ': 'k',
        'BEARER k': 'k',
        'Basic k': '',
        Bearer: '',
        Bearerk: '',
      },
      [`Bearer ${'k'.repeat(300)}`]: 'k'.repeat(300),
      ...{ 'Bearer ak': 'ak', 'Bearer bk': 'bk' }, // of one place among those that are known
    };
    for (const _ of ['first', 'known'])
      for (const [authorization, token] of Object.entries(cases))
        assert.equal(bearerOf(authorization), token);
  });
});
