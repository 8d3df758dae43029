import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { verify } from '../../clients/typescript/program/verify.ts';
import { createAccount, createKey } from '../../src/account/administration.ts';
import type { Usage } from '../../src/account/usage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { parseNote, parseProof } from '../../src/crypto/note.ts';
import type { AccountOverrides } from '../../src/ledger/records.ts';
import { fetchWhole } from '../support/http.ts';
import { Link } from '../support/link.ts';
import { databaseOf, freshDatabase, socketOf } from '../support/postgres.ts';
import { freshMetrics } from '../support/prometheus.ts';
import { runCommand, runQrnHere } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { until } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

interface Answer {
  readonly metadata: { readonly certificate_id: string };
  readonly quantum_credits: { readonly remaining: number };
}

/** Two services on one database, in this process. */
suite('two nodes on one PostgreSQL', () => {
  const folders = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `qrn-node-${name}-`)));
  const nodes: LocalService[] = [];
  let url: string;
  /** The URL of the database over the link. */
  let linked: string;
  /** The link between the second node and the database. */
  let link: Link;

  function start(i: number): Promise<LocalService> {
    const environment = [
      { QRN_LEDGER: url, QRN_NODE: 'a' },
      { QRN_LEDGER: linked, QRN_NODE: 'b' },
    ];
    return LocalService.start(environment[i], {}, { dataDir: folders[i] });
  }

  before(async () => {
    url = await freshDatabase();
    link = await Link.open(socketOf(url));
    linked = `postgres://qrn@127.0.0.1:${link.port}/${databaseOf(url)}`;
    for (const i of [0, 1]) {
      if (i > 0) cpSync(join(folders[0], 'keys'), join(folders[i], 'keys'), { recursive: true });
      nodes.push(await start(i));
    }
    await Promise.all(nodes.map(({ service }) => service.ready));
  });

  after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    link.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  test('accept the same key, and on either node the answers of both verify against one log', async () => {
    const [a, b] = nodes;
    await b.knows(a.key);
    const answers: string[] = [];
    for (const { service } of nodes) {
      const url = `${service.baseUrl}/integers?count=3&min=1&max=6`;
      const response = await fetchWhole(url, { headers: { 'x-api-key': a.key } });
      assert.equal(response.status, 200);
      answers.push(await response.text());
    }
    const path = join(scratchFolder(), 'answer.json');
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

  test('let an account use its quota and credits exactly once over both nodes, to the last', async () => {
    const { status, answers } = await spendOn(nodes, { requestsPerMonth: 12, creditsPerMonth: 64 });
    assert.deepEqual(status, { 200: 12, 429: 12 });
    const left = answers.slice(0, 4).map(({ quantum_credits: credits }) => credits.remaining);
    assert.deepEqual(left, [48, 32, 16, 0]);
  });

  test('report on each node what an account has used on both: what was answered', async () => {
    const { ledger } = nodes[0].service;
    const account = await createAccount(ledger, systemClock, { name: 'usage', tier: 'pro' });
    const { text } = await createKey(ledger, systemClock, { accountId: account.id });
    await Promise.all(nodes.map((node) => node.knows(text)));
    for (let i = 0; i < 6; i++) {
      const mode = i < 2 ? 'pure' : 'csprng';
      assert.equal((await nodes[i % 2].ask(`/bytes?count=16&entropy_mode=${mode}`, text)).status, 200);
    }
    for (const node of nodes) {
      const { body } = await node.ask<{ data: Pick<Usage, 'requests' | 'credits'> }>('/usage', text);
      const { requests, credits } = body.data;
      assert.deepEqual([requests.used, requests.remaining], [6, requests.limit - 6]);
      assert.deepEqual([credits.used, credits.remaining], [32, credits.total - 32]);
    }
  });

  test('give one answer to an Idempotency-Key that both receive at the same time', async () => {
    const [a, b] = nodes;
    await b.knows(a.key);
    const headers = { 'x-api-key': a.key, 'idempotency-key': 'both' };
    const ids = new Set<string>();
    for (let i = 0; i < 4; i++) {
      const replies = await Promise.all(
        nodes.map(({ service }) => fetchWhole(`${service.baseUrl}/uuid?count=1`, { headers })),
      );
      for (const reply of replies) {
        if (reply.status === 200) ids.add(((await reply.json()) as Answer).metadata.certificate_id);
        else assert.equal(reply.status, 409);
      }
    }
    assert.equal(ids.size, 1);
    const url = `${b.service.baseUrl}/uuid?count=2`;
    assert.equal((await fetchWhole(url, { headers })).status, 422);
  });

  test('refuse a key on both nodes once the command that revoked it returns', async () => {
    const [a, b] = nodes;
    const qrn = (...args: string[]) => runQrnHere(a.dataDir, args, { QRN_LEDGER: url, QRN_NODE: 'tool' });
    const made = await qrn('accounts', 'create', '--name', 'c', '--tier', 'pro', '--json');
    const { key, key_id: keyId } = JSON.parse(made.stdout) as { key: string; key_id: string };
    for (const node of nodes)
      await until('it is served', async () => (await node.ask('/uuid', key)).status === 200);
    const revoked = await qrn('keys', 'revoke', keyId, '--yes');
    assert.deepEqual([revoked.code, revoked.stderr], [0, '']);
    for (const node of [b, a]) assert.equal((await node.ask('/uuid', key)).status, 401);
    const lots = JSON.parse((await qrn('lots', 'list', '--json')).stdout) as { lot_id: string }[];
    assert.ok(lots.length >= 1);
  });

  test('are listed by qrn cluster status', async () => {
    const { code, stdout } = await runQrnHere(nodes[0].dataDir, ['cluster', 'status', '--json'], {
      QRN_LEDGER: url,
    });
    const { nodes: listed } = JSON.parse(stdout) as {
      nodes: { name: string; state: string; epoch: number }[];
    };
    assert.equal(code, 0);
    assert.deepEqual(
      listed.map(({ name, state, epoch }) => [name, state, epoch]),
      [
        ['a', 'runs', 1],
        ['b', 'runs', 1],
      ],
    );
  });

  test('sign with a rotated key once one of them has it, and refuse to sign without', async () => {
    const [a, b] = nodes;
    const environment = { QRN_LEDGER: url, QRN_NODE: 'a' };
    const rotated = await runQrnHere(folders[0], ['log', 'rotate-key', '--json', '--yes'], environment);
    assert.equal(rotated.code, 0, rotated.stderr);
    assert.match(rotated.stderr, /^Copy .*keys to every other node, then restart all nodes/m);
    const { key_id: keyId } = JSON.parse(rotated.stdout) as { key_id: string };
    // b takes the log over, and has the old key alone
    await a.stop();
    nodes[0] = await start(0);
    const again = nodes[0];
    await Promise.all([again.service.ready, b.knows(again.key)]);
    let answer = '';
    await until('it answers all the same', async () => {
      const reply = await fetchWhole(`${b.service.baseUrl}/uuid`, { headers: { 'x-api-key': again.key } });
      answer = await reply.text();
      return reply.status === 200;
    });
    const { certificate_id: id } = (JSON.parse(answer) as Answer).metadata;
    const proof = await proofOf(again, id);
    const signedBy = parseNote(parseProof(proof)?.note ?? '')?.signatures.map((each) => each.keyId);
    assert.ok(signedBy?.includes(keyId), `${signedBy?.join()} without ${keyId}`);
    const path = join(scratchFolder(), 'answer.json');
    writeFileSync(path, answer);
    const verified = await runCommand(verify, [path, '--url', again.service.baseUrl]);
    assert.equal(verified.status, 0, verified.out + verified.talk);
    await b.stop();
    await assert.rejects(
      start(1),
      new RegExp(`the log is signed with the key ${keyId}, which this process does not have`),
    );
    cpSync(join(folders[0], 'keys'), join(folders[1], 'keys'), { recursive: true });
    nodes[1] = await start(1);
    assert.equal(await proofOf(nodes[1], id), proof);
  });

  test('a node that hears nothing from the database is soon not ready', async () => {
    const [, b] = nodes;
    const ready = async () => (await (await fetchWhole(`${b.origin}/readyz`)).text()).trim();
    await until('it is ready', async () => (await ready()) === 'ready');
    link.cut();
    // within a minute: the system would give the connection up after a quarter of an hour
    await until('it is not ready', async () => (await ready()) === 'database-away');
    link.healWithLoss();
    await until('it is ready again', async () => (await ready()) === 'ready');
  });

  test('a node that loses the database answers 503, reports it, and recovers by itself', async () => {
    const [a, b] = nodes;
    const isUp = async () => /^qrn_database_up 1$/m.test(await freshMetrics(b.origin));
    const ready = async () => (await (await fetchWhole(`${b.origin}/readyz`)).text()).trim();
    assert.equal((await b.checks())['ledger:database'][0].status, 'pass');
    assert.ok(await isUp());
    link.setAway(true);
    await until('it refuses', async () => (await b.ask('/uuid', a.key)).status === 503);
    const refused = await b.ask<{ error: { code: string } }>('/uuid', a.key);
    assert.equal(refused.status, 503);
    assert.equal(refused.body.error.code, 'storage_unavailable');
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    await until('it is not ready', async () => (await ready()) === 'database-away');
    assert.ok(!(await isUp()));
    assert.equal((await b.checks())['ledger:database'][0].status, 'fail', 'health answers');
    assert.equal((await fetchWhole(`${b.origin}/livez`)).status, 200);
    assert.equal((await a.ask('/uuid', a.key)).status, 200, 'the other node goes on');
    link.setAway(false);
    await until('it is ready', async () => (await ready()) === 'ready');
    await until('it answers', async () => (await b.ask('/uuid', a.key)).status === 200);
    assert.deepEqual((await a.service.ledger.audit()).problems, []);
  });
});

