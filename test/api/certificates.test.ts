import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import { verify } from '../../clients/typescript/program/verify.ts';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { ENTROPY_MODES } from '../../src/core/vocabulary.ts';
import { fetchWhole } from '../support/http.ts';
import { loggedCertificate } from '../support/replies.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TestServer } from '../support/server.ts';

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

  const publicDocument = (id: string) => loggedCertificate(server, id);

  /** Fetches the same certificate from the API, with a key. */
  async function certificateOf(id: string): Promise<CertificateDocument> {
    await publicDocument(id);
    return JSON.parse(await bodyOf(await server.get(`/certificate?id=${id}`)));
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
    for (const document of [await certificateOf(id), await publicDocument(id)]) {
      const certificate = save(JSON.stringify(document));
      const offline = await runCommand(verify, [answer, '--certificate', certificate, '--keys', key]);
      assert.equal(offline.status, 0, offline.out + offline.talk);
    }
  }

  describe('every answer', () => {
    for (const mode of ENTROPY_MODES) {
      it(`verifies on each endpoint in ${mode} mode, online and offline`, async () => {
        for (const path of PATHS)
          await assertVerifies(await bodyOf(await server.get(`${path}&entropy_mode=${mode}`)));
        for (const batch of BATCHES)
          await assertVerifies(await bodyOf(await server.batch({ ...batch, entropy_mode: mode })));
      });
    }
  });

  describe('a coin flip', () => {
    const sha256 = (...parts: (Uint8Array | string)[]) => {
      const hash = createHash('sha256');
      for (const part of parts) hash.update(part);
      return `sha256:${hash.digest('hex')}`;
    };

    it('is not revealed by its certificate, and is proven to anyone with the salt', async () => {
      const answer = JSON.parse(await bodyOf(await server.get('/integers?min=0&max=1'))) as Answer;
      const { certificate_id: id, certificate_salt: salt } = answer.metadata;
      const document = await publicDocument(id);
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

    it('has a salt that the service does not keep', async () => {
      const answer = JSON.parse(await bodyOf(await server.get('/integers?min=0&max=1'))) as Answer;
      const { certificate_id: id, certificate_salt: salt, request_id: requestId } = answer.metadata;
      await certificateOf(id);
      const kept = readdirSync(server.dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
      const delivered = Buffer.from((await publicDocument(id)).certificate.hashes.delivered.slice(7), 'hex');
      assert.ok(
        kept.some((file) => file.includes(delivered)),
        `the record of ${requestId} is there, so a salt would be seen`,
      );
      for (const file of kept) assert.ok(!file.includes(Buffer.from(salt, 'hex')) && !file.includes(salt));
    });
  });
});
