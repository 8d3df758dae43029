import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { silentLog } from '../../../src/core/log.ts';
import { PostgresClaims } from '../../../src/ledger/postgres/claims.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import { PostgresLimits } from '../../../src/ledger/postgres/limits.ts';
import type { NodeEpoch } from '../../../src/ledger/postgres/node.ts';
import { fenceNode } from '../../../src/ledger/postgres/node.ts';
import type { LimitAsk, Limits } from '../../../src/ledger/sharing.ts';
import { sharedLimitsContract } from '../../account/shared-limits.contract.ts';
import type { LimitStore } from '../../support/limit-nodes.ts';
import { administer, freshDatabase } from '../../support/postgres.ts';

const url = await freshDatabase();
const database = new Database({ url, log: silentLog });
after(() => database.close());

/** Nodes whose names nobody locks: what they commit is written as `spent` when they are settled. */
async function beginNode(name: string): Promise<NodeEpoch & { readonly name: string }> {
  await administer(
    url,
    `WITH n AS (INSERT INTO qrn.node (name, epoch, state, started_at_ms) VALUES ('${name}', 1, 'live', 0)
      RETURNING number)
    INSERT INTO qrn.slot (node, slot, epoch, last) SELECT number, slot, 1, 0 FROM n, generate_series(0, 4) AS slot`,
  );
  const { rows } = await administer(url, `SELECT number FROM qrn.node WHERE name = '${name}'`);
  return { name, number: (rows[0] as { number: number }).number, epoch: 1 };
}

let started = 0;

/** A store of its own for each run: the tables are emptied. */
async function postgresStore(): Promise<LimitStore> {
  await administer(url, 'TRUNCATE qrn.allowance, qrn.granted, qrn.spent, qrn.node, qrn.slot');
  const nodes = new Map<Limits, NodeEpoch & { readonly name: string }>();
  return {
    async start() {
      const node = await beginNode(`node ${++started}`);
      const limits = new PostgresLimits({ database, node });
      nodes.set(limits, node);
      return limits;
    },
    async settle(limits, account, { period, requests, credits }) {
      const { name, number } = nodes.get(limits)!;
      await administer(
        url,
        `INSERT INTO qrn.spent VALUES (${number}, 1, ${account}, ${period}, ${requests}, ${credits})`,
      );
      assert.ok(await fenceNode(database, name, silentLog));
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

test('a month starts from what the books have of it already', async () => {
  const store = await postgresStore();
  const limits = await store.start();
  const { period } = await limits.askLimits(1, []);
  await administer(url, `INSERT INTO qrn.balance VALUES (9, ${period}, 98, 60)`);
  const { grants } = await limits.askLimits(2, [{ ...ASK, requestsWanted: 5 }]);
  assert.deepEqual(grants, [
    {
      accountNumber: 9,
      period,
      requestsGranted: 2,
      creditsGranted: 0,
      requestsLeft: 0,
      creditsLeft: 0,
      requestsUnused: 2,
    },
  ]);
});

test('an Idempotency-Key is held by one node, until it lets go of it or is fenced', async () => {
  const [a, b] = [await beginNode('claims a'), await beginNode('claims b')];
  const [ofA, ofB] = [new PostgresClaims({ database, node: a }), new PostgresClaims({ database, node: b })];
  assert.equal(await ofA.claimKey('k', 'one'), 'held');
  assert.equal(await ofA.claimKey('k', 'one'), 'held', 'a call that is repeated');
  assert.equal(await ofB.claimKey('k', 'one'), 'same');
  assert.equal(await ofB.claimKey('k', 'two'), 'other');
  await ofB.releaseKey('k'); // it is not b's
  assert.equal(await ofB.claimKey('k', 'one'), 'same');
  await ofA.releaseKey('k');
  assert.equal(await ofB.claimKey('k', 'two'), 'held');
  const outcomes = await Promise.all(
    [1, 2, 3, 4].flatMap(() => [ofA.claimKey('l', 'one'), ofB.claimKey('l', 'one')]),
  );
  assert.equal(new Set(outcomes).size, 2);
  assert.ok(await fenceNode(database, 'claims b', silentLog));
  assert.equal(await ofA.claimKey('k', 'two'), 'held');
  await assert.rejects(ofB.claimKey('m', 'one'), { reason: 'stopped' });
});
