import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { verify } from '../../src/cli/verify.ts';
import { fetchWhole } from '../support/http.ts';
import { freshDatabase } from '../support/postgres.ts';
import { runCommand } from '../support/run-command.ts';
import { temporaryFolder, until } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

interface Answer {
  readonly metadata: { readonly certificate_id: string };
}

/** Two services on one database, in this process. */
suite('two nodes on one PostgreSQL', () => {
  const folders = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `qrn-node-${name}-`)));
  const nodes: LocalService[] = [];

  before(async () => {
    const url = await freshDatabase();
    for (const [i, name] of ['a', 'b'].entries()) {
      if (i > 0) cpSync(join(folders[0], 'keys'), join(folders[i], 'keys'), { recursive: true });
      nodes.push(await LocalService.start({ QRN_LEDGER: url, QRN_NODE: name }, {}, { dataDir: folders[i] }));
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
