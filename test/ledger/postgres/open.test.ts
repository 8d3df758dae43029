import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { withoutPassword } from '../../../src/config/parsers.ts';
import type { ApiError } from '../../../src/core/errors.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { LedgerError } from '../../../src/ledger/ledger.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import { openFailure } from '../../../src/ledger/postgres/failure.ts';
import { fence } from '../../../src/ledger/postgres/node.ts';
import { openPostgresLedger, type PostgresLedger } from '../../../src/ledger/postgres/postgres-ledger.ts';
import { takeFolder } from '../../../src/ledger/server-socket.ts';
import { FORMAT } from '../../../src/ledger/tables.ts';
import { temporaryFolder } from '../../support/ledger-folder.ts';
import { block, lot, lotId, NOON_MS } from '../../support/ledger-records.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { administer, emptiedDatabase, emptyDatabase, freshDatabase } from '../../support/postgres.ts';
import { addReleased } from '../../support/released-lots.ts';

/** A node on a folder of its own; closed with the test. */
async function openNode(
  t: TestContext,
  url: string,
  more: Partial<Parameters<typeof openPostgresLedger>[0]> = {},
): Promise<PostgresLedger> {
  const ledger = await openPostgresLedger({
    url,
    node: 'a',
    path: more.path ?? temporaryFolder(t),
    clock: new ManualClock(NOON_MS),
    log: silentLog,
    role: 'server',
    durability: 'fsync',
    freeBytesMin: 0,
    ...more,
  });
  t.after(() => ledger.close());
  return ledger;
}

const refusal = (message: RegExp) => ({ name: 'LedgerError', reason: 'unusable', message });

test('a start without PostgreSQL names the address that does not answer, and no password', async (t) => {
  const url = 'postgres://qrn:geheim@127.0.0.1:1/qrn';
  await assert.rejects(
    openNode(t, url),
    refusal(
      /^PostgreSQL does not answer at postgres:\/\/127\.0\.0\.1:1\/qrn: start it, or correct QRN_LEDGER$/,
    ),
  );
});

test('no part of a password is shown, whatever characters it has', () => {
  for (const password of [
    'geheim',
    'a@geheim',
    'geheim/b',
    'geheim?b',
    'a#geheim',
    'a:geheim@b/',
    'geheim@',
  ]) {
    const url = `postgres://qrn:${password}@db,db2/qrn`;
    assert.match(
      openFailure(new Error('x'), url).message,
      / at postgres:\/\/db,db2\/qrn cannot be opened: x$/,
    );
    assert.equal(withoutPassword(url), 'postgres://qrn:***@db,db2/qrn');
  }
  const inQuery = 'postgres://qrn@db/qrn?password=geheim&x=1';
  assert.doesNotMatch(openFailure(new Error('x'), inQuery).message + withoutPassword(inQuery), /geheim/);
});

