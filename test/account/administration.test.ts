import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AdministrationError,
  createAccount,
  createKey,
  NO_OVERRIDES,
  revokeKey,
  rotateKey,
  setAccount,
} from '../../src/account/administration.ts';
import { digestOfKey, parseKey } from '../../src/account/api-keys.ts';
import { SCOPES } from '../../src/core/vocabulary.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const DAY_MS = 86_400_000;

async function world() {
  const clock = new ManualClock();
  const ledger = memoryLedger(clock);
  const account = await createAccount(ledger, clock, { name: 'Ann', tier: 'pro' });
  return { clock, ledger, account };
}

/** Asserts that the change is refused and nothing is written. */
async function refused(ledger: Ledger, asked: () => Promise<unknown>, message: RegExp): Promise<void> {
  const version = (await ledger.directoryChanges(undefined)).version;
  await assert.rejects(asked, (error) => error instanceof AdministrationError && message.test(error.message));
  assert.equal((await ledger.directoryChanges(undefined)).version, version);
}

describe('accounts', () => {
  it('get an id, the next number and their tier', async () => {
    const { clock, ledger, account } = await world();
    const second = await createAccount(ledger, clock, {
      name: 'Büro 2 — 北京',
      tier: 'enterprise',
      overrides: { requestsPerMinute: 5_000 },
    });
    assert.match(account.id, /^acct_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    assert.deepEqual([account.number, second.number], [1, 2]);
    assert.equal(account.createdAtMs, clock.wallMs());
    assert.deepEqual(account.overrides, NO_OVERRIDES);
    assert.deepEqual(second.overrides, { ...NO_OVERRIDES, requestsPerMinute: 5_000 });
    assert.deepEqual(await ledger.accounts(), [account, second]);
  });

  it('have a visible name and limits that make sense', async () => {
    const { clock, ledger, account } = await world();
    const least = { requestsPerMinute: 1, requestsPerMonth: 0, creditsPerMonth: 0, seedIntervalMs: 1_000 };
    const name = 'x'.repeat(100);
    await createAccount(ledger, clock, { name, tier: 'enterprise', overrides: least });
    for (const name of [
      '',
      ' a',
      'a ',
      'a\nb',
      'a\u0000',
      'a\u202eb',
      'a\u2028b',
      '\ud800',
      'x'.repeat(101),
    ]) {
      await refused(
        ledger,
        () => createAccount(ledger, clock, { name, tier: 'free' }),
        /the name must be 1 to 100/,
      );
      await refused(ledger, () => setAccount(ledger, account.id, { name }), /the name must be 1 to 100/);
    }
    for (const [overrides, message] of [
      [{ requestsPerMinute: 0 }, /requestsPerMinute must be a whole number of at least 1/],
      [{ requestsPerMonth: 1.5 }, /requestsPerMonth must be a whole number of at least 0/],
      [{ creditsPerMonth: -1 }, /creditsPerMonth must be a whole number of at least 0/],
      [{ seedIntervalMs: 999 }, /seedIntervalMs must be a whole number of at least 1000/],
    ] as const) {
      await refused(
        ledger,
        () => createAccount(ledger, clock, { name: 'E', tier: 'enterprise', overrides }),
        message,
      );
    }
    const overrides = { creditsPerMonth: 5 };
    await refused(
      ledger,
      () => createAccount(ledger, clock, { name: 'P', tier: 'pro', overrides }),
      /enterprise tier/,
    );
  });

  it('change only in the members that a change names', async () => {
    const { ledger, account } = await world();
    const own = { overrides: { seedIntervalMs: 5_000 } };
    await refused(ledger, () => setAccount(ledger, account.id, own), /enterprise/);
    assert.deepEqual(await setAccount(ledger, account.id, { name: 'Anna' }), { ...account, name: 'Anna' });
    const up = await setAccount(ledger, account.id, {
      tier: 'enterprise',
      overrides: { requestsPerMinute: 9 },
    });
    assert.deepEqual(up, {
      ...account,
      name: 'Anna',
      tier: 'enterprise',
      overrides: { ...NO_OVERRIDES, requestsPerMinute: 9 },
    });
    const more = await setAccount(ledger, account.id, { overrides: { creditsPerMonth: 7 } });
    assert.deepEqual(more.overrides, { ...NO_OVERRIDES, requestsPerMinute: 9, creditsPerMonth: 7 });
    const less = await setAccount(ledger, account.id, { overrides: { requestsPerMinute: null } });
    assert.deepEqual(less.overrides, { ...NO_OVERRIDES, creditsPerMonth: 7 });
    const down = await setAccount(ledger, account.id, { tier: 'free' });
    assert.deepEqual(down.overrides, NO_OVERRIDES);
    assert.deepEqual(await ledger.accounts(), [down]);
  });
});

describe('keys', () => {
  it('have all scopes and no expiry by default, and are stored as a digest', async () => {
    const { clock, ledger, account } = await world();
    const { record, text } = await createKey(ledger, clock, { accountId: account.id });
    assert.deepEqual(record, {
      keyId: parseKey(text)!.keyId,
      accountId: account.id,
      digest: digestOfKey(text),
      scopes: [...SCOPES],
      createdAtMs: clock.wallMs(),
      expiresAtMs: null,
      revokedAtMs: null,
    });
    assert.deepEqual(await ledger.keys(), [record]);
    assert.ok(text.startsWith('qrn_p_'));
    assert.ok(!JSON.stringify(await ledger.keys()).includes(text.slice(28)));
  });

  it('are refused without an account, without a scope or with an expiry in the past', async () => {
    const { clock, ledger, account } = await world();
    const accountId = account.id;
    await refused(
      ledger,
      () => createKey(ledger, clock, { accountId: 'acct_x' }),
      /there is no account acct_x/,
    );
    await refused(ledger, () => createKey(ledger, clock, { accountId, scopes: [] }), /at least one scope/);
    const expiresAtMs = clock.wallMs();
    await refused(
      ledger,
      () => createKey(ledger, clock, { accountId, expiresAtMs }),
      /must be in the future/,
    );
  });

  it('are replaced at a rotation by a like key, while the old one stays valid for a day', async () => {
    const { clock, ledger, account } = await world();
    const expiresAtMs = clock.wallMs() + 90 * DAY_MS;
    const wish = { accountId: account.id, scopes: ['health:read'] as const, expiresAtMs };
    const { record: first } = await createKey(ledger, clock, wish);
    clock.advance(5_000);
    const { created, old } = await rotateKey(ledger, clock, first.keyId);
    assert.deepEqual(created.record.scopes, ['health:read']);
    assert.equal(created.record.expiresAtMs, expiresAtMs);
    assert.deepEqual(old, { ...first, expiresAtMs: clock.wallMs() + DAY_MS });
    assert.deepEqual(new Set(await ledger.keys()), new Set([old, created.record]));
  });

  it('do not live longer because of the grace of a rotation', async () => {
    const { clock, ledger, account } = await world();
    const expiresAtMs = clock.wallMs() + 1_000;
    const { record } = await createKey(ledger, clock, { accountId: account.id, expiresAtMs });
    assert.equal((await rotateKey(ledger, clock, record.keyId)).old.expiresAtMs, expiresAtMs);
  });

  it('cannot be rotated once they have ended', async () => {
    const { clock, ledger, account } = await world();
    const expiresAtMs = clock.wallMs() + 1_000;
    const expiring = await createKey(ledger, clock, { accountId: account.id, expiresAtMs });
    const revoked = await createKey(ledger, clock, { accountId: account.id });
    await revokeKey(ledger, clock, revoked.record.keyId);
    clock.advance(1_000);
    await refused(ledger, () => rotateKey(ledger, clock, expiring.record.keyId), /has expired/);
    await refused(ledger, () => rotateKey(ledger, clock, revoked.record.keyId), /is revoked/);
    const again = await revokeKey(ledger, clock, revoked.record.keyId);
    assert.equal(again.revokedAtMs, clock.wallMs() - 1_000, 'the first time counts');
    await refused(ledger, () => rotateKey(ledger, clock, 'none'), /there is no key none/);
  });
});
