import { type Clock, isoTime } from '../core/clock.ts';
import { base32Of } from '../core/ids.ts';
import { SCOPES, type Scope, type Tier } from '../core/vocabulary.ts';
import { fillSystemEntropy } from '../crypto/system-entropy.ts';
import type { Directory } from '../ledger/ledger.ts';
import type { AccountOverrides, AccountRecord, KeyRecord } from '../ledger/records.ts';
import { mintKey } from './api-keys.ts';

/** The operator asked for something impossible. The message says what and why. */
export class AdministrationError extends Error {
  override name = 'AdministrationError';
}

/** The calls of the ledger that change accounts and keys. */
type AccountBooks = Pick<Directory, 'accounts' | 'keys' | 'createAccount' | 'putAccount' | 'putKey'>;

const NAME_LENGTH_MAX = 100;
export const ROTATION_GRACE_MS = 24 * 60 * 60_000;

export const NO_OVERRIDES: AccountOverrides = {
  requestsPerMinute: null,
  requestsPerMonth: null,
  creditsPerMonth: null,
  seedIntervalMs: null,
};

/** The least value of each override. A rate of 0 would lock the account out; revoking its keys is the way to do that. */
const OVERRIDE_MIN: Readonly<Record<keyof AccountOverrides, number>> = {
  requestsPerMinute: 1,
  requestsPerMonth: 0,
  creditsPerMonth: 0,
  seedIntervalMs: 1_000,
};

export interface CreatedKey {
  readonly record: KeyRecord;
  /** The whole key, which is shown once and stored nowhere. */
  readonly text: string;
}

/** Creates an account without keys. Rejects with an AdministrationError. */
export async function createAccount(
  directory: AccountBooks,
  clock: Clock,
  wish: { readonly name: string; readonly tier: Tier; readonly overrides?: Partial<AccountOverrides> },
): Promise<AccountRecord> {
  const overrides = { ...NO_OVERRIDES, ...wish.overrides };
  checkName(wish.name);
  checkOverrides(wish.tier, overrides);
  return directory.createAccount({
    id: `acct_${base32Of(fillSystemEntropy(new Uint8Array(16)))}`,
    name: wish.name,
    tier: wish.tier,
    createdAtMs: clock.wallMs(),
    overrides,
  });
}

/**
 * Changes the members that are given and keeps the rest. An override of null restores the tier's figure. An account that
 * leaves Enterprise loses its overrides. What the account has used stays used.
 */
export async function setAccount(
  directory: AccountBooks,
  accountId: string,
  change: { readonly name?: string; readonly tier?: Tier; readonly overrides?: Partial<AccountOverrides> },
): Promise<AccountRecord> {
  const account = await accountOf(directory, accountId);
  const tier = change.tier ?? account.tier;
  const kept = tier === 'enterprise' ? account.overrides : NO_OVERRIDES;
  const changed: AccountRecord = {
    ...account,
    name: change.name ?? account.name,
    tier,
    overrides: { ...kept, ...change.overrides },
  };
  checkName(changed.name);
  checkOverrides(tier, changed.overrides);
  await directory.putAccount(changed);
  return changed;
}

/** Creates a key of the account, with all scopes and no expiry unless the wish names them. */
export async function createKey(
  directory: AccountBooks,
  clock: Clock,
  wish: {
    readonly accountId: string;
    readonly scopes?: readonly Scope[];
    readonly expiresAtMs?: number | null;
  },
): Promise<CreatedKey> {
  const account = await accountOf(directory, wish.accountId);
  const scopes = SCOPES.filter((scope) => wish.scopes === undefined || wish.scopes.includes(scope));
  const expiresAtMs = wish.expiresAtMs ?? null;
  if (scopes.length === 0) throw new AdministrationError('a key must have at least one scope');
  if (expiresAtMs !== null && expiresAtMs <= clock.wallMs()) {
    throw new AdministrationError(`the expiry time ${isoTime(expiresAtMs)} must be in the future`);
  }
  return putNewKey(directory, clock, account, scopes, expiresAtMs);
}

/**
 * Creates a key with the old key's scopes and expiry, and lets the old key expire after the grace period. Stores the new key
 * first, so that an interruption leaves two valid keys, never none.
 */
export async function rotateKey(
  directory: AccountBooks,
  clock: Clock,
  keyId: string,
  graceMs = ROTATION_GRACE_MS,
): Promise<{ readonly created: CreatedKey; readonly old: KeyRecord }> {
  const key = await keyOf(directory, keyId);
  const nowMs = clock.wallMs();
  if (key.revokedAtMs !== null)
    throw new AdministrationError(`the key ${keyId} is revoked; create a new key`);
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) {
    throw new AdministrationError(`the key ${keyId} has expired; create a new key`);
  }
  const account = await accountOf(directory, key.accountId);
  const created = await putNewKey(directory, clock, account, key.scopes, key.expiresAtMs);
  const old = { ...key, expiresAtMs: Math.min(key.expiresAtMs ?? Number.POSITIVE_INFINITY, nowMs + graceMs) };
  await directory.putKey(old);
  return { created, old };
}

/** Revokes a key for good. Revoking it again keeps the time of the first revocation. */
export async function revokeKey(directory: AccountBooks, clock: Clock, keyId: string): Promise<KeyRecord> {
  const key = await keyOf(directory, keyId);
  if (key.revokedAtMs !== null) return key;
  const revoked = { ...key, revokedAtMs: clock.wallMs() };
  await directory.putKey(revoked);
  return revoked;
}

async function putNewKey(
  directory: AccountBooks,
  clock: Clock,
  account: AccountRecord,
  scopes: readonly Scope[],
  expiresAtMs: number | null,
): Promise<CreatedKey> {
  const { keyId, text, digest } = mintKey(account.tier);
  const createdAtMs = clock.wallMs();
  const record = {
    keyId,
    accountId: account.id,
    digest,
    scopes,
    createdAtMs,
    expiresAtMs,
    revokedAtMs: null,
  };
  await directory.putKey(record);
  return { record, text };
}

async function accountOf(directory: AccountBooks, accountId: string): Promise<AccountRecord> {
  const found = (await directory.accounts()).find((account) => account.id === accountId);
  if (found === undefined) throw new AdministrationError(`there is no account ${accountId}`);
  return found;
}

async function keyOf(directory: AccountBooks, keyId: string): Promise<KeyRecord> {
  const found = (await directory.keys()).find((key) => key.keyId === keyId);
  if (found === undefined) throw new AdministrationError(`there is no key ${keyId}`);
  return found;
}

function checkName(name: string): void {
  const visible = name.trim() === name && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name) && name.isWellFormed();
  if (name.length < 1 || name.length > NAME_LENGTH_MAX || !visible) {
    throw new AdministrationError(
      `the name must be 1 to ${NAME_LENGTH_MAX} visible characters without spaces at its ends`,
    );
  }
}

function checkOverrides(tier: Tier, overrides: AccountOverrides): void {
  for (const [name, value] of Object.entries(overrides) as [keyof AccountOverrides, number | null][]) {
    if (value === null) continue;
    if (tier !== 'enterprise') {
      throw new AdministrationError(
        `an account of the ${tier} tier cannot have its own limits; only accounts of the enterprise tier can`,
      );
    }
    if (!Number.isSafeInteger(value) || value < OVERRIDE_MIN[name]) {
      throw new AdministrationError(`${name} must be a whole number of at least ${OVERRIDE_MIN[name]}`);
    }
  }
}
