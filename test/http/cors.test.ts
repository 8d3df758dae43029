import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { corsPolicy } from '../../src/http/reply-fields.ts';

const named = (fields: readonly (readonly [string, string])[]) => new Map(fields);

describe('cross-origin requests', () => {
  it('are not answered as such unless the operator says so', () => {
    const policy = corsPolicy([]);
    assert.deepEqual(policy.fields('https://a.example'), []);
    assert.deepEqual(policy.preflight('https://a.example', ['GET']), []);
  });

  it('are answered to the origins that are named, and to no other', () => {
    const policy = corsPolicy(['https://a.example', 'http://localhost:8080']);
    const fields = named(policy.fields('https://a.example'));
    assert.equal(fields.get('Access-Control-Allow-Origin'), 'https://a.example');
    assert.equal(fields.get('Vary'), 'Origin');
    assert.match(fields.get('Access-Control-Expose-Headers')!, /X-Request-ID/);
    for (const other of [
      'https://a.example.evil',
      'https://b.example',
      'http://a.example',
      'null',
      '*',
      '',
    ]) {
      assert.deepEqual(policy.fields(other), [], other);
      assert.deepEqual(policy.preflight(other, ['GET']), [], other);
    }
  });

  it('are answered to all with *, which no cache needs to tell apart', () => {
    const policy = corsPolicy(['*']);
    const fields = named(policy.fields('https://whoever.example'));
    assert.equal(fields.get('Access-Control-Allow-Origin'), '*');
    assert.equal(fields.has('Vary'), false);
    assert.deepEqual(policy.fields(''), [], 'without an Origin it is no cross-origin request');
  });

  it('may send what a preflight lists, keys and methods of the resource included', () => {
    const fields = named(corsPolicy(['*']).preflight('https://a.example', ['GET', 'HEAD']));
    assert.equal(fields.get('Access-Control-Allow-Methods'), 'GET, HEAD');
    const sent = fields.get('Access-Control-Allow-Headers')!.split(', ');
    // `*` would not stand for Authorization (Fetch, "CORS non-wildcard request-header name")
    for (const name of ['Authorization', 'X-API-Key', 'Content-Type', 'Idempotency-Key', 'traceparent']) {
      assert.ok(sent.includes(name), name);
    }
    assert.equal(fields.get('Access-Control-Max-Age'), '7200');
    assert.equal(fields.has('Access-Control-Allow-Credentials'), false);
  });
});
