import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import {
  createAccount,
  createKey,
  revokeKey,
  rotateKey,
  setAccount,
} from '../../src/account/administration.ts';
import { mintKey } from '../../src/account/api-keys.ts';
import { OwnedCells } from '../../src/account/cells.ts';
import {
  AccountDirectory,
  type AccountDirectoryOptions,
  DEMO_ACCOUNT_NAME,
  DEMO_KEY_LIFE_MS,
} from '../../src/account/directory.ts';
import { ApiError } from '../../src/core/errors.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';

/** A ledger with one pro account and its key, and a directory over it that may be made to fail. */
async function world() {
  const clock = new ManualClock();
  const ledger = new MemoryLedger(clock);
  const record = await createAccount(ledger, clock, { name: 'Ann', tier: 'pro' });
  const { text, record: key } = await createKey(ledger, clock, { accountId: record.id });
  let broken = false;
  /** Accounts and keys. */
  let reads = 0;
  const applied: number[] = [];
  const orFail = <T>(answer: Promise<T>): Promise<T> =>
    broken ? Promise.reject(new Error('disk gone')) : answer;
  const directory: AccountDirectoryOptions['directory'] = {
    directoryChanges: async (since) => {
      const changes = await orFail(ledger.directoryChanges(since));
      reads += changes.accounts.length + changes.keys.length;
      return changes;
    },
    directoryApplied: async (_reader, version) => {
      applied.push(version);
    },
  };
  const logged: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (_facts, message) => logged.push(`error: ${message}`),
    info: (_facts, message) => logged.push(`info: ${message}`),
  };
  const cells = await OwnedCells.open(ledger, clock);
  const open = () => AccountDirectory.open({ directory, cells, clock, log });
  return {
    clock,
    ledger,
    record,
    key,
    text,
    logged,
    applied,
    open,
    breakLedger: (isBroken = true) => {
      broken = isBroken;
    },
    reads: () => reads,
  };
}

describe('authentication', () => {
  it('gives the account and the key, the same object each time', async () => {
    const { open, text, record, key } = await world();
    const directory = await open();
    const found = directory.authenticate(text);
    assert.deepEqual(found?.account.record, record);
    assert.deepEqual(found?.key, key);
    assert.equal(found?.account.allowance.requestsPerMinute, 500);
    assert.equal(directory.authenticate(text), found);
    assert.equal(directory.account(record.id), found?.account);
  });

  it('refuses what is no key, a stranger, and the right id with another secret', async () => {
    const { open, text, ledger, key } = await world();
    await ledger.putKey({ ...key, keyId: mintKey('pro').keyId, digest: 'short' });
    const directory = await open();
    const other = mintKey('pro');
    await ledger.putKey({ ...key, keyId: other.keyId }); // stored with the digest of `text`
    await directory.refresh();
    for (const wrong of ['', 'x', text.slice(1), `${text} `, mintKey('pro').text, other.text]) {
      assert.equal(directory.authenticate(wrong), undefined, wrong);
    }
    assert.notEqual(directory.authenticate(text), undefined);
  });

  it('refuses a key whose account it has not read yet', async () => {
    const { ledger, clock, text } = await world();
    let isWithout = true;
    const directory = await AccountDirectory.open({
      directory: {
        directoryChanges: async () => {
          const changes = await ledger.directoryChanges(undefined);
          return isWithout ? { ...changes, accounts: [] } : changes;
        },
        directoryApplied: async () => {},
      },
      cells: await OwnedCells.open(ledger, clock),
      clock,
      log: silentLog,
    });
    assert.equal(directory.authenticate(text), undefined);
    isWithout = false;
    await createAccount(ledger, clock, { name: 'Bob', tier: 'free' });
    await directory.refresh();
    assert.notEqual(directory.authenticate(text), undefined);
  });

  it('a key ends with its expiry, also when it was used before', async () => {
    const { open, ledger, clock, record } = await world();
    const { text } = await createKey(ledger, clock, {
      accountId: record.id,
      expiresAtMs: clock.wallMs() + 1_000,
    });
    const directory = await open();
    clock.wall += 999;
    assert.notEqual(directory.authenticate(text), undefined);
    clock.wall += 1;
    assert.equal(directory.authenticate(text), undefined);
  });

  it('a revoked key is refused from the next look on, even before the time of its revocation', async () => {
    const { open, ledger, clock, key, text } = await world();
    const directory = await open();
    assert.notEqual(directory.authenticate(text), undefined);
    await revokeKey(ledger, clock, key.keyId);
    clock.wall -= 3_600_000;
    await directory.refresh();
    assert.equal(directory.authenticate(text), undefined);
  });

  it('a rotated key goes on for its grace, the new one at once', async () => {
    const { open, ledger, clock, key, text } = await world();
    const directory = await open();
    const { created } = await rotateKey(ledger, clock, key.keyId, 60_000);
    await directory.refresh();
    assert.notEqual(directory.authenticate(created.text), undefined);
    clock.wall += 59_999;
    assert.notEqual(directory.authenticate(text), undefined);
    clock.wall += 1;
    assert.equal(directory.authenticate(text), undefined);
    assert.notEqual(directory.authenticate(created.text), undefined);
  });
});

