import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { bearer, failedChecks, loggedCertificate, refusalOf, usageOf } from '../support/replies.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await TestServer.shared();
});

interface Body {
  readonly data: { readonly values: readonly number[] };
  readonly label?: Readonly<Record<string, unknown>>;
  readonly metadata: { readonly certificate_id: string };
}

const ENTROPY = 'C0FFEE'.repeat(20);
const DIGEST = `sha256:${createHash('sha256').update(Buffer.from(ENTROPY, 'hex')).digest('hex')}`;

describe('client_entropy', () => {
  it('is certified by its hash, of small answers and of large ones, in every mode but pure', async () => {
    const { key } = await server.account('pro');
    const large = { type: 'integers', count: 20_000, params: { max: 1_000_000 }, client_entropy: ENTROPY };
    const answers: Body[] = [];
    for (const mode of ['quantum-seeded', 'csprng']) {
      const path = `/integers?count=3&client_entropy=${ENTROPY}&entropy_mode=${mode}`;
      answers.push((await (await server.get(path, bearer(key))).json()) as Body);
    }
    answers.push((await (await server.batch(large, bearer(key))).json()) as Body);
    const keys = await server.keys();
    for (const answer of answers) {
      assert.deepEqual(answer.label, { client_entropy_sha256: DIGEST, public: false });
      const certificate = await loggedCertificate(server, answer.metadata.certificate_id);
      const found = await verifyAnswer({ response: answer, certificate, keys });
      assert.deepEqual(failedChecks(found), []);
      const label = {
        ...answer.label,
        client_entropy_sha256: DIGEST.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      };
      const forged = await verifyAnswer({ response: { ...answer, label }, certificate, keys });
      assert.deepEqual(failedChecks(forged), ['label']);
    }
    assert.equal(new Set(answers.map(({ data }) => data.values.join())).size, 3);
  });

  it('is mixed into each block of a stream, and refused for a stream of pure mode', async () => {
    const { key } = await server.account('pro');
    const path = `/stream?type=bytes&total=5&block=2&length=16&client_entropy=${ENTROPY}`;
    const lines = (await (await server.get(path, bearer(key))).text()).split('\n').slice(0, 3);
    const blocks = lines.map((line) => JSON.parse(line) as Body);
    assert.equal(new Set(blocks.flatMap(({ data }) => data.values)).size, 5);
    const labels = blocks.map(({ label }) => label?.['client_entropy_sha256']);
    assert.deepEqual(labels, [DIGEST, DIGEST, DIGEST]);
    const pure = server.get(`${path}&entropy_mode=pure`, bearer(key));
    assert.equal(await refusalOf(pure), '400 invalid_client_entropy');
  });

  it('is refused in pure mode and unless it has 1 to 64 bytes, and nothing is spent', async () => {
    const { key } = await server.account('pro');
    const refused = ['ab&entropy_mode=pure', '', 'a', 'abc', 'xy', 'ab '.repeat(2), 'ab'.repeat(65)];
    for (const query of refused) {
      const reply = server.get(`/integers?client_entropy=${query}`, bearer(key));
      assert.equal(await refusalOf(reply), '400 invalid_client_entropy', query);
    }
    const { credits, by_endpoint } = await usageOf(server, key);
    assert.deepEqual([credits.used, by_endpoint.integers.requests], [0, 0]);
  });

  it('is part of what a retry under an Idempotency-Key must repeat', async () => {
    const { key } = await server.account('pro');
    const fields = { ...bearer(key), 'idempotency-key': 'client-entropy' };
    const ask = (entropy: string) => server.get(`/integers?client_entropy=${entropy}`, fields);
    const first = await (await ask('ab')).text();
    assert.equal(await (await ask('ab')).text(), first);
    assert.equal((await ask('cd')).status, 422);
  });
});
