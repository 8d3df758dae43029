import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import { verify } from '../../src/cli/verify.ts';
import { ENTROPY_MODES } from '../../src/core/vocabulary.ts';
import { fetchWhole } from '../support/http.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { runQrn, TestServer } from '../support/server.ts';

/** Certificates of the real service: every answer verifies, online and offline; anything changed is named. */
let server: TestServer;
const folder = scratchFolder();
describe('certificates of a running service', () => {
  before(async () => {
    server = await TestServer.shared();
  });

  interface Answer {
    data: Record<string, unknown>;
    metadata: { certificate_id: string; certificate_salt: string; request_id: string; timestamp: string };
  }

  interface CertificateBody {
    certificate: {
      id: string;
      status: string;
      proof: string | null;
      request_id: string;
      hashes: { delivered: string };
      provenance: { lots: { id: string }[]; origin: string };
      verify_url: string;
    };
  }

  const PATHS = [
    '/integers?count=5&min=-7&max=1000000',
    '/bytes?count=9&encoding=base64',
    '/floats?count=6',
    '/uuid?count=2',
    '/bitstring?length=77',
    `/shuffle?items=${['a%2Cb', '%C3%A9', '%F0%9F%8E%B2', '%22%5C', '%07'].join(',')}`,
  ];
  const BATCHES = [
    { type: 'integers', count: 3_000, params: { min: 0, max: 1 } },
    { type: 'floats', count: 10, params: { precision: 3 } },
    { type: 'bytes', count: 3, params: { length: 5 } },
    { type: 'uuid', count: 4 },
  ];

  let files = 0;
  /** Saves a body as it came. */
  function save(body: string): string {
    const path = join(folder, `${files++}.json`);
    writeFileSync(path, body);
    return path;
  }

  async function bodyOf(response: Response): Promise<string> {
    const body = await response.text();
    assert.equal(response.status, 200, body);
    return body;
  }

  /** The certificate by the API, with a key, when it is logged. */
  async function certificateOf(id: string): Promise<CertificateBody> {
    for (let attempt = 0; attempt < 50; attempt++) {
      const body = JSON.parse(await bodyOf(await server.get(`/certificate?id=${id}`))) as CertificateBody;
      if (body.certificate.proof !== null) return body;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`${id} was not logged in time`);
  }

  async function publicPage(id: string): Promise<CertificateBody> {
    const response = await fetchWhole(`${server.origin}/verify/${id}`, {
      headers: { accept: 'application/json' },
    });
    return JSON.parse(await bodyOf(response)) as CertificateBody;
  }

  async function keys(): Promise<string> {
    return bodyOf(await fetchWhole(`${server.origin}/.well-known/qrn-keys.json`));
  }

  async function assertVerifies(answerBody: string): Promise<void> {
    const answer = save(answerBody);
    const online = await runCommand(verify, [answer, '--url', server.baseUrl]);
    assert.equal(online.status, 0, online.out + online.talk);
    const { certificate_id: id } = (JSON.parse(answerBody) as Answer).metadata;
    const key = save(await keys());
    for (const document of [await certificateOf(id), await publicPage(id)]) {
      const certificate = save(JSON.stringify(document));
      const offline = await runCommand(verify, [answer, '--certificate', certificate, '--keys', key]);
      assert.equal(offline.status, 0, offline.out + offline.talk);
    }
  }

  describe('every answer verifies', () => {
    for (const mode of ENTROPY_MODES) {
      it(`verifies each endpoint in ${mode} mode, online and offline`, async () => {
        for (const path of PATHS)
          await assertVerifies(await bodyOf(await server.get(`${path}&entropy_mode=${mode}`)));
        for (const batch of BATCHES)
          await assertVerifies(await bodyOf(await server.batch({ ...batch, entropy_mode: mode })));
      });
    }

    it('verifies with the qrn program and the configured base URL', async () => {
      const answer = save(await bodyOf(await server.get('/integers')));
      const done = await runQrn(server.dataDir, ['verify', answer], { QRN_BASE_URL: server.baseUrl });
      assert.deepEqual([done.code, done.stderr], [0, ''], done.stdout);
      assert.match(done.stdout, /: verified\n$/);
    });

    it('waits for the log when an answer is certified but not yet logged', async () => {
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => server.get('/integers').then(bodyOf)),
      );
      for (const answer of answers) {
        const { status, talk } = await runCommand(verify, [save(answer), '--url', server.baseUrl]);
        assert.equal(status, 0, talk);
      }
    });
  });

  describe('whatever is changed is named', () => {
    it('names what was changed in the answer, the certificate or the keys', async () => {
      const answer = JSON.parse(await bodyOf(await server.get('/integers?count=3&entropy_mode=pure')));
      const document = await certificateOf(answer.metadata.certificate_id);
      const original = { answer, document, keys: JSON.parse(await keys()) };
      const cases: [change: (copy: typeof original) => void, fails: string][] = [
        [(c) => (c.answer.data.values[1] ^= 1), 'delivered'],
        [(c) => (c.answer.data.max += 1), 'delivered'],
        [(c) => (c.answer.metadata.certificate_salt = '0'.repeat(64)), 'delivered'],
        [(c) => (c.answer.metadata.certificate_id = `cert_${'0'.repeat(26)}`), 'certificate id'],
        [(c) => (c.answer.metadata.request_id = `req_${'0'.repeat(26)}`), 'request id'],
        [(c) => (c.answer.meta.request_id = '00000000-0000-7000-8000-000000000000'), 'request id'],
        [(c) => (c.answer.metadata.timestamp = '2026-01-01T00:00:00.000Z'), 'metadata'],
        [(c) => (c.answer.metadata.entropy_origin = 'quantum-processor'), 'metadata'],
        [(c) => (c.answer.metadata.nist_verified = 'yes'), 'metadata'],
        [
          (c) => (c.document.certificate.hashes.delivered = `sha256:${'0'.repeat(64)}`),
          'delivered, inclusion',
        ],
        [(c) => (c.document.certificate.provenance.origin = 'qrng-device'), 'metadata, inclusion'],
        [(c) => (c.document.certificate.status = 'test'), 'status'],
        [(c) => (c.document.certificate.proof = null), 'inclusion, signature'],
        [
          (c) => (c.keys.keys[0].public_key = Buffer.alloc(32, 9).toString('base64')),
          'keys, signature, fixed',
        ],
        [(c) => (c.keys.origin = 'elsewhere.example/log'), 'keys, signature, fixed'],
      ];
      for (const [change, fails] of cases) {
        const copy = structuredClone(original);
        change(copy);
        const [saved, certificate, key] = [copy.answer, copy.document, copy.keys].map((part) =>
          save(JSON.stringify(part)),
        );
        const done = await runCommand(verify, [saved, '--certificate', certificate, '--keys', key]);
        assert.equal(done.status, 1, change.toString());
        assert.ok(done.talk.endsWith(`: not verified: ${fails} failed\n`), `${change}: ${done.talk}`);
      }
    });

    it('names what does not fit in the certificate of another answer', async () => {
      const [one, other] = await Promise.all(
        [0, 1].map(async () => JSON.parse(await bodyOf(await server.get('/integers'))) as Answer),
      );
      const certificate = save(JSON.stringify(await certificateOf(other.metadata.certificate_id)));
      const args = [save(JSON.stringify(one)), '--certificate', certificate, '--keys', save(await keys())];
      const { status, talk } = await runCommand(verify, args);
      assert.equal(status, 1);
      assert.match(talk, /: not verified: certificate id, request id, (metadata, )?delivered failed\n$/);
    });
  });

  describe('a coin flip', () => {
    const sha256 = (...parts: (Uint8Array | string)[]) => {
      const hash = createHash('sha256');
      for (const part of parts) hash.update(part);
      return `sha256:${hash.digest('hex')}`;
    };

    it('is not given away by its certificate; who has the salt knows it for certain', async () => {
      const answer = JSON.parse(await bodyOf(await server.get('/integers?min=0&max=1'))) as Answer;
      const { certificate_id: id, certificate_salt: salt } = answer.metadata;
      const document = await publicPage(id);
      const { delivered } = document.certificate.hashes;
      const sides = [0, 1].map((value) => canonicalize({ ...answer.data, values: [value] }) ?? '');
      // everything that a reader of the public page could take for a salt
      const told = JSON.stringify(document).match(/[0-9a-f]{64}/g) ?? [];
      const guesses = [Buffer.alloc(0), Buffer.alloc(32), ...told.map((hex) => Buffer.from(hex, 'hex'))];
      for (const guess of guesses) {
        for (const side of sides) assert.notEqual(sha256(guess, side), delivered);
      }
      const known = sides.map((side) => sha256(Buffer.from(salt, 'hex'), side) === delivered);
      const [value] = answer.data['values'] as number[];
      assert.deepEqual(known, [value === 0, value === 1]);

      const page = await bodyOf(await fetchWhole(`${server.origin}/verify/${id}`));
      assert.ok(!page.includes(salt) && !JSON.stringify(document).includes(salt));
    });

    it('has a salt that the service keeps nowhere', async () => {
      const answer = JSON.parse(await bodyOf(await server.get('/integers?min=0&max=1'))) as Answer;
      const { certificate_id: id, certificate_salt: salt, request_id: requestId } = answer.metadata;
      await certificateOf(id);
      const kept = readdirSync(server.dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
      const delivered = Buffer.from((await publicPage(id)).certificate.hashes.delivered.slice(7), 'hex');
      assert.ok(
        kept.some((file) => file.includes(delivered)),
        `the record of ${requestId} is there, so a salt would be seen`,
      );
      for (const file of kept) assert.ok(!file.includes(Buffer.from(salt, 'hex')) && !file.includes(salt));
    });
  });

  describe('what a certificate is answered as', () => {
    it('is a page for a browser, which opens with the id alone', async () => {
      const answer = JSON.parse(await bodyOf(await server.get('/uuid'))) as Answer;
      const { certificate } = await certificateOf(answer.metadata.certificate_id);
      assert.equal(certificate.verify_url, `${server.origin}/verify/${certificate.id}`);
      const response = await fetchWhole(certificate.verify_url, { headers: { accept: 'text/html' } });
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
      const page = await bodyOf(response);
      assert.match(page, /Simulated source: no quantum hardware was involved\./);
      const head = await fetchWhole(certificate.verify_url, { method: 'HEAD' });
      assert.deepEqual([head.status, await head.text()], [200, '']);
      for (const [, path] of page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g))
        assert.equal((await fetchWhole(`${server.origin}${path}`)).status, 200, path);
    });

    it('is one PDF page for a key with the scope', async () => {
      const answer = JSON.parse(await bodyOf(await server.get('/uuid'))) as Answer;
      const { certificate_id: id } = answer.metadata;
      await certificateOf(id);
      const response = await server.get(`/certificate?id=${id}&format=pdf`);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/pdf');
      const pdf = Buffer.from(await response.arrayBuffer());
      assert.equal(pdf.subarray(0, 5).toString('latin1'), '%PDF-');
      const refused = await fetchWhole(`${server.baseUrl}/certificate?id=${id}&format=pdf`);
      assert.equal(refused.status, 401);
    });

    it('is 404 for an id that was never issued', async () => {
      const unknown = `cert_${'0'.repeat(26)}`;
      for (const [path, status] of [
        [`/verify/${unknown}`, 404],
        ['/verify/cert_x', 400],
      ] as const) {
        for (const accept of ['text/html', 'application/json']) {
          const response = await fetchWhole(`${server.origin}${path}`, { headers: { accept } });
          assert.equal(response.status, status);
          await response.arrayBuffer();
        }
      }
      const done = await runCommand(verify, [
        save(JSON.stringify({ data: {}, metadata: { certificate_id: unknown } })),
        '--url',
        server.baseUrl,
      ]);
      assert.equal(done.status, 2, 'it could not be checked');
      assert.match(done.talk, /no such certificate/);
    });
  });
});
