import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { loggedCertificate, usageOf } from '../support/replies.ts';
import { runQrn, TestServer, temporaryFolder } from '../support/server.ts';
import { savedKeys } from './between.ts';

/** Two services in processes of their own, of which the one with a source feeds the one without. */

const CALLS = 8;
const LOTS = 2;

let hub: TestServer;
before(async () => {
  hub = await TestServer.shared();
});

describe('a service that another one feeds', () => {
  it('answers from lots that cite the certificates of the other, and that qrn verify shows', async (t) => {
    const folder = temporaryFolder(t);
    const { key } = await hub.account(
      'enterprise',
      ...[
        '--requests-per-month',
        '100000',
        '--requests-per-minute',
        '10000',
        '--credits-per-month',
        '100000',
      ],
    );
    const keyFile = join(folder, 'api-key');
    writeFileSync(keyFile, key, { mode: 0o600 });
    const credits = LOTS * CALLS * 1024;
    const hubKeys = await hub.keys();
    const fed = TestServer.spawnFor(t, {
      QRN_BACKEND: 'hub',
      QRN_SOURCE_HUB_TYPE: 'qrn',
      QRN_SOURCE_HUB_URL: hub.origin,
      QRN_SOURCE_HUB_API_KEY_FILE: keyFile,
      QRN_SOURCE_HUB_LOG_KEYS: savedKeys(t, hubKeys),
      QRN_SOURCE_HUB_CALLS: String(CALLS),
      QRN_SOURCE_HUB_BUDGET_PER_DAY: String(credits),
    });
    await fed.ready();
    await fed.until('the budget of the day is spent', async () => {
      const [state] = (await fed.checks())['source:state'];
      return /^budget of hub: 16384 of 16384 credits/.test(state.output ?? '');
    });
    assert.equal((await usageOf(hub, key)).credits.used, credits, 'each byte was paid once');

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
      const [lotId] = /lot_[0-9a-z]{26}/.exec(JSON.stringify(certificate)) ?? [];
      const { upstream } = JSON.parse(await fed.qrn('lots', 'show', lotId!, '--json'));
      const { log, certificates: cited } = upstream as { log: string; certificates: string[] };
      assert.deepEqual([log, cited.length], ['qrn.localhost/log', CALLS]);
      for (const id of cited) {
        const shown = await loggedCertificate(hub, id);
        const { ok, checks } = await verifyAnswer({ certificate: shown, keys: hubKeys, requireFixed: true });
        assert.ok(ok, JSON.stringify(checks));
      }
    }
    assert.equal(await fed.stop(), 0, fed.output());
    fed.assertDiscreet([key]);
  });
});
