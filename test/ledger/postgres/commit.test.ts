import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLog } from '../../../src/core/log.ts';
import { booksIn } from '../../../src/ledger/domain/books.ts';
import { drawsIn } from '../../../src/ledger/domain/draws.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import { sharedDirectoryIn } from '../../../src/ledger/postgres/directory.ts';
import { fence } from '../../../src/ledger/postgres/node.ts';
import { PostgresStore } from '../../../src/ledger/postgres/postgres-store.ts';
import {
  account,
  answer,
  entry,
  filledSegment,
  NOON_MS,
  segment,
  TODAY,
} from '../../support/ledger-records.ts';
import { Link } from '../../support/link.ts';
import { administer, databaseOf, emptiedDatabase, socketOf } from '../../support/postgres.ts';
import { until } from '../../support/server.ts';
import { openBooks } from './postgres-books.ts';

/** One connection for each concurrent call. */
const OPENED_CONNECTIONS = 5;
/**
 * Connections of the writer. One is for the node, which checks once a second whether it was fenced: a connection that
 * it opened would wait for the standby too.
 */
const WRITER_CONNECTIONS = 4;
/** The name of the readers' connections. */
const READING = 'reading';
/** The test says how long they wait, however slow the machine is. */
const PATIENCE_MS = 60_000;
const LABEL = { isPublic: true, purpose: 'lottery', series: `series_${'a'.repeat(26)}` } as const;

for (const lost of ['request', 'reply'] as const) {
  for (const [what, more, answers] of [
    ['in one statement', {}, []],
    ['with labels and an idempotent answer', { label: LABEL }, [answer(1, 7, NOON_MS + 1_000)]],
  ] as const) {
    test(`a commit ${what} whose ${lost} is lost is sent again and stored once`, async (t) => {
      const url = await emptiedDatabase(t);
      const link = await Link.openFor(t, socketOf(url));
      const commitUrl = `postgres://qrn@127.0.0.1:${link.port}/${databaseOf(url)}`;
      const { books } = await openBooks(t, url, { commitUrl });
      await books.commit([filledSegment(1, 1)], []); // the connection is there
      link.loseNext(lost);
      await books.commit([segment(2, [entry(1, more), entry(2, more)])], answers);
      assert.equal(link.losses, 1);
      const [{ requests }] = await books.usage(1, TODAY);
      assert.equal(requests, 3);
      const { answers: numbered } = await books.seriesPage('lottery', {
        series: undefined,
        from: 1,
        limit: 9,
      });
      const serials = 'label' in more ? [1, 2] : [];
      assert.deepEqual(
        numbered.map(({ serial }) => serial),
        serials,
      );
      for (const each of answers) assert.deepEqual(await books.storedAnswer(1, each.keyDigest), each);
    });
  }
}

test('a fenced node commits nothing more and stops with the reason', async (t) => {
  const url = await emptiedDatabase(t);
  const { books, commits, database } = await openBooks(t, url);
  await books.commit([filledSegment(1, 1)], []);
  assert.equal(await fence(database, 'a', silentLog), true);
  await assert.rejects(books.commit([filledSegment(2, 1)], []), { reason: 'stopped' });
  assert.match((await commits.failed).message, /"a" was fenced/);
  await assert.rejects(books.commit([filledSegment(3, 1)], []), { reason: 'stopped' });
  assert.equal(await books.segment(2), undefined);
});

test('a commit that was cancelled while it waited for a standby is not acknowledged', async (t) => {
  const url = await emptiedDatabase(t);
  const { books } = await openBooks(t, url);
  await books.commit([filledSegment(1, 1)], []);
  const noLongerAwaited = await awaitNobody(t, url);
  let isAcknowledged = false;
  const committed = books.commit([filledSegment(2, 1)], []).then(() => {
    isAcknowledged = true;
  });
  const first = await waitingForStandby(url, 0, () => isAcknowledged);
  await administer(url, `SET synchronous_commit = off; SELECT pg_cancel_backend(${first})`);
  await waitingForStandby(url, first, () => isAcknowledged); // until it was sent again
  assert.equal(isAcknowledged, false);
  await noLongerAwaited();
  await committed;
  assert.notEqual(await books.segment(2), undefined);
});

