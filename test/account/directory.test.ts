import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
} from '../../src/account/directory.ts';
import { ApiError } from '../../src/core/errors.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const DAY_MS = 86_400_000;

/** A ledger with one pro account and its key. */
async function world() {
  const clock = new ManualClock();
  const ledger = memoryLedger(clock);
  const record = await createAccount(ledger, clock, { name: 'Ann', tier: 'pro' });
  const { text, record: key } = await createKey(ledger, clock, { accountId: record.id });
  const cells = await OwnedCells.open(ledger, clock);
  const open = (more: Partial<AccountDirectoryOptions> = {}) =>
    AccountDirectory.open({ ledger, cells, clock, ...more });
  return { clock, ledger, record, key, text, cells, open };
}

describe('a directory that is closed', () => {
  it('takes no more changes', async () => {
    const { open, ledger, clock } = await world();
    const directory = await open();
    directory.close();
    const { id } = await createAccount(ledger, clock, { name: 'Ben', tier: 'pro' });
    assert.equal(directory.account(id), undefined);
  });
});

describe('authentication', () => {
  it('returns the account and the key, the same object each time', async () => {
    const { open, text, record, key } = await world();
    const directory = await open();
    const found = directory.authenticate(text);
    assert.deepEqual(found?.account.record, record);
    assert.deepEqual(found?.key, key);
    assert.equal(found?.account.allowance.requestsPerMinute, 500);
    assert.equal(directory.authenticate(text), found);
    assert.equal(directory.account(record.id), found?.account);
    assert.equal(directory.demo(), undefined);
    const nothing = { version: 9, isWhole: false, accounts: [], keys: [], revoked: [] };
    await directory.directoryChanged(nothing, 0);
    assert.equal(directory.authenticate(text), found);
    const renamed = { ...record, name: 'Anna' };
    await directory.directoryChanged({ ...nothing, accounts: [renamed], keys: [key] }, 0);
    assert.deepEqual(directory.authenticate(text)?.account.record, renamed);
    await directory.directoryChanged({ ...nothing, isWhole: true }, 0);
    assert.equal(directory.authenticate(text), undefined, 'these are all, and it is none of them');
  });

  it('refuses text that is no key, unknown keys, and the right id with another secret', async () => {
    const { open, text, ledger, key } = await world();
    await ledger.putKey({ ...key, keyId: mintKey('pro').keyId, digest: 'short' });
    const directory = await open();
    const other = mintKey('pro');
    await ledger.putKey({ ...key, keyId: other.keyId }); // stored with the digest of `text`
    for (const wrong of ['', 'x', text.slice(1), `${text} `, mintKey('pro').text, other.text]) {
      assert.equal(directory.authenticate(wrong), undefined, wrong);
    }
    assert.notEqual(directory.authenticate(text), undefined);
  });

  it('refuses a key after its expiry, even if it was used before', async () => {
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

  it('a revoked key is refused as soon as it is revoked, even before the time of its revocation', async () => {
    const { open, ledger, clock, key, text } = await world();
    const directory = await open();
    assert.notEqual(directory.authenticate(text), undefined);
    await revokeKey(ledger, clock, key.keyId);
    clock.wall -= 3_600_000;
    assert.equal(directory.authenticate(text), undefined);
  });

  it('accepts the old key during the grace of a rotation, and the new key at once', async () => {
    const { open, ledger, clock, key, text } = await world();
    const directory = await open();
    const { created } = await rotateKey(ledger, clock, key.keyId, 60_000);
    assert.notEqual(directory.authenticate(created.text), undefined);
    clock.wall += 59_999;
    assert.notEqual(directory.authenticate(text), undefined);
    clock.wall += 1;
    assert.equal(directory.authenticate(text), undefined);
    assert.notEqual(directory.authenticate(created.text), undefined);
  });
});

describe('the view of accounts', () => {
  it('an account keeps its meter, under its new limits', async () => {
    const { open, ledger, clock, record } = await world();
    const directory = await open();
    const { meter } = directory.account(record.id)!;
    for (let i = 0; i < 9; i++) meter.admit(clock.monotonicMs());
    meter.enter(clock.monotonicMs(), 202_311);
    await setAccount(ledger, record.id, { tier: 'business' });
    const changed = directory.account(record.id)!;
    assert.equal(changed.meter, meter);
    assert.equal(changed.allowance.creditsPerMonth, 102_400);
    assert.equal(meter.peek(clock.monotonicMs()).remaining, 2_990);
    assert.equal(meter.left(202_311).requests, 4_999_999);
  });

  it('applies changes one after the other, and ends each once it is in force', async () => {
    const { ledger, clock, key, cells, open } = await world();
    const slow = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const slowCells = {
      ...cells,
      async cellsOf(accounts: Parameters<OwnedCells['cellsOf']>[0]) {
        if (accounts.some(({ number }) => number === 2)) {
          begun.resolve();
          await slow.promise;
        }
        return cells.cellsOf(accounts);
      },
    };
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const directory = await open({ cells: slowCells as unknown as OwnedCells });
    const made = createAccount(ledger, clock, { name: 'Bob', tier: 'free' }).then(() => end('made'));
    await begun.promise;
    const revoked = revokeKey(ledger, clock, key.keyId).then(() => end('revoked'));
    assert.equal([...directory.accounts()].length, 1);
    slow.resolve();
    assert.equal(await ended, 'made');
    await Promise.all([made, revoked]);
    assert.equal([...directory.accounts()].length, 2);
  });

  it('cannot begin without the ledger, and says so', async () => {
    const { open } = await world();
    const follow = () => Promise.reject(new Error('disk gone'));
    await assert.rejects(open({ ledger: { follow } }), (error: Error) => {
      assert.match(error.message, /accounts and keys cannot be read from the ledger/);
      assert.equal((error.cause as Error).message, 'disk gone');
      return true;
    });
  });

  it('refuses everybody once it has missed a change', async () => {
    const { ledger, clock, cells, open, text } = await world();
    const failing = {
      ask: cells.ask,
      cellsOf: (accounts: Parameters<OwnedCells['cellsOf']>[0]) =>
        accounts.some(({ number }) => number === 2)
          ? Promise.reject(new Error('the thread is gone'))
          : cells.cellsOf(accounts),
    };
    const directory = await open({ cells: failing });
    await createAccount(ledger, clock, { name: 'Bob', tier: 'free' });
    assert.throws(() => directory.authenticate(text), { code: 'storage_unavailable' });
  });

  it('serves for 1 second without the ledger on a node of several, then refuses everybody, and recovers', async () => {
    const { ledger, clock, text, open } = await world();
    const directory = await open({ isShared: true });
    const alone = await open();
    clock.advance(1_000);
    assert.notEqual(directory.authenticate(text), undefined);
    clock.advance(1);
    assert.throws(
      () => directory.authenticate(text),
      (error) =>
        error instanceof ApiError && error.code === 'storage_unavailable' && error.facts.retryAfterS === 5,
    );
    assert.notEqual(directory.authenticateByView(text), undefined);
    assert.notEqual(alone.authenticate(text), undefined, 'a single node makes every change itself');
    await directory.directoryChanged(await ledger.directoryChanges(2), clock.monotonicMs() - 1_000);
    assert.notEqual(directory.authenticate(text), undefined, 'by when it was read, not by when it came');
    clock.advance(1);
    assert.throws(() => directory.authenticate(text), { code: 'storage_unavailable' });
  });

  it('reports the rate limits that a restart must restore', async () => {
    const { open, ledger, clock, record, cells } = await world();
    await createAccount(ledger, clock, { name: 'idle', tier: 'pro' });
    const directory = await open();
    assert.deepEqual(cells.rates(), []);
    directory.account(record.id)!.meter.admit(clock.monotonicMs());
    assert.deepEqual(cells.rates(), [
      { accountNumber: record.number, tatMs: clock.wallMs() + 120, admittedAtMs: [clock.wallMs()] },
    ]);
    await ledger.saveRates(cells.rates());
    clock.advance(3_000);
    const restarted = await OwnedCells.open(ledger, clock);
    const again = await AccountDirectory.open({ ledger, cells: restarted, clock });
    assert.equal(again.account(record.id)!.meter.peek(clock.monotonicMs()).remaining, 749);
  });
});

describe('the demo account', () => {
  it("is no account that an operator gave its name: visitors of the status page spend no customer's credits", async () => {
    const { clock, ledger, open } = await world();
    const named = { name: DEMO_ACCOUNT_NAME, tier: 'pro' } as const;
    const first = await createAccount(ledger, clock, named);
    const accountId = first.id;
    const directory = await open();
    assert.equal(directory.demo(), undefined, 'it has no key');
    const expiresAtMs = clock.wallMs() + DAY_MS;
    await createKey(ledger, clock, { accountId, expiresAtMs });
    const later = await createAccount(ledger, clock, named);
    await createKey(ledger, clock, { accountId: later.id });
    const whole = {
      version: 9,
      isWhole: true,
      accounts: [later, first],
      keys: await ledger.keys(),
      revoked: [],
    };
    await directory.directoryChanged(whole, 0);
    assert.equal(directory.demo()?.record.id, accountId, 'the oldest of the name');
    const { record } = await createKey(ledger, clock, { accountId, expiresAtMs: expiresAtMs + 1 });
    assert.equal(directory.demo(), undefined);
    await revokeKey(ledger, clock, record.keyId);
    assert.equal(directory.demo()?.record.id, accountId);
    clock.advance(DAY_MS);
    assert.equal(directory.demo(), undefined, 'its key has ended');
  });
});