/** A server that asks for the password in clear text, tells it, and hangs up. */
async function askingServer(t: TestContext, tell: (password: string) => void): Promise<number> {
  const server = createServer((socket) => {
    const ask = Buffer.from('R\0\0\0\x08\0\0\0\x03', 'latin1');
    socket.once('data', () => {
      socket.write(ask);
      // 'p', the size in 4 bytes, the password, 0
      socket.once('data', (bytes) => {
        tell(bytes.toString('utf8', 5, bytes.length - 1));
        socket.destroy();
      });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('every server of a connection string gets the whole password, whatever characters it has', async (t) => {
  const told: string[] = [];
  const ports = [
    await askingServer(t, (password) => told.push(password)),
    await askingServer(t, (password) => told.push(password)),
  ];
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  for (const [typed, password] of [
    ['geheim', 'geheim'],
    ['a@geheim', 'a@geheim'],
    ['a@b,geheim', 'a@b,geheim'],
    ['a%40b%2F%2Cgeheim', 'a@b/,geheim'],
  ]) {
    const url = `postgres://qrn:${typed}@${hosts}/qrn?x=y@z`;
    const database = new Database({ url, log: silentLog, patienceMs: 0 });
    await assert.rejects(database.run({ name: '', text: 'SELECT 1' }), { code: 'storage_unavailable' });
    await database.close();
    assert.deepEqual(told.splice(0), [password, password]);
  }
});

test("a connection sets the parameters that the code relies on, whatever the role's defaults", async (t) => {
  const role = {
    client_min_messages: 'error',
    lock_timeout: '1min',
    statement_timeout: '1min',
    idle_session_timeout: '1min',
    default_transaction_read_only: 'on',
    default_transaction_isolation: 'serializable',
    extra_float_digits: '0',
  };
  const options = Object.entries(role).map(([name, value]) => `-c ${name}=${value}`);
  const url = `${await emptiedDatabase(t)}&options=${encodeURIComponent(options.join(' '))}`;
  const database = new Database({ url, log: silentLog });
  t.after(() => database.close());
  const names = Object.keys(role);
  const text =
    'SELECT array_agg(current_setting(name) ORDER BY n) AS is FROM unnest($1::text[]) WITH ORDINALITY AS s(name, n)';
  const [{ is }] = await database.run<{ is: string[] }>({ name: '', text }, [names]);
  assert.deepEqual(is, ['warning', '0', '0', '0', 'off', 'read committed', '1']);
});

test('a server that is silent for too long counts as lost, unless it works on a long statement or sends rows', async (t) => {
  const database = new Database({
    url: await emptiedDatabase(t),
    log: silentLog,
    silenceMs: 3_000,
    patienceMs: 0,
  });
  t.after(() => database.close());
  const run = (text: string, isLong?: true) => database.run({ name: '', text, ...(isLong && { isLong }) });
  const rows = "SELECT pg_sleep(0.4), repeat('x', 9000) FROM generate_series(1, 12)"; // each fills what the server gathers
  const [silent, long, sending] = await Promise.allSettled([
    run('SELECT pg_sleep(5)'),
    run('SELECT pg_sleep(5)', true),
    run(rows),
  ]);
  assert.equal(silent.status === 'rejected' && (silent.reason as ApiError).code, 'storage_unavailable');
  assert.equal(long.status, 'fulfilled');
  assert.equal(sending.status === 'fulfilled' && sending.value.length, 12);
});

test("PostgreSQL's error decides whether a call is retried, refused or failed", async (t) => {
  const url = await freshDatabase();
  await administer(
    url,
    `CREATE SEQUENCE tries; CREATE FUNCTION fail_twice(code text) RETURNS void LANGUAGE plpgsql AS
      $$ BEGIN IF nextval('tries') <= 2 THEN RAISE EXCEPTION 'planted' USING ERRCODE = code; END IF; END $$`,
  );
  const database = new Database({ url, log: silentLog, connections: 1, patienceMs: 60_000 });
  t.after(() => database.close());
  for (const [code, outcome, tries] of [
    ['40001', 'answered', 3], // rolled back
    ['25006', 'answered', 3], // it has become a standby
    ['57014', 'answered', 3], // cancelled
    ['08006', 'answered', 3],
    ['25P03', 'answered', 3],
    ['53100', 'storage_unavailable', 1], // its disk is full
    ['22012', '22012', 1],
    ['25P02', '25P02', 1],
  ] as const) {
    await administer(url, 'ALTER SEQUENCE tries RESTART');
    const call = database.run({ name: '', text: 'SELECT fail_twice($1)' }, [code]);
    const told = await call.then(
      () => 'answered',
      (error: { code: string }) => error.code,
    );
    const { rows } = await administer<{ n: string }>(url, "SELECT nextval('tries') - 1 AS n");
    assert.deepEqual([code, told, Number(rows[0].n)], [code, outcome, tries]);
  }
});

test('1,024 calls wait for a connection, and the next one is refused at once', async (t) => {
  const database = new Database({ url: await emptiedDatabase(t), log: silentLog, connections: 1 });
  const held = Promise.withResolvers<void>();
  const holding = database.transact(() => held.promise);
  const one = { name: 'one', text: 'SELECT 1' };
  const waiting = Array.from({ length: 1_024 }, () => database.run(one));
  await assert.rejects(database.run(one), { code: 'storage_unavailable' });
  const outcomes = Promise.allSettled(waiting);
  const closed = database.close(); // ends the wait of those that were kept
  held.resolve();
  await holding;
  await closed;
  const reasons = (await outcomes).map(
    (each) => each.status === 'rejected' && (each.reason as LedgerError).reason,
  );
  assert.deepEqual(new Set(reasons), new Set(['stopped']));
});

test('a command makes no schema, and refuses one of an earlier or later build without changing it', async (t) => {
  const url = await emptyDatabase();
  await assert.rejects(
    openNode(t, url, { role: 'tool' }),
    refusal(/^there is no ledger in the database: start a node, or run qrn cluster init$/),
  );
  await (await openNode(t, url)).close();
  for (const [change, told] of [
    ['UPDATE qrn.meta SET schema = schema - 1', FORMAT - 1],
    ['UPDATE qrn.meta SET schema = schema + 2', FORMAT + 1],
    ['ALTER TABLE qrn.meta RENAME schema TO format', 'unknown'],
  ] as const) {
    await administer(url, change);
    const before = (await administer(url, 'SELECT * FROM qrn.meta, qrn.node')).rows;
    const refused = new RegExp(`has schema ${told}, and this program reads schema ${FORMAT} alone: use the`);
    for (const role of ['server', 'tool'] as const)
      await assert.rejects(openNode(t, url, { role }), refusal(refused));
    assert.deepEqual((await administer(url, 'SELECT * FROM qrn.meta, qrn.node')).rows, before);
  }
});

test('a node with missing or different secrets is refused', async (t) => {
  const url = await emptiedDatabase(t);
  const [first, second] = [temporaryFolder(t), temporaryFolder(t)];
  const of = (folder: string) => ({ secrets: { keysPath: join(folder, 'keys'), logName: 'test/log' } });
  await openNode(t, url, of(first));
  const missing =
    /^certificate-ids is missing from .*keys\. All nodes share one set of secrets: stop this node and replace/;
  await assert.rejects(openNode(t, url, { node: 'b', ...of(second) }), refusal(missing));
  cpSync(join(first, 'keys'), join(second, 'keys'), { recursive: true });
  await (await openNode(t, url, { node: 'b', ...of(second) })).close();
  for (const name of ['certificate-ids', 'stored-answers']) {
    const third = temporaryFolder(t);
    await openNode(t, await emptiedDatabase(t), of(third)); // makes secrets of its own
    cpSync(join(third, 'keys', name), join(second, 'keys', name));
    const other = new RegExp(`${name} is not the one that the other nodes have: `);
    await assert.rejects(openNode(t, url, { node: 'b', ...of(second) }), refusal(other));
    cpSync(join(first, 'keys', name), join(second, 'keys', name));
  }
  rmSync(join(second, 'keys', 'log-1.json'));
  await assert.rejects(openNode(t, url, { node: 'b', ...of(second) }), refusal(/^log-1\.json is missing/));
});

test('a node serves none of its blocks after a fence', async (t) => {
  const url = await emptiedDatabase(t);
  const path = temporaryFolder(t);
  const a = await openNode(t, url, { path });
  await addReleased(a, lot(1), [block('pure', 1), block('pure', 2)]);
  assert.equal((await a.claimBlocks('pure', 1)).length, 1);
  const database = new Database({ url, log: silentLog });
  t.after(() => database.close());
  assert.equal(await fence(database, 'a', silentLog), true);
  assert.equal(await fence(database, 'nobody', silentLog), false);
  await a.close();
  const again = await openNode(t, url, { path });
  assert.deepEqual(await again.claimBlocks('pure', 9), []);
  await addReleased(again, lot(2), [block('pure', 6)]);
  assert.equal((await again.claimBlocks('pure', 9))[0].lotId, lotId(2));
});

for (const [what, asNode] of [
  ['a copy of the folder of another node', 'b'],
  ['an earlier copy of its own folder', 'a'],
] as const) {
  test(`a node on ${what} serves none of its blocks`, async (t) => {
    const url = await emptiedDatabase(t);
    const path = temporaryFolder(t);
    const copy = join(temporaryFolder(t), 'copy');
    const open = async (more: Partial<Parameters<typeof openPostgresLedger>[0]>) => {
      const ledger = await openNode(t, url, more);
      const bytes = (await ledger.claimBlocks('pure', 1)).map((each) => each.bytes[0]);
      return { ledger, bytes };
    };
    const first = await openNode(t, url, { path });
    await addReleased(
      first,
      lot(1),
      [1, 2, 3].map((fill) => block('pure', fill)),
    );
    await first.close();
    cpSync(path, copy, { recursive: true });
    const second = await open({ path });
    assert.deepEqual(second.bytes, [1]);
    await second.ledger.close();
    assert.deepEqual((await open({ path: copy, node: asNode })).bytes, []);
    if (asNode === 'b') assert.deepEqual((await open({ path })).bytes, [2], 'the other node keeps its own');
  });
}

test("a failed start keeps the node's blocks, and a start on an earlier copy gives them up all the same", async (t) => {
  const url = await freshDatabase();
  const path = temporaryFolder(t);
  const copy = join(temporaryFolder(t), 'copy');
  const failingStart = async (folder: string) => {
    const owner = await takeFolder(folder);
    await assert.rejects(openNode(t, url, { path: folder }), { reason: 'unusable' });
    await owner.release();
  };
  const first = await openNode(t, url, { path });
  await addReleased(first, lot(1), [block('pure', 1), block('pure', 2)]);
  await first.close();
  cpSync(path, copy, { recursive: true });
  await failingStart(path);
  await failingStart(path);
  const again = await openNode(t, url, { path });
  assert.equal((await again.claimBlocks('pure', 1)).length, 1);
  await again.close();
  await failingStart(copy);
  const earlier = await openNode(t, url, { path: copy });
  assert.deepEqual(await earlier.claimBlocks('pure', 9), []);
});
