/**
 * Requests that no honest client sends, each with the one answer that it gets. Every one of them carries a valid key and,
 * unless it says otherwise, asks for pure bytes: were it served, credits would be spent.
 */
export interface HostileCase {
  readonly name: string;
  /** What goes over the wire, byte by byte (latin1). */
  readonly bytes: string;
  /** The statuses of the replies, in order. */
  readonly replies: readonly number[];
  /** `waits`: nothing happens until the library cuts the connection, 10 s after its last sign of life. */
  readonly connection: 'stays open' | 'closes' | 'waits';
  /** Answers that are drawn, spent and counted. */
  readonly booked: number;
  /** The reply may be lost: the server closes while the client still sends, and the system resets the connection. */
  readonly mayBeLost: boolean;
  /** More than one request, to the service or to the library: what comes of it depends on what arrives together. */
  readonly dependsOnPackets: boolean;
  readonly why: string;
}

type Answer = Pick<HostileCase, 'replies' | 'connection'> & Partial<HostileCase>;
type Row = readonly [name: string, bytes: string, why: string];

const rows = (answer: Answer, ...each: readonly Row[]): HostileCase[] =>
  each.map(([name, bytes, why]) => ({
    booked: 0,
    mayBeLost: false,
    dependsOnPackets: false,
    ...answer,
    name,
    bytes,
    why,
  }));

const refused = (status: number): Answer => ({ replies: [status], connection: 'closes' });
const answered = (status: number): Answer => ({ replies: [status], connection: 'stays open' });
const silent: Answer = { replies: [], connection: 'waits' };
const served = (...replies: readonly number[]): Answer => ({
  replies,
  connection: 'stays open',
  booked: 1,
  dependsOnPackets: replies.length > 1,
});
const servedLast: Answer = { replies: [200], connection: 'closes', booked: 1 };

