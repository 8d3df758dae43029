import assert from 'node:assert/strict';
import { talk } from '../../support/http.ts';
import type { Target } from '../../support/raw-http.ts';

/**
 * Requests without a key whose head or body is as long as it may be and made to be dear to read, each on a connection of its
 * own. test/http/parsing-time.test.ts has more texts, reader by reader; these go all the way.
 */

const LENGTH = 60_000;

/** Words that readers may stumble over when they come again and again, as they are and numbered at `#`. */
const FIELD_WORDS = [';a#=1', 'a/b;q="', ',', ' ', '*/*;q=0.1,'];
const PATH_WORDS = ['x001/', '%2e', '/a'];
const QUERY_WORDS = ['&', '&a#=1', '%2C', '&count='];
const JSON_WORDS = ['[', '{"a":', '"\\u0061":1,', '"a#":1,', '1,'];
const FIELDS = [
  'Accept',
  'Accept-Encoding',
  'Authorization',
  'Cookie',
  'Connection',
  'Cache-Control',
  'Host',
];
const PATHS = ['/', '/verify/', '/log/tile/', '/log/lots/', '/lots/', '/draws/', '/v1/draws/'];
const TARGETS = [
  '/v1/integers?',
  '/v1/draws?',
  '/verify?id=',
  '/log/consistency?from=',
  '/log/leaves?',
  '/nothing?',
];
const METHODS = ['generateIntegers', 'getTicket', 'verifySignature', 'getResult'];

function texts(words: readonly string[]): string[] {
  return words.flatMap((word) => {
    let numbered = '';
    for (let i = 0; numbered.length < LENGTH; i++) numbered += word.replace('#', String(i));
    return [word.repeat(LENGTH / word.length), numbered.slice(0, LENGTH)];
  });
}

function get(target: string, field = ''): string {
  const host = field.startsWith('Host:') ? '' : 'Host: a\r\n';
  return `GET ${target} HTTP/1.1\r\n${host}${field}\r\n`;
}

function post(path: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

function costlyRequests(): readonly string[] {
  const values = [...texts(JSON_WORDS), '['.repeat(LENGTH / 2) + ']'.repeat(LENGTH / 2)];
  const call = (method: string, value: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{"apiKey":"a","ticketId":"a","signature":"a","random":{"a":${value}}}}`;
  return [
    ...FIELDS.flatMap((name) =>
      texts(FIELD_WORDS).map((text) => get('/v1/integers', `${name}: a/b${text}\r\n`)),
    ),
    ...PATHS.flatMap((path) => texts(PATH_WORDS).map((text) => get(path + text))),
    ...TARGETS.flatMap((target) => texts(QUERY_WORDS).map((text) => get(target + text))),
    ...METHODS.flatMap((method) => values.map((value) => post('/json-rpc/4/invoke', call(method, value)))),
    ...['/v1/batch', '/v1/draws', '/demo/die'].flatMap((path) => values.map((value) => post(path, value))),
  ];
}

/** One that takes longer is sent again: a collection of garbage or other work of the thread may have fallen into it. */
const AGAIN_ABOVE_MS = 10;
const TRIES = 5;

/**
 * Sends each request, which is answered, and gives the processor time in ms that the front's thread took for the costliest: the
 * least of some tries.
 */
export async function cpuMsOfCostliest(target: Target): Promise<number> {
  let costliestMs = 0;
  for (const request of costlyRequests()) {
    let leastMs = Number.POSITIVE_INFINITY;
    for (let i = 0; i < TRIES && leastMs > AGAIN_ABOVE_MS; i++) {
      const before = target.mainThreadCpuMs();
      const { replies } = await talk(target.port, request, { replies: 1 });
      assert.equal(replies.length, 1, `${request.slice(0, 80)}… is answered`);
      leastMs = Math.min(leastMs, target.mainThreadCpuMs() - before);
    }
    costliestMs = Math.max(costliestMs, leastMs);
  }
  return costliestMs;
}
