import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { verify } from '../../src/cli/verify.ts';
import type { HealthReport } from '../../src/http/plain-routes.ts';
import { fetchWhole } from '../support/http.ts';
import { freshDatabase } from '../support/postgres.ts';
import { runCommand } from '../support/run-command.ts';
import { type Environment, temporaryFolder, until } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

interface Answer {
  readonly metadata: { readonly certificate_id: string };
}

const PARCEL_BLOCKS = 'qrn_parcel_blocks_total';

/** Two services on one database, in this process. The second one has no source: the first one feeds it. */
suite('two nodes on one PostgreSQL', () => {
  const folders = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `qrn-node-${name}-`)));
  const nodes: LocalService[] = [];

  before(async () => {
    const url = await freshDatabase();
    for (const [i, name] of ['a', 'b'].entries()) {
      if (i > 0) cpSync(join(folders[0], 'keys'), join(folders[i], 'keys'), { recursive: true });
      const source: Environment = name === 'b' ? { QRN_BACKEND: 'none' } : {};
      const environment = { QRN_LEDGER: url, QRN_NODE: name, ...source };
      nodes.push(await LocalService.start(environment, {}, { dataDir: folders[i] }));
    }
    await Promise.all(nodes.map(({ service }) => service.ready));
  });

  after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  test('serve the same key, and on either node the answers of both verify against one log', async (t) => {
    const [a, b] = nodes;
    await b.knows(a.key);
    const answers: string[] = [];
    for (const { service } of nodes) {
      const url = `${service.baseUrl}/integers?count=3&min=1&max=6`;
      const response = await fetchWhole(url, { headers: { 'x-api-key': a.key } });
      assert.equal(response.status, 200);
      answers.push(await response.text());
    }
    const path = join(temporaryFolder(t), 'answer.json');
    const proofs: string[][] = [];
    for (const answer of answers) {
      writeFileSync(path, answer);
      const { certificate_id: id } = (JSON.parse(answer) as Answer).metadata;
      proofs.push(await Promise.all(nodes.map((node) => proofOf(node, id))));
      for (const { service } of nodes) {
        const verified = await runCommand(verify, [path, '--url', service.baseUrl]);
        assert.equal(verified.status, 0, verified.out + verified.talk);
      }
    }
    for (const [first, second] of proofs) assert.equal(first, second);
    assert.notEqual(proofs[0][0], proofs[1][0]);
    const audit = await a.service.ledger.audit();
    assert.deepEqual(audit.problems, []);
    assert.equal(audit.certificates, 2);
  });

  test('a node without a source draws pure and seeded values from lots of the other, which verify', async (t) => {
    const [a, b] = nodes;
    await b.knows(a.key);
    const path = join(temporaryFolder(t), 'answer.json');
    const lots = (await a.service.ledger.lots(100)).filter(({ source }) => source === 'simulator');
    for (const mode of ['pure', 'quantum-seeded']) {
      const url = `${b.service.baseUrl}/bytes?count=32&entropy_mode=${mode}`;
      const response = await fetchWhole(url, { headers: { 'x-api-key': a.key } });
      const answer = await response.text();
      assert.equal(response.status, 200, answer);
      writeFileSync(path, answer);
      const { certificate_id: id } = (JSON.parse(answer) as Answer).metadata;
      await proofOf(a, id);
      const verified = await runCommand(verify, [path, '--url', a.service.baseUrl, '--require-fixed']);
      assert.equal(verified.status, 0, verified.out + verified.talk);
      const { body } = await a.ask(`/certificate?id=${id}`);
      const certificate = JSON.stringify(body);
      assert.ok(certificate.includes(`"${mode}"`), certificate);
      assert.ok(
        lots.some((lot) => certificate.includes(lot.id)),
        certificate,
      );
    }
    const { status, body } = await b.ask<HealthReport>('/health');
    assert.equal(status, 200, JSON.stringify(body));
    const moved = async (node: LocalService) =>
      (await node.metrics())
        .get(PARCEL_BLOCKS)
        ?.samples.get(PARCEL_BLOCKS)
        ?.map(({ value }) => value) ?? [];
    const [, received, burned] = await moved(b); // read first: more may come
    const [sent, , lost] = await moved(a);
    assert.ok(received > 0 && received <= sent, `${received} of ${sent} blocks arrived`);
    assert.deepEqual([burned, lost], [0, 0]);
    const page = await (await fetchWhole(`${b.origin}/`)).text();
    assert.match(page, /OTHER NODES: this node has no source of its own\./);
  });
});

/** The proof that the node gives of a certificate, when it gives one. */
async function proofOf({ service, key }: LocalService, id: string): Promise<string> {
  let proof: string | null = null;
  await until(`${id} is proven`, async () => {
    const url = `${service.baseUrl}/certificate?id=${id}`;
    const response = await fetchWhole(url, { headers: { 'x-api-key': key } });
    assert.equal(response.status, 200);
    ({ proof } = ((await response.json()) as { certificate: { proof: string | null } }).certificate);
    return proof !== null;
  });
  assert.ok(proof !== null);
  return proof;
}