/** The first statement of a start in the ledger's thread, and the last in the main thread. */
for (const [during, statement] of [
  ['it opens the log', 'store_get'],
  ['it makes the demo account', 'store_put'],
] as const) {
  test(`a node whose database goes away while ${during} ends, and names the address where PostgreSQL does not answer`, async (t) => {
    const url = await freshDatabase();
    const away = await Link.openFor(t, socketOf(url));
    const place = `127.0.0.1:${away.port}/${databaseOf(url)}`;
    away.setAwayAt(statement);
    const environment = {
      QRN_LEDGER: `postgres://qrn:geheim@${place}`,
      QRN_NODE: 'a',
      QRN_PORT: '0',
      QRN_LOG_LEVEL: 'silent',
    };
    const { code, stdout, stderr } = await runQrnHere(scratchFolder(), ['serve'], environment);
    assert.equal(
      stderr,
      `qrn serve: PostgreSQL does not answer at postgres://${place}: start it, or correct QRN_LEDGER\n`,
    );
    assert.deepEqual([code, stdout], [1, '']);
  });
}

/** Sends 24 requests by turns to both nodes, four of them for 16 pure bytes, and returns the count of each status. */
async function spendOn(
  nodes: readonly LocalService[],
  overrides: Partial<AccountOverrides>,
): Promise<{ status: Record<number, number>; answers: Answer[] }> {
  const { ledger } = nodes[0].service;
  const wish = { name: 'spender', tier: 'enterprise', overrides } as const;
  const account = await createAccount(ledger, systemClock, wish);
  const { text } = await createKey(ledger, systemClock, { accountId: account.id });
  await Promise.all(nodes.map((node) => node.knows(text)));
  const status: Record<number, number> = {};
  const answers: Answer[] = [];
  let early = 0;
  for (let i = 0; i < 24; ) {
    const mode = i < 4 ? 'pure' : 'csprng';
    const { service } = nodes[i % nodes.length];
    const url = `${service.baseUrl}/bytes?count=16&entropy_mode=${mode}`;
    const reply = await fetchWhole(url, { headers: { 'x-api-key': text } });
    // refused while the other node holds what is left, which it gives back
    const isEarly = reply.status === 503 || (reply.status === 429 && answers.length < 12);
    if (isEarly) {
      assert.ok(++early < 2_000, `${answers.length} of 12 answers, then only ${reply.status}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    status[reply.status] = (status[reply.status] ?? 0) + 1;
    if (reply.status === 200) answers.push((await reply.json()) as Answer);
    i++;
  }
  return { status, answers };
}

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
