import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { OwnedCells } from '../../src/account/cells.ts';
import { AccountDirectory } from '../../src/account/directory.ts';
import { systemClock } from '../../src/core/clock.ts';
import { SCOPES } from '../../src/core/vocabulary.ts';
import type { LmdbLedger } from '../../src/ledger/lmdb/lmdb-ledger.ts';
import { openTestLedger } from '../support/ledger-folder.ts';
import type { CommandRun } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { STRIPPED } from '../support/server.ts';

describe('changes of accounts and keys beside a running service', () => {
  const dataDir = scratchFolder();
  let commands: ChildProcess;
  let ledger: LmdbLedger;
  let directory: AccountDirectory;

  before(async () => {
    ledger = await openTestLedger(join(dataDir, 'ledger'), { clock: systemClock });
    const cells = await OwnedCells.open(ledger, systemClock);
    directory = await AccountDirectory.open({ ledger, cells, clock: systemClock });
    commands = fork(new URL('./command-process.ts', import.meta.url), {
      execArgv: [...STRIPPED],
      env: { PATH: process.env['PATH'] ?? '', QRN_DATA_DIR: dataDir },
    });
  });
  after(async () => {
    commands.disconnect();
    directory.close();
    await ledger.close();
  });

  /** Runs one command in the other process. */
  const qrn = async (args: readonly string[]): Promise<CommandRun> => {
    commands.send(args);
    return (await once(commands, 'message'))[0] as CommandRun;
  };

  /** Runs a command, as it is typed, that must succeed and print one line of JSON. */
  const qrnJson = async (line: string) => {
    const { status, out, talk } = await qrn([...line.split(' '), '--json']);
    assert.deepEqual([status, talk], [0, '']);
    assert.match(out, /^[^\n]+\n$/);
    return JSON.parse(out);
  };

  const authenticate = (key: string) => directory.authenticate(key);

  it('make an Enterprise account with its own limits, and change its limits', async () => {
    const limits = '--requests-per-minute 600 --requests-per-month 7000 --seed-interval-ms 60000';
    const made = await qrnJson(`accounts create --name E --tier enterprise ${limits}`);
    const account = authenticate(made.key)?.account;
    assert.equal(account?.record.id, made.account_id);
    assert.equal(account?.allowance.requestsPerMinute, 600);

    const change = '--requests-per-minute none --credits-per-month 0 --name E2';
    const changed = await qrnJson(`accounts set ${made.account_id} ${change}`);
    const { created_at: createdAt, ...facts } = changed;
    assert.match(createdAt, /^20\d\d-.*Z$/);
    assert.deepEqual(facts, {
      account_id: made.account_id,
      name: 'E2',
      tier: 'enterprise',
      requests_per_minute: Number.MAX_SAFE_INTEGER,
      requests_per_month: 7_000,
      credits_per_month: 0,
      seed_interval_ms: 60_000,
    });
    assert.deepEqual((await qrnJson('accounts list')).at(-1), changed);
    assert.equal(authenticate(made.key)?.account.allowance.creditsPerMonth, 0);

    const down = await qrn(['accounts', 'set', made.account_id, '--tier', 'free']);
    assert.match(down.out, /^tier +free$/m);
    assert.match(down.out, /^seed_interval_ms +-$/m);
    assert.equal(authenticate(made.key)?.account.allowance.requestsPerMonth, 1_000);
  });

  it('make, rotate and revoke keys', async () => {
    const { account_id: account } = await qrnJson('accounts create --name K --tier pro');
    const wish = '--scopes usage:read,entropy:read --expires 2099-01-31T12:00:00Z';
    const made = await qrnJson(`keys create --account ${account} ${wish}`);
    assert.deepEqual(Object.keys(made), ['key_id', 'key', 'scopes', 'expires_at']);
    assert.deepEqual(made.scopes, ['entropy:read', 'usage:read']);
    assert.equal(made.expires_at, '2099-01-31T12:00:00.000Z');
    assert.deepEqual(authenticate(made.key)?.key.scopes, made.scopes);

    const rotated = await qrnJson(`keys rotate ${made.key_id} --grace 0`);
    assert.equal(rotated.replaces, made.key_id);
    assert.deepEqual([rotated.scopes, rotated.expires_at], [made.scopes, made.expires_at]);
    assert.equal(authenticate(made.key), undefined);
    assert.deepEqual(authenticate(rotated.key)?.key.scopes, made.scopes);

    const revoked = await qrnJson(`keys revoke ${rotated.key_id}`);
    assert.equal(revoked.key_id, rotated.key_id);
    assert.equal(authenticate(rotated.key), undefined);
    assert.deepEqual(await qrnJson(`keys revoke ${rotated.key_id}`), revoked);

    const listed: { status: string; scopes: string[]; key?: string }[] = await qrnJson(
      `keys list --account ${account}`,
    );
    assert.deepEqual(
      listed.map((key) => key.status),
      ['live', 'expired', 'revoked'],
    );
    assert.deepEqual(listed[0].scopes, [...SCOPES]);
    assert.ok(listed.every((key) => key.key === undefined));
  });

  it('are refused when they are impossible', async () => {
    const wrong: readonly [readonly string[], string][] = [
      [['accounts', 'set', 'acct_x', '--name', 'y'], 'qrn accounts set: there is no account acct_x\n'],
      [['keys', 'create', '--account', 'acct_x'], 'qrn keys create: there is no account acct_x\n'],
      [['keys', 'list', '--account', 'acct_x'], 'qrn keys list: there is no account acct_x\n'],
      [['keys', 'rotate', 'x'], 'qrn keys rotate: there is no key x\n'],
    ];
    for (const [args, talk] of wrong) assert.deepEqual(await qrn(args), { status: 1, out: '', talk });
  });
});