describe('the view of accounts', () => {
  it('looks for at most 20 unknown keys a second, and for as many a second later', async () => {
    const { clock, open } = await world();
    const directory = await open();
    const lookUps = () => {
      let count = 0;
      while (directory.mayBeNew(mintKey('pro').text)) count++;
      return count;
    };
    const first = lookUps();
    clock.advance(999);
    const early = lookUps();
    clock.advance(1);
    assert.deepEqual([first, early, lookUps()], [20, 0, 20]);
  });

  it('reads what has changed in the ledger, and nothing else again', async () => {
    const { open, reads, ledger, clock } = await world();
    const directory = await open();
    await directory.refresh();
    await directory.refresh();
    assert.equal(reads(), 2, 'the account and its key');
    const created = await createAccount(ledger, clock, { name: 'Bob', tier: 'free' });
    await directory.refresh();
    assert.equal(reads(), 3);
    assert.equal(directory.account(created.id)?.allowance.requestsPerMinute, 10);
    assert.equal([...directory.accounts()].length, 2);
  });

  it('an account keeps its meter, under its new limits', async () => {
    const { open, ledger, clock, record } = await world();
    const directory = await open();
    const { meter } = directory.account(record.id)!;
    for (let i = 0; i < 9; i++) meter.admit(clock.monotonicMs());
    meter.enter(clock.monotonicMs(), 202_311);
    await setAccount(ledger, record.id, { tier: 'business' });
    await directory.refresh();
    const changed = directory.account(record.id)!;
    assert.equal(changed.meter, meter);
    assert.equal(changed.allowance.creditsPerMonth, 102_400);
    assert.equal(meter.peek(clock.monotonicMs()).remaining, 2_990);
    assert.equal(meter.left(202_311).requests, 4_999_999);
  });

  it('follows the ledger within a quarter of a second once started, until closed', async (t) => {
    const { open, ledger, clock, key, text } = await world();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const directory = await open();
    directory.start();
    t.mock.timers.tick(250);
    await settled();
    await revokeKey(ledger, clock, key.keyId);
    assert.notEqual(directory.authenticate(text), undefined);
    t.mock.timers.tick(250);
    await settled();
    assert.equal(directory.authenticate(text), undefined);
    t.mock.timers.tick(250);
    directory.close(); // while it looks
    await settled();
    await ledger.putKey(key);
    t.mock.timers.tick(10_000);
    await settled();
    assert.equal(directory.authenticate(text), undefined, 'a closed directory looks no more');
  });

  it('tells the ledger which version it goes by, before its first look and when it closes', async () => {
    const { ledger, clock, key, open, applied } = await world();
    const first = await ledger.directoryVersion();
    const directory = await open();
    assert.deepEqual(applied, [-1, first]);
    await directory.refresh();
    assert.deepEqual(applied, [-1, first], 'once for each version');
    await revokeKey(ledger, clock, key.keyId);
    await directory.refresh();
    assert.deepEqual(applied, [-1, first, first + 1]);
    directory.close();
    assert.deepEqual(applied, [-1, first, first + 1, Number.MAX_SAFE_INTEGER]);
  });

  it('an older look never replaces a newer one', async () => {
    const { ledger, clock, key, text } = await world();
    const slow = Promise.withResolvers<void>();
    let looks = 0;
    const directory = await AccountDirectory.open({
      directory: {
        directoryChanges: async (since) => {
          const changes = await ledger.directoryChanges(since);
          if (++looks === 2) await slow.promise;
          return changes;
        },
        directoryApplied: async () => {},
      },
      cells: await OwnedCells.open(ledger, clock),
      clock,
      log: silentLog,
    });
    await createAccount(ledger, clock, { name: 'Bob', tier: 'free' });
    const older = directory.refresh();
    await settled();
    assert.equal(looks, 2);
    await revokeKey(ledger, clock, key.keyId);
    const newer = directory.refresh();
    await settled();
    slow.resolve();
    await Promise.all([older, newer]);
    assert.equal(directory.authenticate(text), undefined);
  });

  it('cannot begin without the ledger, and says so', async () => {
    const { open, breakLedger } = await world();
    breakLedger();
    await assert.rejects(open(), (error: Error) => {
      assert.match(error.message, /accounts and keys cannot be read from the ledger/);
      assert.equal((error.cause as Error).message, 'disk gone');
      return true;
    });
  });

  it('serves for 5 seconds without the ledger, then refuses everybody, and recovers', async () => {
    const { open, breakLedger, clock, text, logged } = await world();
    const directory = await open();
    breakLedger();
    clock.advance(5_000);
    await directory.refresh();
    await directory.refresh();
    assert.notEqual(directory.authenticate(text), undefined);
    clock.advance(1);
    assert.throws(
      () => directory.authenticate(text),
      (error) =>
        error instanceof ApiError && error.code === 'storage_unavailable' && error.facts.retryAfterS === 5,
    );
    breakLedger(false);
    await directory.refresh();
    assert.notEqual(directory.authenticate(text), undefined);
    assert.deepEqual(logged, [
      'error: accounts and keys cannot be read from the ledger',
      'info: accounts and keys can be read again',
    ]);
  });

  it('serves for 1 second without the ledger on a node of several, then refuses everybody', async () => {
    const { ledger, clock, text } = await world();
    const cells = await OwnedCells.open(ledger, clock);
    const directory = await AccountDirectory.open({
      directory: ledger,
      cells,
      clock,
      log: silentLog,
      isShared: true,
    });
    clock.advance(1_000);
    assert.notEqual(directory.authenticate(text), undefined);
    clock.advance(1);
    assert.throws(() => directory.authenticate(text), { code: 'storage_unavailable' });
  });

  it('asks the ledger again when this thread was busy for longer than a view may serve', async () => {
    const { open, clock, text } = await world();
    const directory = await open();
    clock.advance(60_000);
    assert.ok(directory.isOutdated);
    await directory.refreshInTime();
    assert.ok(!directory.isOutdated);
    assert.notEqual(directory.authenticate(text), undefined);
  });

  it('asks once for all who wait, and gives up on a ledger that hangs after 2 seconds', async (t) => {
    const { ledger, clock, record, text } = await world();
    let looks = 0;
    let gate = Promise.resolve();
    const directory = await AccountDirectory.open({
      directory: {
        directoryChanges: async (since) => {
          looks++;
          await gate;
          return ledger.directoryChanges(since);
        },
        directoryApplied: async () => {},
      },
      cells: await OwnedCells.open(ledger, clock),
      clock,
      log: silentLog,
    });
    const hung = Promise.withResolvers<void>();
    gate = hung.promise;
    t.mock.timers.enable({ apis: ['setTimeout'] });
    clock.advance(60_000);
    looks = 0;
    const first = directory.refreshInTime();
    await settled(); // its look has begun, and who asks now might miss a change if it waited for that
    const rest = Array.from({ length: 1_000 }, () => directory.refreshInTime());
    t.mock.timers.tick(2_000);
    await Promise.all([first, ...rest]);
    assert.throws(() => directory.authenticate(text), { code: 'storage_unavailable' });
    await directory.refreshInTime(); // at once: the mocked time stands still
    assert.equal(looks, 1);
    const { text: made } = await createKey(ledger, clock, { accountId: record.id });
    hung.resolve();
    await directory.refresh();
    assert.equal(looks, 2);
    assert.notEqual(directory.authenticate(text), undefined);
    assert.notEqual(directory.authenticate(made), undefined);
  });

  it('gives the rate limits that a restart must know of', async () => {
    const { open, ledger, clock, record } = await world();
    await createAccount(ledger, clock, { name: 'idle', tier: 'pro' });
    const directory = await open();
    assert.deepEqual(directory.rates(), []);
    directory.account(record.id)!.meter.admit(clock.monotonicMs());
    assert.deepEqual(directory.rates(), [
      { accountNumber: record.number, tatMs: clock.wallMs() + 120, admittedAtMs: [clock.wallMs()] },
    ]);
    await ledger.saveRates(directory.rates());
    clock.advance(3_000);
    const restarted = await OwnedCells.open(ledger, clock);
    const again = await AccountDirectory.open({ directory: ledger, cells: restarted, clock, log: silentLog });
    assert.equal(again.account(record.id)!.meter.peek(clock.monotonicMs()).remaining, 749);
  });
});

describe('the demo account', () => {
  it('is none that an operator called so: visitors of the status page spend nothing of a customer', async () => {
    const { clock, ledger, open } = await world();
    const { id: accountId } = await createAccount(ledger, clock, { name: DEMO_ACCOUNT_NAME, tier: 'pro' });
    const expiresAtMs = clock.wallMs() + DEMO_KEY_LIFE_MS;
    await createKey(ledger, clock, { accountId, expiresAtMs });
    const directory = await open();
    assert.equal(directory.demo()?.record.id, accountId);
    const { record } = await createKey(ledger, clock, { accountId });
    await directory.refresh();
    assert.equal(directory.demo(), undefined);
    await revokeKey(ledger, clock, record.keyId);
    await directory.refresh();
    assert.equal(directory.demo()?.record.id, accountId);
    clock.advance(DEMO_KEY_LIFE_MS);
    assert.equal(directory.demo(), undefined, 'its key has ended');
  });
});
