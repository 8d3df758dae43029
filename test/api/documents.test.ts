import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fetchHead } from '../support/http.ts';
import { TestServer, until } from '../support/server.ts';

let server: TestServer;

before(async () => {
  server = await TestServer.shared();
});

/** Sends a request without the decompression that fetch adds. */
async function raw(
  path: string,
  acceptEncoding?: string,
): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  const headers = {
    authorization: `Bearer ${server.key}`,
    ...(acceptEncoding && { 'accept-encoding': acceptEncoding }),
  };
  const reply = await fetchHead(`${server.origin}${path}`, { headers });
  return { headers: reply.headers, body: await buffer(reply) };
}

async function certificateId(): Promise<string> {
  const { body } = await raw('/v1/integers?count=2');
  return JSON.parse(body.toString()).metadata.certificate_id;
}

describe('documents', () => {
  it('are compressed on request, with the same content', async () => {
    const id = await certificateId();
    await until('it is logged', async () => !(await raw(`/verify/${id}`)).body.includes('Being logged'));
    for (const path of ['/status', '/', '/docs', '/openapi.json', `/verify/${id}`]) {
      const plain = await raw(path);
      assert.equal(plain.headers['content-encoding'], undefined, path);
      assert.match(String(plain.headers['vary']), /Accept-Encoding/, path);
      const br = await raw(path, 'gzip, deflate, br');
      assert.equal(br.headers['content-encoding'], 'br', path);
      assert.ok(br.body.length < plain.body.length / 2, path);
      const gzip = await raw(path, 'gzip');
      assert.equal(gzip.headers['content-encoding'], 'gzip', path);
      if (path === '/status') continue; // it is made anew as the service goes on
      assert.ok(brotliDecompressSync(br.body).equals(plain.body), path);
      assert.ok(gunzipSync(gzip.body).equals(plain.body), path);
    }
    const certificate = await raw(`/v1/certificate?id=${id}`, 'br');
    assert.equal(certificate.headers['content-encoding'], 'br');
    assert.equal(JSON.parse(brotliDecompressSync(certificate.body).toString()).certificate.id, id);
  });

  it('are never compressed when they hold random values', async () => {
    for (const path of ['/v1/bytes?count=1024', '/v1/integers?count=5000', '/v1/uuid?count=100']) {
      const { headers, body } = await raw(path, 'gzip, br');
      assert.equal(headers['content-encoding'], undefined, path);
      assert.doesNotThrow(() => JSON.parse(body.toString()), path);
    }
  });

  it('name in metadata and header fields the source of a certified answer', async () => {
    const { headers, body } = await raw(`/v1/certificate?id=${await certificateId()}`);
    const { certificate, metadata } = JSON.parse(body.toString());
    const { lang_circuit, lang_version, quantum_backend } = certificate.provenance;
    const { request_id, timestamp, ...drawn } = metadata;
    assert.deepEqual(drawn, {
      lang_circuit,
      lang_version,
      quantum_backend,
      nist_verified: certificate.verification.nist_verified,
      powered_by: 'Lang Quantum Circuits',
    });
    assert.notEqual(request_id, certificate.request_id, 'metadata is of this request');
    assert.ok(timestamp >= certificate.issued_at);
    assert.equal(headers['x-lang-circuit'], lang_circuit);
    assert.equal(headers['x-lang-version'], lang_version);
    assert.equal(headers['x-quantum-backend'], quantum_backend);
    assert.equal(headers['x-nist-verified'], String(certificate.verification.nist_verified));
  });

  it('name no source in the metadata of usage, which draws nothing', async () => {
    const { headers, body } = await raw('/v1/usage');
    const { metadata } = JSON.parse(body.toString());
    assert.deepEqual(
      [metadata.lang_circuit, metadata.lang_version, metadata.quantum_backend, metadata.nist_verified],
      ['none', 'none', 'none', false],
    );
    assert.equal(headers['x-quantum-backend'], 'none');
  });
});
