import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { silentLog } from '../../../src/core/log.ts';
import { limitsIn } from '../../../src/ledger/domain/limits.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import type { NamedEpoch } from '../../../src/ledger/postgres/fence.ts';
import { clusterNow, fence } from '../../../src/ledger/postgres/node.ts';
import { PostgresStore, putRows, rowOf } from '../../../src/ledger/postgres/postgres-store.ts';
import type { LimitAsk, Limits } from '../../../src/ledger/sharing.ts';
import { BALANCES, SPENT } from '../../../src/ledger/tables.ts';
import { sharedLimitsContract } from '../../account/shared-limits.contract.ts';
import type { LimitStore } from '../../support/limit-nodes.ts';
import { administer, freshDatabase } from '../../support/postgres.ts';

const url = await freshDatabase();
const database = new Database({ url, log: silentLog });
after(() => database.close());

/** Nodes whose names nobody locks: what they commit is written as `spent` when they are settled. */
async function beginNode(name: string): Promise<NamedEpoch> {
  await administer(
    url,
    `WITH n AS (INSERT INTO qrn.node (name, epoch, state, started_at_ms) VALUES ('${name}', 1, 'live', 0)
      RETURNING number)
    INSERT INTO qrn.slot (node, slot, epoch) SELECT number, slot, 1 FROM n, generate_series(0, 4) AS slot`,
  );
  const { rows } = await administer(url, `SELECT number FROM qrn.node WHERE name = '${name}'`);
  return { name, number: (rows[0] as { number: number }).number, epoch: 1 };
}

let started = 0;

/** A store of its own for each run: the tables are emptied. */
async function postgresStore(): Promise<LimitStore> {
  await administer(url, 'TRUNCATE qrn.record, qrn.node, qrn.slot');
  const nodes = new Map<Limits, NamedEpoch>();
  return {
    async start() {
      const node = await beginNode(`node ${++started}`);
      const limits = limitsIn(new PostgresStore(database, node), node, () => clusterNow(database, node));
      nodes.set(limits, node);
      return limits;
    },
    async settle(limits, account, { period, requests, credits }) {
      const { name, number } = nodes.get(limits)!;
      const row = rowOf(SPENT, [number, 1, period, account], { requests, credits });
      await database.transact((session) => putRows(session, [row]));
      assert.ok(await fence(database, name, silentLog));
      await assert.rejects(limits.askLimits(1_000_000, []), { reason: 'stopped' });
    },
  };
}

sharedLimitsContract('PostgreSQL', postgresStore, 2);

const ASK: LimitAsk = {
  accountNumber: 9,
  period: 0,
  requestsGranted: 0,
  creditsGranted: 0,
  requestsUsed: 0,
  creditsUsed: 0,
  requestsTotal: 100,
  creditsTotal: 50,
  requestsWanted: 0,
  creditsWanted: 0,
};

test('a month starts with what the books already have of it', async () => {
  const store = await postgresStore();
  const limits = await store.start();
  const { period } = await limits.askLimits(1, []);
  const row = rowOf(BALANCES, [period, 9], { requests: 98, credits: 60 });
  await database.transact((session) => putRows(session, [row]));
  const { grants } = await limits.askLimits(2, [{ ...ASK, requestsWanted: 5 }]);
  assert.deepEqual(grants, [
    {
      accountNumber: 9,
      period,
      requestsGranted: 1,
      creditsGranted: 0,
      requestsLeft: 1,
      creditsLeft: 0,
      requestsUnused: 1,
    },
  ]);
});