export function hostileCases(key: string): readonly HostileCase[] {
  const host = 'Host: a\r\n';
  const own = `${host}Authorization: Bearer ${key}\r\n`;
  const target = '/v1/bytes?entropy_mode=pure';
  const line = `GET ${target} HTTP/1.1\r\n`;
  const get = `${line}${own}\r\n`;
  const live = `GET /livez HTTP/1.1\r\n${host}\r\n`;
  const json = '{"type":"bytes","count":1,"entropy_mode":"pure"}';
  const size = json.length;
  const chunk = `${size.toString(16)}\r\n${json}\r\n`;
  const post = (...fields: string[]) =>
    `POST /v1/batch HTTP/1.1\r\n${own}Content-Type: application/json\r\n${fields.map((each) => `${each}\r\n`).join('')}\r\n`;
  const sized = (length: string) => post(`Content-Length: ${length}`) + json;
  const coded = (coding: string) => `${post(`Transfer-Encoding: ${coding}`)}${chunk}0\r\n\r\n`;
  const chunked = (body: string) => post('Transfer-Encoding: chunked') + body;
  const headed = (fields: string) => `${line}${own}${fields}\r\n`;
  const at = (path: string) => `GET ${path} HTTP/1.1\r\n${own}\r\n`;
  const versioned = (version: string) => `GET ${target} ${version}\r\n${own}\r\n`;
  const fields = (count: number) => Array.from({ length: count }, (_, i) => `h${i}: v\r\n`).join('');

  return [
    // Length of a body: RFC 9112 §6.3 wants 400 and a close for whatever is no single number
    ...rows(
      refused(400),
      [
        'two lengths that differ',
        post('Content-Length: 0', `Content-Length: ${size}`) + json,
        'RFC 9112 §6.3',
      ],
      [
        'two lengths alike',
        post(`Content-Length: ${size}`, `Content-Length: ${size}`) + json,
        'stricter than §6.3',
      ],
      ['an empty length', sized(''), 'the library reads it as none'],
      ['a length with a plus', sized(`+${size}`), '1*DIGIT, RFC 9110 §8.6'],
      ['a negative length', sized('-1'), '1*DIGIT'],
      ['a list of lengths', sized(`${size}, ${size}`), 'stricter than RFC 9110 §8.6'],
      ['a length in hexadecimal', sized('0x30'), '1*DIGIT'],
      ['a length and a semicolon', sized(`${size};`), '1*DIGIT'],
      ['a length with a blank inside', sized('4 8'), '1*DIGIT'],
      ['a length of full-width digits', sized('\xef\xbc\x94\xef\xbc\x98'), '1*DIGIT'],
      ['a length that is right modulo 2^64', sized(String(2n ** 64n + BigInt(size))), 'a number that wraps'],
      ['a length above 2^53', sized('9999999999999999'), 'not exact as a double'],
      ['a request as the body of GET', `${line}${own}Content-Length: ${get.length}\r\n\r\n${get}`, '0.CL'],
      ['a length on GET', `${line}${own}Content-Length: 5\r\n\r\nhello`, 'no meaning there, RFC 9110 §9.3.1'],
    ),
    ...rows(refused(413), ['a length of a petabyte', sized('999999999999999'), 'refused before it is sent']),
    ...rows(served(200), [
      'a length with leading zeros',
      sized(`000${size}`),
      '1*DIGIT allows them, and everyone reads them alike',
    ]),
    ...rows(served(200), [
      'a length behind a byte above ASCII',
      sized(`\xa0${size}`),
      'known laxness of the library: it trims such bytes unseen. A strict proxy refuses it',
    ]),

    // Length against coding
    ...rows(
      refused(400),
      [
        'a length and a coding',
        `${post(`Content-Length: ${size}`, 'Transfer-Encoding: chunked')}${chunk}0\r\n\r\n`,
        'CL.TE',
      ],
      [
        'a coding and a length',
        `${post('Transfer-Encoding: chunked', 'Content-Length: 4')}${chunk}0\r\n\r\n`,
        'TE.CL',
      ],
      ['a length and an unknown coding', post('Content-Length: 0', 'Transfer-Encoding: x'), 'RFC 9112 §6.1'],
      ['xchunked', coded('xchunked'), 'the library takes any coding for chunked'],
      ['gzip, chunked', coded('gzip, chunked'), 'not offered'],
      ['chunked, identity', coded('chunked, identity'), 'chunked must be the last'],
      ['identity', coded('identity'), 'obsolete'],
      ['chunked, chunked', coded('chunked, chunked'), 'RFC 9112 §6.1'],
      ['chunked twice', coded('chunked\r\nTransfer-Encoding: chunked'), 'RFC 9112 §6.1'],
      ['an empty coding', coded(''), 'no coding'],
      ['a coding in quotes', coded('"chunked"'), 'no token'],
      ['a coding with a parameter', coded('chunked;q=1'), 'chunked has none'],
      ['a coding on GET', `${line}${own}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 'no meaning there'],
    ),
    ...rows(silent, ['a coding behind a vertical tab', coded('\vchunked'), 'no field value']),

    // Chunks: what the library accepts is served, and is the last of its connection
    ...rows(
      servedLast,
      ['a chunked body', chunked(`${chunk}0\r\n\r\n`), 'allowed'],
      ['CHUNKED', coded('CHUNKED'), 'codings know no case, RFC 9112 §7'],
      ['a chunk size with leading zeros', chunked(`000${chunk}0\r\n\r\n`), '1*HEXDIG'],
      ['a blank behind a chunk size', chunked(`${chunk.replace('\r', ' \r')}0\r\n\r\n`), 'known laxness'],
    ),
    ...rows(
      { ...servedLast, dependsOnPackets: true },
      [
        'lines of chunks that end in LF alone',
        chunked(`${chunk.replaceAll('\r', '')}0\n\n`),
        'known laxness',
      ],
      ['no line end after a chunk', chunked(`${chunk.slice(0, -2)}0\r\n\r\n`), 'known laxness'],
      ['two other bytes for that line end', chunked(`${chunk.slice(0, -2)}XX0\r\n\r\n`), 'known laxness'],
    ),
    ...rows(
      refused(400),
      ['a negative chunk', chunked(`-1\r\n${json}`), 'no size'],
      ['a chunk size that is no number', chunked(`g\r\n${json}\r\n0\r\n\r\n`), 'no size'],
      ['a chunk size with 0x', chunked(`0x${chunk}0\r\n\r\n`), 'no size'],
      ['a chunk of 2^64 and more', chunked(`100000000000000${chunk}0\r\n\r\n`), 'a size that wraps'],
      ['an empty chunk size', chunked(`\r\n${json}\r\n0\r\n\r\n`), 'read as the last chunk; no JSON'],
      [
        'a chunk extension of 5 KB',
        chunked(`${size.toString(16)};${'a'.repeat(5_000)}`),
        'read as digits: too many',
      ],
      ['NUL before a chunk size', chunked(`\0${chunk}0\r\n\r\n`), 'read as the last chunk; no JSON'],
    ),
    ...rows(
      silent,
      [
        'a chunk extension',
        chunked(`${chunk.replace('\r', ';a=b\r')}0\r\n\r\n`),
        'not served by the library',
      ],
      ['a chunk of 4 GiB', chunked(`100000000\r\n${json}`), 'it never comes'],
    ),
    ...rows({ ...refused(505), dependsOnPackets: true }, [
      'trailers',
      chunked(`${chunk}0\r\nA: b\r\n\r\n`),
      'known defect of the library: it takes them for a next request; nothing is charged',
    ]),

    // Behind a request that is the last of its connection nothing is served
    ...rows(
      { replies: [], connection: 'closes', dependsOnPackets: true },
      ['a request behind chunks', chunked(`${chunk}0\r\n\r\n`) + get, 'it may be a piece of the body'],
      ['a request behind a chunk without end', chunked(`${chunk.slice(0, -2)}0\r\n\r\n${get}`), 'smuggling'],
      ['a request behind LF chunks', chunked(`${chunk.replaceAll('\r', '')}0\n\n${get}`), 'smuggling'],
      ['a request behind Connection: close', `${headed('Connection: close\r\n')}${get}`, 'RFC 9112 §9.6'],
      ['two requests for values', get + get, 'pipelining is not served: the second cuts the connection'],
      ['a GET and a POST', get + sized(String(size)), 'the same'],
      ['a POST and a GET', sized(String(size)) + get, 'the same'],
      ['two requests without a key', live + live, 'the same: each waits for its turn'],
      ['a GET without a key and a POST', live + sized(String(size)), 'the same'],
      [
        'a request behind an empty field name',
        `GET /livez HTTP/1.1\r\n${host}: x\r\nContent-Length: ${get.length}\r\n\r\n${get}`,
        'the name hides the fields behind it from the library, which then sees a second request',
      ],
    ),
    ...rows(
      { replies: [], connection: 'closes', dependsOnPackets: true },
      ['a request behind an empty chunk size', chunked(`\r\n${get}`), 'smuggling'],
      [
        'a request behind an unlimited one that closes',
        `GET /livez HTTP/1.1\r\n${host}Connection: x, Close\r\n\r\n${get}`,
        '§9.6',
      ],
      [
        'a request behind a 413',
        `${post('Content-Length: 65537')}${'b'.repeat(65_537)}${get}`,
        'the reply closes',
      ],
      ['a request behind two lengths', post('Content-Length: 0', 'Content-Length: 5') + get, 'CL.CL'],
      ['a request behind an empty length', post('Content-Length:') + get, 'CL.0'],
      ['a request behind two hosts', `GET /livez HTTP/1.1\r\n${host}${host}\r\n${get}`, 'the reply closes'],
      [
        'a request behind a long head',
        `GET /?${'a'.repeat(65_600)} HTTP/1.1\r\n${host}\r\n${get}`,
        'the same',
      ],
    ),
    // Fields
    ...rows(
      silent,
      ['a folded field', headed('A: b\r\n c\r\n'), 'obs-fold, RFC 9112 §5.2'],
      ['a folded first field', `${line} ${own}\r\n`, 'RFC 9112 §2.2'],
      ['CR in a value', headed('A: b\rc\r\n'), 'RFC 9110 §5.5'],
      ['LF in a value', headed('A: b\nC: d\r\n'), 'a line end to some'],
      ['NUL in a value', headed('A: b\0c\r\n'), 'RFC 9110 §5.5'],
      ['a control byte in a value', headed('A: b\x01c\r\n'), 'RFC 9110 §5.5'],
      ['a blank before the colon', headed('A : b\r\n'), 'RFC 9112 §5.1'],
      ['a blank before the colon of a length', post(`Content-Length : ${size}`) + json, 'smuggling'],
      [
        'a blank before the colon of a coding',
        `${post('Transfer-Encoding : chunked')}${chunk}0\r\n\r\n`,
        'smuggling',
      ],
      ['a field without colon', headed('A\r\n'), 'no field'],
      ['NUL in a name', headed('A\0: b\r\n'), 'no token'],
      ['a byte above ASCII in a name', headed('A\xe9: b\r\n'), 'no token'],
      ['a bracket in a name', headed('A(b): c\r\n'), 'no token'],
      ['an empty line before the request', `\r\n${get}`, 'RFC 9112 §2.2 would skip it, the library waits'],
      ['HTTP/0.9', 'GET /v1/bytes\r\n\r\n', 'no version'],
      ['half a head', `${line}Host: a\r\nAuthor`, 'the rest never comes'],
      ['a head without end', `${line}${own}`, 'the empty line never comes'],
    ),
    ...rows(
      refused(400),
      ['no host', `${line}Authorization: Bearer ${key}\r\n\r\n`, 'RFC 9112 §3.2'],
      ['a host behind an empty field name', `${line}: x\r\n${own}\r\n`, 'it is hidden'],
      ['two hosts', `${line}${host}${own}\r\n`, 'RFC 9112 §3.2'],
      ['a list of hosts', `${line}${own.replace('Host: a', 'Host: a, b')}\r\n`, 'RFC 9112 §3.2'],
      ['a host with a path', `${line}${own.replace('Host: a', 'Host: a/b')}\r\n`, 'RFC 9112 §3.2'],
      ['two credentials', headed('Authorization: Bearer other\r\n'), 'which one counts?'],
      ['a credential twice', headed(`Authorization: Bearer ${key}\r\n`), 'which one counts?'],
      ['two API keys', headed('X-API-Key: a\r\nX-API-Key: b\r\n'), 'which one counts?'],
      [
        'two content types',
        `${post('Content-Type: text/plain', `Content-Length: ${size}`)}${json}`,
        'which one counts?',
      ],
      ['two idempotency keys', headed('Idempotency-Key: a\r\nIdempotency-Key: b\r\n'), 'which one counts?'],
    ),
    ...rows(
      { ...refused(431), mayBeLost: true },
      ['10,000 fields', headed(fields(10_000)), 'the library takes 100'],
      [
        'an Accept field of 54 KB',
        headed(`Accept: a/b${Array.from({ length: 6_800 }, (_, i) => `;a${i}=1`).join('')}\r\n`),
        'of a field that is read 1 KiB',
      ],
      ['a head of 1 MB', headed(`A: ${'a'.repeat(1_000_000)}\r\n`), 'the limit is 64 KiB'],
      ['a target of 100 KB', at(`${target}&${'a'.repeat(100_000)}`), 'the limit is 64 KiB'],
    ),
    ...rows(
      answered(401),
      [
        'a key behind a blank of another kind',
        `${line}${host}Authorization: Bearer\xa0${key}\r\n\r\n`,
        'no scheme',
      ],
      ['a key in another field', `${line}${host}Cookie: Authorization=Bearer ${key}\r\n\r\n`, 'no key'],
      [
        'a key in the target',
        `GET ${target}&api_key=${key} HTTP/1.1\r\n${host}\r\n`,
        'it would stand in logs',
      ],
    ),
    ...rows(
      served(200),
      ['an unknown expectation', headed('Expect: nonsense\r\n'), 'RFC 9110 §10.1.1 lets it be ignored'],
      ['an upgrade to h2c', headed('Connection: Upgrade\r\nUpgrade: h2c\r\n'), 'RFC 9110 §7.8: ignored'],
      [
        'fields that proxies believe',
        headed('X-Forwarded-Host: b\r\nX-Original-URL: /livez\r\nX-HTTP-Method-Override: DELETE\r\n'),
        'ignored',
      ],
    ),

    // Request lines
    ...rows(
      refused(505),
      ['LF alone as line end', get.replaceAll('\r', ''), 'RFC 9112 §2.2 lets it be refused'],
      ['LF before the request', `\n${get}`, 'the same'],
      ['a blank before the method', ` ${get}`, 'no method'],
      ['two blanks before the target', get.replace(' ', '  '), 'RFC 9112 §3'],
      ['two blanks before the version', get.replace(' HTTP', '  HTTP'), 'RFC 9112 §3'],
      ['a blank behind the version', versioned('HTTP/1.1 '), 'RFC 9112 §3'],
      ['tabs for blanks', get.replace('GET ', 'GET\t').replace(' HTTP', '\tHTTP'), 'RFC 9112 §3'],
      ['HTTP/1.0', versioned('HTTP/1.0'), 'not served'],
      ['HTTP/1.2', versioned('HTTP/1.2'), 'not served'],
      ['HTTP/2.0', versioned('HTTP/2.0'), 'not served in clear'],
      ['http/1.1', versioned('http/1.1'), 'versions know case, RFC 9112 §2.3'],
      ['HTTP/01.1', versioned('HTTP/01.1'), 'one digit'],
      ['HTTP/1.10', versioned('HTTP/1.10'), 'one digit'],
      ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'RFC 9113 §3.4'],
      [
        'a TLS hello',
        `\x16\x03\x01\0\xc8\x01\0\0\xc4\x03\x03${'\xab'.repeat(190)}`,
        'this port speaks no TLS',
      ],
      ['an absolute target', get.replace('/v1', 'http://a/v1'), 'meant for proxies'],
      ['an authority as target', get.replace(target, 'a:80'), 'meant for CONNECT'],
      ['CONNECT', `CONNECT a:80 HTTP/1.1\r\n${own}\r\n`, 'no proxy'],
      ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${own}\r\n`, 'not served by the library'],
      ['a target without slash', get.replace('/v1', 'v1'), 'RFC 9112 §3.2.1'],
      ['no target', get.replace(target, ''), 'RFC 9112 §3'],
      ['a control byte in the method', get.replace('GET', 'G\x01T'), 'no token'],
      ['a byte above ASCII in the method', get.replace('GET', 'G\xc9T'), 'no token'],
      ['a control byte in the path', at('/v1/by\x01tes'), 'no target'],
      ['NUL in the path', at('/v1/bytes\0'), 'no target'],
      ['NUL in the query', at(`${target}&\0`), 'no target'],
      ['noise', '\xff\xfe\xfd'.repeat(100), 'no HTTP'],
      ['zeros', '\0'.repeat(1_000), 'no HTTP'],
    ),
    ...rows(refused(400), ['a byte above ASCII in the path', at('/v1/byt\xe9s'), 'no target']),
    ...rows(
      answered(405),
      ['a lower-case method', get.replace('GET', 'get'), 'methods know case, RFC 9110 §9.1'],
      ['TRACE', get.replace('GET', 'TRACE'), 'it would echo the key'],
      [
        'a method of 60,000 bytes',
        get.replace('GET', 'A'.repeat(60_000)),
        'and no line of that length in the log',
      ],
      ['a method of an object', get.replace('GET', 'constructor'), 'no word of the language is a method'],
    ),

    // Paths are taken as they come: nothing is decoded, resolved or folded
    ...rows(
      answered(404),
      ...[
        '/v1/%62ytes',
        '/v1/bytes%00',
        '/v1%2fbytes',
        '/v1/bytes%3Fcount=1',
        '/v1/bytes/',
        '//v1/bytes',
        '/v1//bytes',
        '/v1/./bytes',
        '/v1/../v1/bytes',
        '/v1/%2e%2e/v1/bytes',
        '/V1/bytes',
        '/v1/bytes;a=b',
        '/v1/bytes#x',
        '/v1\\bytes',
        '/v1/__proto__',
        '/constructor',
        '/%',
        '/%c0%ae%c0%ae/',
      ].map((path): Row => [`the path ${path}`, at(path), 'no such path']),
    ),
    ...rows(
      answered(400),
      ...[
        'count=%',
        'count=%zz',
        'count=%c0%b1',
        'count=%EF%BC%91',
        'count=1%00',
        'count=1%26count=2',
        'count=1+0',
        'count=%2B1',
        'count=1&%63ount=1',
        'count=1&count=1',
        'entropy_mode=pure&entropy_mode=csprng',
        'entropy_mode=pure%0d%0aX-A:%20b',
        'entropy_mode=__proto__',
        `count=${'9'.repeat(60_000)}`,
      ].map(
        (query): Row => [`the query ${query.slice(0, 60)}`, at(`/v1/bytes?${query}`), 'no valid parameter'],
      ),
    ),
    ...rows(
      served(200),
      [
        'a query of escapes',
        at('/v1/bytes?%63ount=%31&entropy_mode=%70ure'),
        'names and values are decoded once',
      ],
      ['a query of bytes above ASCII', at(`${target}&\xe9\xff=\x80&%ff=1`), 'an unknown name is ignored'],
      ['a query of objects', at(`${target}&__proto__=1&constructor=2&a[b]=3`), 'unknown names are ignored'],
      ['a query of 20,000 separators', at(`${target}${'&'.repeat(20_000)}`), 'empty parameters are nothing'],
    ),
  ];
}
