import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { createAccount } from '../../src/account/administration.ts';
import { OwnedCells } from '../../src/account/cells.ts';
import { AccountDirectory } from '../../src/account/directory.ts';
import { ledger } from '../../src/cli/ledger.ts';
import { silentLog } from '../../src/core/log.ts';
import { openLmdbLedger } from '../../src/ledger/lmdb/lmdb.ts';
import { temporaryFolder } from '../support/ledger-folder.ts';
import { entry, NOON_MS, segment } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runCommand } from '../support/run-command.ts';

const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;

it('corrects the usage period after a start under a clock that was a year ahead', async (t) => {
  const dataDir = temporaryFolder(t);
  const path = join(dataDir, 'ledger');
  mkdirSync(path, { mode: 0o700 });
  const environment = { QRN_DATA_DIR: dataDir };
  const open = (clock: ManualClock) =>
    openLmdbLedger({ path, clock, log: silentLog, role: 'server', durability: 'commit', growAheadBytes: 0 });
  const right = new ManualClock(NOON_MS);

  const ahead = await open(new ManualClock(NOON_MS + YEAR_MS));
  await createAccount(ahead, right, { name: 'a', tier: 'pro' });
  const spent = entry(1, { accountNumber: 1, mode: 'pure', credits: 10_000, issuedAtMs: NOON_MS + YEAR_MS });
  await ahead.commit(
    [segment(1, [spent], { sources: [{ mode: 'pure', lotIds: [], generation: null }] })],
    [],
  );
  await ahead.close();

  /** The month that a service charges which starts now, and what the account has left in it. */
  async function atStart(): Promise<[period: number, creditsLeft: number]> {
    const opened = await open(right);
    const cells = await OwnedCells.open(opened, right);
    const directory = await AccountDirectory.open({ directory: opened, cells, clock: right, log: silentLog });
    const [{ meter }] = directory.accounts();
    const period = meter.left(202_611).period;
    await opened.close();
    return [period, meter.left(202_611).credits];
  }

  assert.deepEqual(await atStart(), [202_711, 240], 'what is to be repaired');
  const correct = (clock: ManualClock, ...args: string[]) =>
    runCommand(ledger, ['correct-period', ...args], environment, clock);
  const present = ['--month', '2026-11'];
  const before = await correct(right, ...present, '--dry-run');
  assert.equal(before.status, 0);
  assert.match(before.out, /to 202611 or before/);
  assert.deepEqual(await atStart(), [202_711, 240]);
  const behind = new ManualClock(NOON_MS - 30 * DAY_MS);
  const refused = await correct(behind, ...present, '--yes');
  assert.deepEqual([refused.status, refused.out], [1, '']);
  assert.match(refused.talk, /the system clock is in 2026-10 \(UTC\) and --month says 2026-11/);
  for (const month of [[], ['--month', '2026-13'], ['--month', '202611']])
    assert.equal((await correct(right, ...month, '--yes')).status, 2, month.join(' '));
  assert.deepEqual(await atStart(), [202_711, 240]);

  const done = await correct(right, ...present, '--yes', '--json');
  assert.deepEqual([done.status, done.talk], [0, '']);
  const moved = [{ account_number: 1, from: 202_711, to: 202_611, requests: 1, credits: 10_000 }];
  assert.deepEqual(JSON.parse(done.out), { period: 202_611, moved });
  assert.deepEqual(await atStart(), [202_611, 240], 'the credits are not renewed');

  const again = await correct(right, ...present, '--yes');
  assert.deepEqual([again.status, again.out], [0, '']);
  assert.match(again.talk, /^Nothing is charged to a later month than 202611\./);
  const audit = await runCommand(ledger, ['audit', '--json'], environment, right);
  assert.equal(JSON.parse(audit.out).ok, true, audit.out);
});
