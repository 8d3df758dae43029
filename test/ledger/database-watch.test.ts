import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { silentLog } from '../../src/core/log.ts';
import type { Database } from '../../src/ledger/postgres/connection.ts';
import { DatabaseWatch } from '../../src/ledger/postgres/database-watch.ts';
import { NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** A watch over a database that answers as the test says, and the first word of each line that it logs. */
function watched() {
  const clock = new ManualClock(NOON_MS);
  const told: string[] = [];
  const take = (level: string) => (_facts: object, line: string) => void told.push(`${level}: ${line}`);
  const said = { behindMs: 0, tookMs: 0, isLate: false, looks: 0, until: Promise.resolve() };
  const database = {
    isAway: false,
    async run() {
      said.looks++;
      await said.until;
      clock.monotonic += said.tookMs;
      return [{ at_ms: clock.wall - said.behindMs, unsealed: 3, is_late: said.isLate }];
    },
  };
  const log = { ...silentLog, info: take('info'), error: take('error') };
  const watch = new DatabaseWatch({ database: database as unknown as Database, clock, log });
  return { clock, told, said, database, watch };
}

test('a node is told once when its clock is off or its standby late, and once when that is over', async () => {
  const { said, told, watch } = watched();
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
    [0, 0, false, 0, /^info: no commit waits for a standby any more/],
  ] as const) {
    Object.assign(said, { behindMs, tookMs, isLate });
    await watch.look();
    const isSkewed = Math.abs(skewMs) > 1_000;
    const state = { isAway: false, skewMs, isSkewed, isStandbyLate: isLate, unsealedSegments: 3 };
    assert.deepEqual(watch.state(), state);
    const lines = told.splice(0);
    assert.equal(lines.length, line === undefined ? 0 : 1, lines.join());
    if (line !== undefined) assert.match(lines[0], line);
  }
});

test('a database that does not answer a look for three seconds is away until it does', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clock, said, database, watch } = watched();
  const answer = Promise.withResolvers<void>();
  said.until = answer.promise;
  watch.start();
  for (; said.looks === 0; await turn()) t.mock.timers.tick(1_000);
  clock.monotonic += 3_000;
  assert.equal(watch.state().isAway, false);
  clock.monotonic += 1;
  assert.equal(watch.state().isAway, true);
  answer.resolve();
  while (watch.state().isAway) await turn();
  database.isAway = true;
  assert.equal(watch.state().isAway, true);
  for (; said.looks === 1; await turn()) t.mock.timers.tick(1_000);
  await watch.stop();
});
