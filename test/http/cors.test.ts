import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { corsFields, preflightFields } from '../../src/http/reply-fields.ts';

const HERE = 'https://a.example';

/**
 * The allowed origins, the asking origin, and the origin that the answer is open to. A running service shows the rest
 * (test/api/health.test.ts).
 */
const CASES: readonly [allowed: readonly string[], origin: string, open: string | undefined][] = [
  [[], HERE, undefined],
  [[HERE, 'http://localhost:8080'], HERE, HERE],
  ...['https://a.example.evil', 'https://b.example', 'http://a.example', 'null', '*', ''].map(
    (other): [string[], string, undefined] => [[HERE], other, undefined],
  ),
  [['*'], HERE, '*'],
  [['*'], '', undefined], // without an Origin it is no cross-origin request
];

describe('a cross-origin request', () => {
  for (const [allowed, origin, open] of CASES)
    it(`of ${origin || 'nobody'} is answered for ${open ?? 'nobody'} where ${allowed.join() || 'nothing'} is allowed`, () => {
      const fields = new Map(corsFields(allowed, origin));
      assert.equal(fields.get('Access-Control-Allow-Origin'), open);
      assert.equal(fields.has('Vary'), open === HERE, 'no cache needs to tell answers to all apart');
      const preflight = new Map(preflightFields(allowed, origin, ['GET', 'HEAD']));
      assert.equal(preflight.get('Access-Control-Allow-Origin'), open);
      assert.ok(!preflight.has('Access-Control-Allow-Credentials'));
      // `*` would not stand for Authorization (Fetch, "CORS non-wildcard request-header name")
      const sent = preflight.get('Access-Control-Allow-Headers')?.split(', ');
      for (const name of ['Authorization', 'X-API-Key', 'Content-Type', 'Idempotency-Key', 'traceparent'])
        assert.equal(sent?.includes(name), open && true, name);
    });
});
