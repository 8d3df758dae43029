import assert from 'node:assert/strict';
import fc from 'fast-check';
import { STATUS_LABELS } from '../../../src/core/metrics.ts';
import { DATA_ENDPOINTS } from '../../../src/core/vocabulary.ts';
import type { HttpRequest } from '../../support/http.ts';
import { errorOf, exchanged } from './oracle.ts';
import { ODD_TEXTS, wireText } from './table-cases.ts';
import type { World } from './world.ts';

/** Requests for anything, with fields of any bytes: only rules for all answers apply. */

const joined = (...parts: readonly fc.Arbitrary<string>[]) =>
  fc.tuple(...parts).map((texts) => texts.join(''));
const oneOf = (...texts: readonly string[]) => fc.constantFrom(...texts);
const oddText = oneOf(...ODD_TEXTS);

const certificateId = fc
  .string({ unit: oneOf(...'0123456789abcdefghjkmnpqrstvwxyz'), minLength: 26, maxLength: 26 })
  .map((characters) => `cert_${characters}`);
/** Characters that a target may hold without ending it; a character is a byte. */
const targetText = fc.oneof(
  oneOf('/', '//', '..', '.', '%2e%2e', '%2F', '?', '#', '=', '&', 'x000/000'),
  oddText,
  wireText,
);
const number = fc.oneof(oneOf('0', '1', '2', '3', '99', '100', '000', '999', 'x000', 'x999'), oddText);
const level = fc.array(number, { maxLength: 4 }).map((parts) => parts.join('/'));
const PLACES = [
  ...['/', '/status', '/docs', '/openapi.json', '/metrics', '/livez', '/readyz', '/log/checkpoint'],
  ...['/.well-known/qrn-keys.json', '/v1/usage', '/v1/health', '/v1', '/v1/', '/verify', '/verify/'],
  ...['/assets/', '/log/tile/'],
];

const target = fc.oneof(
  joined(
    oneOf('/v1/certificate?id=', '/verify/', '/verify?id='),
    fc.oneof(certificateId, targetText),
    fc.oneof(oneOf(''), targetText),
  ),
  joined(
    oneOf('/v1/certificate?format='),
    oneOf('json', 'pdf', 'PDF', '', 'xml'),
    oneOf('&id='),
    certificateId,
  ),
  joined(
    oneOf('/log/tile/'),
    number,
    oneOf('/'),
    level,
    oneOf('', '.p/1', '.p/0', '.p/256', '.p/257', '.p/'),
  ),
  joined(oneOf('/log/consistency?from='), number, oneOf('&to='), number),
  oneOf(...PLACES),
  joined(
    oneOf('/v1/', '/', '/v1//', '/V1/', '/v1/%'),
    oneOf(...DATA_ENDPOINTS, 'certificate', 'usage', 'health'),
    targetText,
  ),
  joined(oneOf('/v1/'), oneOf(...DATA_ENDPOINTS), oneOf('?'), targetText, oneOf('&'), targetText),
  joined(oneOf('/'), targetText),
);

/**
 * Fields other than those that make the library wait, answer itself or change the protocol
 * (test/http/front-wire.test.ts).
 */
const FIELDS = [
  ...['Accept', 'Content-Type', 'Idempotency-Key', 'traceparent', 'tracestate', 'Origin', 'If-None-Match'],
  ...['Access-Control-Request-Method', 'Access-Control-Request-Headers', 'Authorization', 'X-API-Key'],
  ...['X-Request-ID', 'X-Forwarded-For', 'Range', 'Cookie', '__proto__', 'constructor'],
];

/** No CR, LF, NUL or other control character, which end a head for the library; those of test/http/front-wire.test.ts are. */
const fieldText = fc.oneof(
  oneOf(
    ...['*', '*/*', 'application/json', 'application/problem+json', 'text/html', 'https://example.org'],
    ...['a'.repeat(255), 'a'.repeat(256), '"', ';', 'GET', 'Bearer', 'Bearer ', 'bytes=0-1'],
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '%0d%0aX-Injected: 1',
  ),
  oneOf(...ODD_TEXTS.filter((text) => !text.includes('\x7f'))),
  fc
    .array(fc.integer({ min: 0x1f, max: 0xff }), { maxLength: 30 })
    .map((codes) => String.fromCharCode(...codes.map((code) => (code === 0x1f || code === 0x7f ? 9 : code)))),
);

const OTHER_METHODS = ['POST', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'TRACE', 'get', 'X-Y', 'PROPFIND'];

export const strangeRequest: fc.Arbitrary<HttpRequest> = fc.record({
  method: fc.oneof({ weight: 3, arbitrary: oneOf('GET') }, oneOf(...OTHER_METHODS)),
  target,
  headers: fc.array(fc.tuple(oneOf(...FIELDS), fieldText), { maxLength: 5 }),
  body: fc.option(fc.uint8Array({ maxLength: 200 }), { nil: null, freq: 5 }),
});

/** Checks the rules for any answer to anything. The key has no credits, so nothing is ever spent. */
export async function holdStrange(world: World, request: HttpRequest): Promise<void> {
  const actor = world.actor('csprng');
  const keyed = request.headers.some(([name]) => name === 'Authorization')
    ? request
    : world.as('csprng', request);
  const { reply, drawn } = await exchanged(world, keyed);
  const text = `${reply.status} ${reply.body.toString('utf8', 0, 300)}`;
  assert.ok((STATUS_LABELS as readonly string[]).includes(String(reply.status)), text);
  assert.ok(!reply.headers.has('x-injected'), 'nothing that came stands in the head');
  // Usage, health and certificates have the provenance fields of answers too.
  const isAnswer =
    reply.headers.has('x-lang-circuit') && !/^\/v1\/(usage|certificate|health)\b/.test(request.target);
  if (isAnswer) {
    assert.equal(reply.status, 200);
    // Strange requests may repeat an Idempotency-Key: the stored answer is sent again and not counted.
    const certificateId =
      reply.headers.get('x-certificate-id') ??
      /"certificate_id":"([^"]+)"/.exec(reply.body.toString('latin1'))?.[1];
    assert.ok(certificateId, text);
    const isReplay = world.strangeCertificates.has(certificateId);
    world.strangeCertificates.add(certificateId);
    if (isReplay) assert.equal(drawn, 0, 'a replay draws nothing');
    else actor.answers++;
    world.consumedBytes += drawn;
  } else assert.equal(drawn, 0, 'what is no answer draws nothing');
  const type = reply.headers.get('content-type') ?? '';
  const isPage = type.startsWith('text/html') && !request.target.startsWith('/v1/');
  if (reply.status < 400 || request.method === 'HEAD' || isPage) return;
  assert.match(type, /^application\/(problem\+)?json$/, text);
  errorOf(world, reply);
}
