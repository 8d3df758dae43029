import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { createAccount, createKey } from '../../src/account/administration.ts';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { systemClock } from '../../src/core/clock.ts';
import { ClusterNode } from '../adversary/cluster/node.ts';
import { openTool } from '../adversary/cluster/tool.ts';
import { fetchWhole } from '../support/http.ts';
import { freshDatabase } from '../support/postgres.ts';
import { freePort } from '../support/programs.ts';
import { bodyOf } from '../support/replies.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { type Environment, until } from '../support/server.ts';
import { followCitations } from './citations.ts';

/** docs/cluster.md, "One device for three nodes". */

const CALLS = 8;

async function node(
  t: TestContext,
  url: string,
  name: string,
  environment: Environment,
): Promise<ClusterNode> {
  const made = new ClusterNode({
    name,
    dataDir: join(scratchFolder(), name),
    url,
    port: await freePort(),
    environment,
  });
  t.after(() => made.kill());
  return made;
}

const originOf = ({ listeningPort }: ClusterNode) => `http://127.0.0.1:${listeningPort}`;

/** The certificate as this node shows it, once it is logged. */
async function shownBy(from: ClusterNode, id: string): Promise<CertificateDocument> {
  let document: CertificateDocument | undefined;
  await until(`${from.name} shows ${id} with its proof`, async () => {
    const accept = { accept: 'application/json' };
    const shown = await bodyOf<CertificateDocument>(
      fetchWhole(`${originOf(from)}/verify/${id}`, { headers: accept }),
    );
    document = shown.body;
    return shown.status === 200 && document.certificate.proof !== null;
  });
  return document!;
}

it('three nodes on PostgreSQL, of which one has the source serve pure bytes on each, and the two that are fed cite certificates of the one log', async (t) => {
  const url = await freshDatabase();
  const first = await node(t, url, 'n1', {});
  await first.start();
  const ledger = await openTool(url, scratchFolder());
  const account = await createAccount(ledger, systemClock, {
    name: 'feed',
    tier: 'enterprise',
    overrides: {
      requestsPerMonth: 100_000,
      creditsPerMonth: 1_000_000,
      requestsPerMinute: null,
      seedIntervalMs: null,
    },
  });
  const { text: key } = await createKey(ledger, systemClock, { accountId: account.id });
  await ledger.close();
  const keys: unknown = await (await fetchWhole(`${originOf(first)}/.well-known/qrn-keys.json`)).json();
  const folder = scratchFolder();
  const [keyFile, logKeys] = [join(folder, 'api-key'), join(folder, 'log-keys.json')];
  writeFileSync(keyFile, key, { mode: 0o600 });
  writeFileSync(logKeys, JSON.stringify(keys));
  const fed = await Promise.all(
    ['n2', 'n3'].map((name) =>
      node(t, url, name, {
        QRN_BACKEND: `feed-${name}`,
        ...sourceSettings(`FEED_${name.toUpperCase()}`, originOf(first), keyFile, logKeys),
      }),
    ),
  );
  for (const each of fed) each.copySecrets(first);
  await Promise.all(fed.map((each) => each.start()));

  const cited: string[] = [];
  for (const [i, each] of fed.entries()) {
    const headers = { authorization: `Bearer ${key}` };
    const reply = await bodyOf<{ metadata: { certificate_id: string; entropy_origin: string } }>(
      fetchWhole(`${originOf(each)}/v1/bytes?count=64&entropy_mode=pure`, { headers }),
    );
    assert.equal(reply.status, 200, each.output);
    const { certificate_id: id, entropy_origin: origin } = reply.body.metadata;
    assert.equal(origin, 'simulated');
    // any node shows it: the other one that is fed, and the one that feeds
    const certificate = await shownBy(fed[1 - i], id);
    const { ok, checks } = await verifyAnswer({
      response: reply.body,
      certificate,
      keys,
      requireFixed: true,
    });
    assert.ok(ok, JSON.stringify(checks));
    assert.deepEqual(
      certificate.lots.map(({ leaf }) => leaf.source),
      [`feed-${each.name}`],
    );
    cited.push(...(await followCitations(certificate, (other) => shownBy(first, other), keys)));
  }
  assert.equal(new Set(cited).size, 2 * CALLS, 'no answer feeds two nodes');
  for (const each of [first, ...fed]) assert.deepEqual([...each.violations], []);
});

function sourceSettings(name: string, url: string, keyFile: string, logKeys: string): Environment {
  return {
    [`QRN_SOURCE_${name}_TYPE`]: 'qrn',
    [`QRN_SOURCE_${name}_URL`]: url,
    [`QRN_SOURCE_${name}_API_KEY_FILE`]: keyFile,
    [`QRN_SOURCE_${name}_LOG_KEYS`]: logKeys,
    [`QRN_SOURCE_${name}_CALLS`]: String(CALLS),
    [`QRN_SOURCE_${name}_BUDGET_PER_DAY`]: '100000',
  };
}