test('calls that are given up while a standby is away leave a bounded number of statements waiting in PostgreSQL', async (t) => {
  const url = await emptiedDatabase(t);
  const noLongerAwaited = await awaitNobody(t, url);
  const database = new Database({ url, log: silentLog, name: 'given up', silenceMs: 200, patienceMs: 0 });
  t.after(() => database.close());
  const change = { name: '', text: 'UPDATE qrn.meta SET created_at_ms = created_at_ms' };
  const giveUp = () => assert.rejects(database.run(change), { code: 'storage_unavailable' });
  const waiting = async () => {
    const ofName = "wait_event = 'SyncRep' AND application_name = 'given up'";
    const { rows } = await administer(
      url,
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE ${ofName}`,
    );
    return (rows as { count: number }[])[0].count;
  };
  while ((await waiting()) < 8) await giveUp();
  const most = await waiting();
  for (let more = 0; more < 4; more++) await giveUp();
  assert.ok((await waiting()) < most + 4);
  await noLongerAwaited();
  await waitFor(url, "SELECT count(*) = 0 AS is_so FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  const changed = () =>
    database.run(change).then(
      () => true,
      () => false,
    );
  await until('a statement is answered again', changed);
});

/** The server takes up its new settings in its own time: a write tells. */
async function standbyIsAwaited(url: string): Promise<void> {
  for (let pid = 0; pid === 0; ) {
    let isOver = false;
    const written = administer(url, 'UPDATE qrn.meta SET created_at_ms = created_at_ms').then(
      () => {
        isOver = true;
      },
      () => {}, // it was ended
    );
    pid = await waitingForStandby(url, 0, () => isOver);
    if (pid !== 0) await administer(url, `SELECT pg_terminate_backend(${pid}, 10000)`);
    await written;
  }
}

/** The process of the server, other than `not`, whose commit waits for a standby; 0 when `isOver` comes first. */
async function waitingForStandby(url: string, not: number, isOver: () => boolean): Promise<number> {
  for (;;) {
    const { rows } = await administer(
      url,
      `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database() AND pid <> ${not}`,
    );
    if (rows.length > 0) return (rows as { pid: number }[])[0].pid;
    if (isOver()) return 0;
  }
}

test('a node replays no answer, shows no state of the log and applies no change that is on no standby', async (t) => {
  const scene = await cancelledCommits(t);
  const { reader, opened: database, readings } = scene;
  const books = booksIn(new PostgresStore(database, reader.node), reader.clock, reader.node);
  const shownBefore = await scene.shownBeforeStandby([
    readings.show('the answer', books.storedAnswer(1, answer(1, 7, 0).keyDigest)),
    readings.show('the directory', scene.directory.directoryChanges(scene.version)),
    readings.show('the log', books.getLog('state')),
  ]);
  assert.deepEqual(shownBefore, []);
  assert.equal(readings.shown.length, 3);
});

test('a new connection shows nothing that is on no standby, as after a restart of the primary alone', async (t) => {
  const scene = await cancelledCommits(t);
  const { reader, readings } = scene;
  const database = new Database({ url: scene.url, log: silentLog, name: READING, patienceMs: PATIENCE_MS });
  t.after(() => database.close());
  const books = booksIn(new PostgresStore(database, reader.node), reader.clock, reader.node);
  const page = () => books.seriesPage('lottery', { series: undefined, from: 1, limit: 9 });
  const shownBefore = await scene.shownBeforeStandby([
    readings.show('the certificate', books.segment(2)),
    readings.show('the draw', drawsIn(new PostgresStore(database, reader.node)).draw(DRAW.id)),
    readings.show('the series', page()),
  ]);
  assert.deepEqual(shownBefore, []);
  assert.equal(readings.shown.length, 3);
  assert.equal((await page()).answers.length, 1);
});

const DRAW = { id: 'draw_a', accountNumber: 1, state: 'opening', dueAtMs: 5, body: '{}' } as const;

/** Commits of every kind that wait for a standby, and can be read since an administrator cancelled their first wait. */
async function cancelledCommits(t: TestContext) {
  const url = await emptiedDatabase(t);
  const writer = await openBooks(t, url, { name: 'a', patienceMs: PATIENCE_MS });
  const reader = await openBooks(t, url, { name: 'b' });
  await writer.books.commit([filledSegment(1, 1)], []);
  const opened = new Database({
    url,
    log: silentLog,
    name: READING,
    connections: OPENED_CONNECTIONS,
    patienceMs: PATIENCE_MS,
  });
  t.after(() => opened.close());
  await openAll(opened, OPENED_CONNECTIONS);
  await openAll(writer.database, WRITER_CONNECTIONS);
  const directory = sharedDirectoryIn(new PostgresStore(opened, undefined));
  const { version } = await directory.directoryChanges(undefined);
  const noLongerAwaited = await awaitNobody(t, url);
  const written: Promise<unknown>[] = [
    sharedDirectoryIn(new PostgresStore(writer.database, undefined)).createAccount(account(1)),
    writer.books.commit([segment(2, [entry(1, { label: LABEL })])], [answer(1, 7, NOON_MS + 1_000)]),
    writer.books.putLog([{ key: 'state', value: Uint8Array.of(1) }]),
    drawsIn(new PostgresStore(writer.database, writer.node)).openDraw(DRAW, 9),
  ];
  const waiting = (count: number, isReading: boolean) =>
    `SELECT count(*) = ${count} AS is_so FROM pg_stat_activity
      WHERE wait_event = 'SyncRep' AND (application_name = '${READING}') = ${isReading}`;
  await waitFor(url, waiting(written.length, false));
  await administer(
    url,
    "SET synchronous_commit = off; SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
  );
  const records = ['accounts', 'answers', 'log', 'draws', 'series'].map(
    (part) => `record WHERE part = '${part}'`,
  );
  const tables = records;
  const counts = tables.map((table) => `(SELECT count(*) FROM qrn.${table}) = 1`);
  await waitFor(url, `SELECT ${counts.join(' AND ')} AS is_so`);
  const shown: string[] = [];
  const readings = {
    shown,
    async show(what: string, read: Promise<unknown>): Promise<void> {
      if ((await read) !== undefined) shown.push(what);
    },
  };
  /**
   * Returns what was shown while there was no standby; afterwards none is required, and everything that was begun
   * ends.
   */
  const shownBeforeStandby = async (begun: readonly Promise<void>[]): Promise<string[]> => {
    // The writers' second attempts wait, and so must all who read.
    await waitFor(url, waiting(begun.length, true), () => shown.length > 0);
    const shownBefore = [...shown];
    await noLongerAwaited();
    await Promise.all([...written, ...begun]);
    return shownBefore;
  };
  return { url, reader, opened, directory, version, readings, shownBeforeStandby };
}

/** Makes each call hold its connection until all have one. */
async function openAll(database: Database, connections: number): Promise<void> {
  const all = Promise.withResolvers<void>();
  let open = 0;
  const calls = Array.from({ length: connections }, () =>
    database.attempt(async () => {
      if (++open === connections) all.resolve();
      await all.promise;
    }),
  );
  await Promise.all(calls);
}

/** Makes commits wait for a standby that does not exist, until the returned function is called. */
async function awaitNobody(t: TestContext, url: string): Promise<() => Promise<void>> {
  const wait = (names: string) => async () => {
    await administer(url, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await administer(url, 'SELECT pg_reload_conf()');
  };
  t.after(wait(''));
  await wait('nobody')();
  await standbyIsAwaited(url);
  return wait('');
}

async function waitFor(url: string, question: string, isOver: () => boolean = () => false): Promise<void> {
  while (!isOver()) if ((await administer(url, question)).rows[0].is_so === true) return;
}

test('a full disk of PostgreSQL refuses a commit and does not stop the node', async (t) => {
  const url = await emptiedDatabase(t);
  const { books } = await openBooks(t, url);
  await administer(
    url,
    `CREATE FUNCTION qrn.full_disk() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON qrn.record EXECUTE FUNCTION qrn.full_disk()`,
  );
  await assert.rejects(books.commit([filledSegment(1, 1)], [answer(1, 7, NOON_MS + 1_000)]), {
    code: 'storage_unavailable',
  });
  assert.equal(await books.storedAnswer(1, answer(1, 7, 0).keyDigest), undefined);
  await administer(url, 'DROP FUNCTION qrn.full_disk CASCADE');
  await books.commit([filledSegment(1, 1)], []);
  assert.deepEqual(
    (await books.usage(1, TODAY)).map(({ requests }) => requests),
    [1],
  );
});

test('concurrent commits on two nodes number a series without a gap', async (t) => {
  const url = await emptiedDatabase(t);
  const nodes = [await openBooks(t, url, { name: 'a' }), await openBooks(t, url, { name: 'b' })];
  const sequences = Array.from({ length: 40 }, (_, i) => i + 1);
  await Promise.all(
    sequences.map((n) => nodes[n % 2].books.commit([segment(n, [entry(n, { label: LABEL })])], [])),
  );
  const { answers } = await nodes[0].books.seriesPage('lottery', { series: undefined, from: 1, limit: 99 });
  assert.deepEqual(
    answers.map(({ serial }) => serial),
    sequences,
  );
  assert.equal(new Set(answers.map(({ sequence }) => sequence)).size, 40);
});
