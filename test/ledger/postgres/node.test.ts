import assert from 'node:assert/strict';
import { test } from 'node:test';
import { periodOf } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { AdvisoryLock } from '../../../src/ledger/postgres/advisory-lock.ts';
import { clusterState } from '../../../src/ledger/postgres/cluster.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import { fence, NodeIdentity } from '../../../src/ledger/postgres/node.ts';
import { PostgresStore } from '../../../src/ledger/postgres/postgres-store.ts';
import { makeSchema } from '../../../src/ledger/postgres/schema.ts';
import { tx } from '../../../src/ledger/store.ts';
import { ALLOWANCES, FORMAT, GRANTS, KEY_CLAIMS, UNSEALED } from '../../../src/ledger/tables.ts';
import { filledSegment, NOON_MS } from '../../support/ledger-records.ts';
import { Link } from '../../support/link.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { administer, emptiedDatabase, emptyDatabase } from '../../support/postgres.ts';
import { openBooks } from './postgres-books.ts';

const PERIOD = periodOf(NOON_MS);

test('two nodes that start at once on an empty database make one schema', async (t) => {
  const url = await emptyDatabase();
  const nodes = [1, 2].map(() => new Database({ url, log: silentLog }));
  t.after(() => Promise.all(nodes.map((node) => node.close())));
  await Promise.all(nodes.map(makeSchema));
  const { rows } = await administer(url, 'SELECT schema FROM qrn.meta');
  assert.deepEqual(rows, [{ schema: FORMAT }]);
});

test('a second process with the name of a running node is refused with what to change', async (t) => {
  const url = await emptiedDatabase(t);
  const first = await openBooks(t, url, { name: 'a' });
  const database = new Database({ url, log: silentLog });
  t.after(() => database.close());
  const clock = new ManualClock(NOON_MS);
  await assert.rejects(NodeIdentity.start({ database, name: 'a', clock, log: silentLog }), {
    reason: 'unusable',
    message: /runs as the node "a".*QRN_NODE/,
  });
  await first.books.commit([filledSegment(1, 1)], []); // it was not fenced by the attempt
  const other = await openBooks(t, url, { name: 'b' });
  assert.notEqual(other.node.number, first.node.number);
});

test('a start raises the epoch, and statements of the former process are refused', async (t) => {
  const url = await emptiedDatabase(t);
  const former = await openBooks(t, url, { name: 'a' });
  await former.books.commit([filledSegment(1, 1)], []);
  await former.node.close(); // its lock goes, as when its connection is cut off, and it lives on
  const next = await openBooks(t, url, { name: 'a' });
  assert.deepEqual([next.node.number, next.node.epoch], [former.node.number, former.node.epoch + 1]);
  await assert.rejects(former.books.commit([filledSegment(2, 1)], []), { reason: 'stopped' });
  await assert.rejects(former.books.putLog([{ key: 'k', value: new Uint8Array(1) }]), {
    reason: 'stopped',
  });
  await next.books.commit([filledSegment(2, 1)], []);
});

test('a connection whose server is cut off closes without an answer', async (t) => {
  const url = new URL(await emptiedDatabase(t));
  const link = await Link.openFor(t, `${url.searchParams.get('host')}/.s.PGSQL.5432`);
  const through = `postgres://qrn@127.0.0.1:${link.port}${url.pathname}`;
  const database = new Database({ url: through, log: silentLog });
  const session = await database.hold();
  link.cut();
  await session.close();
});

test('a fence rolls back the open transaction of a paused node instead of waiting for it', async (t) => {
  const url = await emptiedDatabase(t);
  const { node } = await openBooks(t, url, { name: 'a' });
  const [paused, database] = [1, 2].map(() => new Database({ url, log: silentLog }));
  t.after(() => Promise.all([paused.close(), database.close()]));
  const locked = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const open = paused.transact(async (session) => {
    await session.run({ name: '', text: `SELECT 1 FROM qrn.slot WHERE node = ${node.number} FOR UPDATE` });
    locked.resolve();
    await goesOn.promise;
  });
  await locked.promise;
  assert.equal(await fence(database, 'a', silentLog), true);
  goesOn.resolve();
  await assert.rejects(open, { code: 'storage_unavailable' });
});

