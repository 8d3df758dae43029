import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import { TestServer } from '../support/server.ts';

/** The data endpoints of the real service over a real socket. */
let server: TestServer;
before(async () => {
  server = await TestServer.shared();
});

interface Answer {
  data: Record<string, unknown> & { metadata: { entropy_mode: string; quantum_source: string } };
  metadata: Record<string, unknown>;
  meta: { request_id: string; duration_ms: number };
  quantum_credits: { remaining: number | null; used: number; total: number | null };
}

async function answerOf(response: Response): Promise<Answer> {
  const body = (await response.json()) as Answer;
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

/** A simulated source is called simulated. */
const SIMULATOR = ['simulated', 'simulator-statevector'];

/** The facts that every data answer must carry, whatever the endpoint. */
function assertEnvelope(body: Answer, headers: Headers, mode: string): void {
  const { data, metadata, meta, quantum_credits: credits } = body;
  assert.equal(data.metadata.entropy_mode, mode);
  assert.equal(headers.get('x-entropy-mode'), mode);
  assert.equal(metadata['verify_url'], `${server.origin}/verify/${metadata['certificate_id']}`);
  assert.match(String(metadata['timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(headers.get('x-request-id'), meta.request_id);
  assert.equal(headers.get('x-lang-circuit'), metadata['lang_circuit']);
  assert.equal(headers.get('x-lang-version'), metadata['lang_version']);
  assert.equal(headers.get('x-quantum-backend'), metadata['quantum_backend']);
  assert.equal(headers.get('x-nist-verified'), String(metadata['nist_verified']));
  assert.equal(headers.get('x-entropy-origin'), metadata['entropy_origin']);
  assert.equal(headers.get('x-quantum-credits-remaining'), String(credits.remaining));
  assert.equal(data.metadata.quantum_source, metadata['quantum_backend']);
  if (mode === 'csprng') {
    for (const name of ['lang_circuit', 'quantum_backend']) assert.equal(metadata[name], 'none');
    assert.equal(metadata['entropy_origin'], 'system');
  } else {
    assert.deepEqual([metadata['entropy_origin'], metadata['quantum_backend']], SIMULATOR);
  }
}

describe('every data endpoint', () => {
  const PATHS = ['/integers', '/bytes', '/floats', '/uuid', '/bitstring', '/shuffle?items=a,b,c%2Cd,,%C3%A9'];
  for (const mode of ['quantum-seeded', 'pure', 'csprng']) {
    it(`states what was drawn and from where, in canonical form, in ${mode} mode`, async () => {
      for (const path of PATHS) {
        const response = await server.get(`${path}${path.includes('?') ? '&' : '?'}entropy_mode=${mode}`);
        const text = await response.clone().text();
        const body = await answerOf(response);
        assertEnvelope(body, response.headers, mode);
        assert.ok(text.startsWith(`{"data":${canonicalize(body.data)},`), path);
        if (mode !== 'pure') assert.equal(body.quantum_credits.used, 0);
      }
    });
  }

  it('quotes a price as JSON to a client that accepts octets only', async () => {
    const headers = { accept: 'application/octet-stream' };
    for (const response of [
      await server.get('/bytes?count=33&dry_run=true', headers),
      await server.batch({ type: 'uuid', count: 3, dry_run: true }, headers),
    ]) {
      assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/json']);
      assert.ok('required_bytes' in ((await response.json()) as Answer).data);
    }
    assert.equal((await server.get('/uuid?dry_run=true', headers)).status, 406);
  });
});
