import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { fetchWhole } from '../support/http.ts';
import { missing, writeSelfSigned } from '../support/programs.ts';
import { bodyOf, loggedCertificate, usageOf } from '../support/replies.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { type Environment, runQrn, TestServer } from '../support/server.ts';
import { savedKeys } from './between.ts';
import { followCitations } from './citations.ts';

/** Two services in processes of their own, of which the one with a source feeds the one without, over TLS. */

const CALLS = 8;
const LOTS = 2;

let hub: TestServer;
before(async () => {
  hub = await TestServer.shared();
});

/** The hub behind a proxy that speaks TLS, with a certificate that nobody signed. */
async function behindTls(t: TestContext): Promise<{ origin: string; authority: string }> {
  const folder = scratchFolder();
  const [key, authority] = [join(folder, 'key.pem'), join(folder, 'authority.pem')];
  writeSelfSigned(key, authority);
  const proxy = createServer({ key: readFileSync(key), cert: readFileSync(authority) }, (came, reply) => {
    const { method, headers, url = '/' } = came;
    const passed = request(new URL(url, hub.origin), { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(reply);
    });
    passed.on('error', () => reply.destroy());
    came.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { origin: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`, authority };
}

/** An account of the hub, and the settings of a service that it feeds. */
async function fedBy(url: string): Promise<{ key: string; settings: Environment }> {
  const { key } = await hub.account(
    'enterprise',
    ...['--requests-per-month', '100000', '--requests-per-minute', '10000', '--credits-per-month', '100000'],
  );
  const keyFile = join(scratchFolder(), 'api-key');
  writeFileSync(keyFile, key, { mode: 0o600 });
  const settings = {
    QRN_BACKEND: 'hub',
    QRN_SOURCE_HUB_TYPE: 'qrn',
    QRN_SOURCE_HUB_URL: url,
    QRN_SOURCE_HUB_API_KEY_FILE: keyFile,
    QRN_SOURCE_HUB_LOG_KEYS: savedKeys(await hub.keys()),
    QRN_SOURCE_HUB_CALLS: String(CALLS),
    QRN_SOURCE_HUB_BUDGET_PER_DAY: String(LOTS * CALLS * 1024),
  };
  return { key, settings };
}

describe('a service that another one feeds over TLS', { skip: missing('openssl', 'openssl') }, () => {
  it('answers from lots that cite the certificates of the other, for every reader of a certificate', async (t) => {
    const folder = scratchFolder();
    const { origin, authority } = await behindTls(t);
    const { key, settings } = await fedBy(origin);
    const hubKeys = await hub.keys();
    const fed = TestServer.spawnFor(t, { ...settings, NODE_EXTRA_CA_CERTS: authority });
    await fed.ready();
    await fed.until('the budget of the day is spent', async () => {
      const [state] = (await fed.checks())['source:state'];
      return /^budget of hub: 16384 of 16384 credits/.test(state.output ?? '');
    });
    assert.equal((await usageOf(hub, key)).credits.used, LOTS * CALLS * 1024, 'each byte was paid once');

    const cited = new Set<string>();
    for (const mode of ['pure', 'quantum-seeded']) {
      const reply = await fed.get(`/bytes?count=64&entropy_mode=${mode}`);
      assert.equal(reply.status, 200);
      assert.equal(
        reply.headers.get('x-entropy-origin'),
        'simulated',
        'the origin of the hub, and no better',
      );
      assert.equal(reply.headers.get('x-quantum-backend'), 'simulator-statevector');
      const answer = join(folder, `${mode}.json`);
      const body = (await reply.json()) as { readonly metadata: { readonly certificate_id: string } };
      const own = body.metadata.certificate_id;
      writeFileSync(answer, JSON.stringify(body));
      const certificate = await loggedCertificate(fed, own);
      const { code, stdout, stderr } = await runQrn(folder, ['verify', answer, '--url', fed.origin]);
      assert.equal(code, 0, stdout + stderr);
      const ids = await followCitations(certificate, (id) => loggedCertificate(hub, id), hubKeys);
      assert.equal(ids.length, CALLS * certificate.lots.length);
      for (const id of ids) cited.add(id);
      const { body: asked } = await bodyOf<CertificateDocument>(fed.get(`/certificate?id=${own}`));
      assert.deepEqual(asked.lots[0].leaf.upstream, certificate.lots[0].leaf.upstream);
      const page = await (await fetchWhole(`${fed.origin}/verify/${own}`)).text();
      for (const id of ids) assert.ok(page.includes(id), `the page names ${id}`);
    }
    assert.ok(cited.size >= CALLS);
    assert.equal(await fed.stop(), 0, fed.output());
    fed.assertDiscreet([key]);
  });

  it('accepts nothing from a service whose TLS certificate nobody vouches for, and says what to set', async (t) => {
    const { origin } = await behindTls(t);
    const { key, settings } = await fedBy(origin);
    const { code, stdout, stderr } = await runQrn(
      scratchFolder(),
      ['sources', 'test', 'hub', '--spend'],
      settings,
    );
    assert.notEqual(code, 0);
    assert.match(stdout + stderr, /self-signed certificate: .*NODE_EXTRA_CA_CERTS/);
    assert.equal((await usageOf(hub, key)).credits.used, 0);
  });
});