for (const how of ['its next start', 'a fence'] as const) {
  test(`${how} gives back exactly what the node was granted and did not spend`, async (t) => {
    const url = await emptiedDatabase(t);
    const dead = await openBooks(t, url, { name: 'a' });
    const { number, epoch } = dead.node;
    const store = new PostgresStore(dead.database, undefined);
    await store.write([], function* () {
      // of account 1, another node has 20 requests and 30 credits
      yield* tx.put(ALLOWANCES, [PERIOD, 1], { requests: 70, credits: 60 });
      yield* tx.put(ALLOWANCES, [PERIOD, 2], { requests: 9, credits: 9 });
      yield* tx.put(GRANTS, [number, epoch, PERIOD, 1], { requests: 50, credits: 30, order: 1 });
      yield* tx.put(GRANTS, [number, epoch, PERIOD, 2], { requests: 9, credits: 9, order: 1 });
      yield* tx.put(GRANTS, [number + 1, epoch, PERIOD, 1], { requests: 20, credits: 30, order: 1 });
      yield* tx.put(KEY_CLAIMS, 'digest', { fingerprint: 'f', node: number, epoch });
      yield* tx.put(UNSEALED, 99, { segments: 1, count: 1, node: number + 1, epoch });
    });
    await dead.books.commit([filledSegment(1, 7, { credits: 2 })], []);
    await dead.books.putLog([{ key: 'state', value: new Uint8Array([1]) }], {
      key: 'state',
      expected: undefined,
      sealed: [1],
    });
    await dead.books.commit([filledSegment(2, 3, { credits: 1 })], []); // not sealed
    const { nodes, unsealedSegments, schema } = await clusterState(dead.database);
    assert.deepEqual([unsealedSegments, schema], [2, FORMAT]);
    const asKnown = { name: 'a', epoch, state: 'live', isConnected: true, startedAtMs: NOON_MS };
    const granted = { accounts: 2, requests: 59, credits: 39 };
    assert.deepEqual(nodes, [{ ...asKnown, committedAtMs: NOON_MS + 2, unsealedSegments: 1, granted }]);
    await dead.close();
    if (how === 'a fence') {
      const database = new Database({ url, log: silentLog });
      t.after(() => database.close());
      assert.equal(await fence(database, 'a', silentLog), true);
      assert.equal(await fence(database, 'a', silentLog), true, 'again changes nothing');
      assert.equal(await fence(database, 'nobody', silentLog), false);
    } else {
      await openBooks(t, url, { name: 'a' });
    }
    const database = new Database({ url, log: silentLog });
    t.after(() => database.close());
    const left = await new PostgresStore(database, undefined).read(() => tx.range(ALLOWANCES, {}));
    assert.deepEqual(
      left.map(({ value }) => value),
      [
        { requests: 20 + 10, credits: 30 + 17 },
        { requests: 0, credits: 0 },
      ],
    );
    const kept = "SELECT name FROM qrn.record WHERE part IN ('grants', 'spent', 'keyClaims')";
    const ofOthers = JSON.stringify([number + 1, epoch, PERIOD, 1]);
    assert.deepEqual((await administer(url, kept)).rows, [{ name: ofOthers }]);
  });
}

test('one node seals, and another takes over when that one ends or loses its connection', async (t) => {
  const url = await emptiedDatabase(t);
  const database = new Database({ url, log: silentLog });
  t.after(() => database.close());
  const [first, second, third] = [1, 2, 3].map(() => new AdvisoryLock(database, 'qrn sequencer'));
  t.after(() => Promise.all([first, second, third].map((each) => each.release())));
  assert.deepEqual([await first.take(), await second.take(), await first.take()], [true, false, true]);
  await first.release();
  assert.deepEqual([await second.take(), await first.take()], [true, false]);
  await administer(
    url,
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND granted",
  );
  assert.equal(await third.take(), true);
  await assert.rejects(second.take(), { code: 'storage_unavailable' });
  assert.equal(await second.take(), false);
});
