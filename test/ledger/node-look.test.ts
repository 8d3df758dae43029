import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { silentLog } from '../../src/core/log.ts';
import type { Database } from '../../src/ledger/postgres/connection.ts';
import { NodeIdentity } from '../../src/ledger/postgres/node.ts';
import { NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** A node over a database that answers its looks as the test says, and the level and the text of each line that it logs. */
async function watched(t: TestContext) {
  const clock = new ManualClock(NOON_MS);
  const told: string[] = [];
  const take = (level: string) => (_facts: object, line: string) => void told.push(`${level}: ${line}`);
  const said = { behindMs: 0, tookMs: 0, isLate: false, looks: 0, until: Promise.resolve() };
  const lock = { asks: 0, until: Promise.resolve() };
  const answered: Readonly<Record<string, object[]>> = {
    advisory_lock: [{ is_mine: true }],
    node_begin: [{ number: 1, epoch: 1 }],
  };
  const session = {
    async run({ name }: { readonly name: string }) {
      lock.asks++;
      await lock.until;
      return answered[name] ?? [];
    },
    close: async () => {},
  };
  const database = {
    isAway: false,
    hold: async () => session,
    transact: (body: (session: object) => unknown) => body(session),
    async run() {
      said.looks++;
      await said.until;
      clock.monotonic += said.tookMs;
      const atMs = clock.wall - said.behindMs;
      return [{ atMs, epoch: 1, unsealedSegments: 3, isStandbyLate: said.isLate }];
    },
  };
  const log = { ...silentLog, info: take('info'), error: take('error') };
  const node = await NodeIdentity.start({
    ...{ name: 'a', clock, log },
    database: database as unknown as Database,
  });
  t.after(() => node.close());
  return { clock, told, said, lock, database, node };
}

test('a node logs once when its clock is off or its standby late, and once when that is over', async (t) => {
  const { said, told, node } = await watched(t);
  const OFF = /^error: the clock of this node differs/;
  const AGREES = /^info: the clock of this node agrees/;
  for (const [behindMs, tookMs, isLate, skewMs, line] of [
    [1_000, 0, false, 1_000, undefined],
    [1_001, 0, false, 1_001, OFF],
    [1_001, 0, false, 1_001, undefined],
    [1_004, 4, false, 1_000, AGREES], // as much as the question took explains
    [3, 4, false, 0, undefined],
    [-1_001, 4, false, -1_001, OFF],
    [-1_000.4, 0, false, -1_000, AGREES],
    [0, 0, true, 0, /^error: commits have waited for a standby/],
    [0, 0, true, 0, undefined],
    [0, 0, false, 0, /^info: commits no longer wait for a standby of PostgreSQL/],
  ] as const) {
    Object.assign(said, { behindMs, tookMs, isLate });
    await node.look();
    const isSkewed = Math.abs(skewMs) > 1_000;
    const state = { isAway: false, skewMs, isSkewed, isStandbyLate: isLate, unsealedSegments: 3 };
    assert.deepEqual(node.database(), state);
    const lines = told.splice(0);
    assert.equal(lines.length, line === undefined ? 0 : 1, lines.join());
    if (line !== undefined) assert.match(lines[0], line);
  }
});

test('a database that does not answer a look for three seconds is away until it does', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clock, said, database, node } = await watched(t);
  const answer = Promise.withResolvers<void>();
  said.until = answer.promise;
  for (; said.looks === 0; await turn()) t.mock.timers.tick(1_000);
  clock.monotonic += 3_000;
  assert.equal(node.database().isAway, false);
  clock.monotonic += 1;
  assert.equal(node.database().isAway, true);
  answer.resolve();
  while (node.database().isAway) await turn();
  database.isAway = true;
  assert.equal(node.database().isAway, true);
  for (; said.looks === 1; await turn()) t.mock.timers.tick(1_000);
});

test("a silent connection of the name's lock does not count against the database", async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clock, said, lock, node } = await watched(t);
  const answer = Promise.withResolvers<void>();
  lock.until = answer.promise;
  const { asks } = lock;
  for (; lock.asks === asks; await turn()) t.mock.timers.tick(1_000);
  assert.equal(said.looks, 1);
  clock.monotonic += 60_000;
  assert.equal(node.database().isAway, false);
  answer.resolve();
});
