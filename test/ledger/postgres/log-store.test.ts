import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { CertificateLog } from '../../../src/certificate/log.ts';
import { periodOf } from '../../../src/core/clock.ts';
import { logKeys } from '../../certificate/log-world.ts';
import { filledSegment, lot, NOON_MS, source, TODAY } from '../../support/ledger-records.ts';
import { emptiedDatabase } from '../../support/postgres.ts';
import { openBooks, type TestNode } from './postgres-books.ts';

function openLog(node: TestNode): Promise<CertificateLog> {
  const { books, clock } = node;
  return CertificateLog.open({
    store: {
      unsealed: (certificates) => books.unsealed(certificates),
      putLog: (records, step) => books.putLog(records, step),
      getLog: (key) => books.getLog(key),
      revocations: async () => [],
      lot: async () => ({ ...lot(1), commitment: { pureBytes: 0, blockRoots: '', seedHashes: '' } }),
      pendingLots: async () => [],
      drawLeaves: async () => [],
      drawLeavesLogged: async () => {},
    },
    ids: new CertificateIds(new Uint8Array(32).fill(9)),
    keys: logKeys(1),
    clock,
  });
}

test('a batch costs seventeen statements, whether it has one segment or those of two nodes with 5,000 leaves', async (t) => {
  const url = await emptiedDatabase(t);
  const nodes = [await openBooks(t, url, { name: 'a' }), await openBooks(t, url, { name: 'b' })];
  const log = await openLog(nodes[0]);
  // each node looks for its fence in its own time, perhaps on a new connection, which begins with statements of its own
  const isOfBatch = (name: string) =>
    !['node_look', 'advisory_lock_alive', 'commit_nothing', ''].includes(name);
  const query = t.mock.method(pg.Client.prototype, 'query');
  const sealing = async () => {
    query.mock.resetCalls();
    const leaves = await log.seal();
    const sent = query.mock.calls.map(({ arguments: [sent] }) => sent as unknown as pg.QueryConfig);
    return { leaves, statements: sent.map(({ name, text }) => name ?? text).filter(isOfBatch) };
  };
  await nodes[0].books.commit([filledSegment(1, 1, {}, [source('csprng', [1])])], []);
  const small = await sealing();
  for (let n = 2; n <= 41; n++)
    await nodes[n % 2].books.commit([filledSegment(n, 125, {}, [source('csprng', [1])])], []);
  const large = await sealing();
  assert.deepEqual([small.leaves, large.leaves], [1, 5_000]);
  assert.deepEqual(large.statements, small.statements);
  assert.equal(large.statements.length, 17, String(large.statements));
});

test('counters that are read while segments are sealed are always complete', async (t) => {
  const url = await emptiedDatabase(t);
  const writer = await openBooks(t, url, { name: 'a' });
  const reader = await openBooks(t, url, { name: 'b' });
  await Promise.all(Array.from({ length: 30 }, (_, i) => writer.books.commit([filledSegment(i + 1, 4)], [])));
  let isSealing = true;
  const reading = (async () => {
    const seen = new Set<number>();
    do {
      const [{ requests }] = await reader.books.usage(1, TODAY);
      const [balance] = await reader.books.balances(periodOf(NOON_MS));
      seen.add(requests).add(balance.requests);
    } while (isSealing);
    return seen;
  })();
  for (let n = 1; n <= 30; n++) {
    const expected = n === 1 ? undefined : new Uint8Array([n - 1]);
    const step = { key: 'state', expected, sealed: [n] };
    await writer.books.putLog([{ key: 'state', value: new Uint8Array([n]) }], step);
  }
  isSealing = false;
  assert.deepEqual(await reading, new Set([120]));
  assert.deepEqual(await writer.books.unsealed(1_000), []);
});
