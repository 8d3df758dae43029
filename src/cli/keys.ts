import {
  type CreatedKey,
  createKey,
  ROTATION_GRACE_MS,
  revokeKey,
  rotateKey,
} from '../account/administration.ts';
import { isoTime } from '../core/clock.ts';
import { SCOPES } from '../core/vocabulary.ts';
import type { KeyRecord } from '../ledger/records.ts';
import { duration, listOf, moment, oneOf } from './arguments.ts';
import { action, CommandError, group, type Report } from './command.ts';
import { changeLedger, withLedger } from './ledger-access.ts';
import { columns } from './text.ts';

export const KEY_SHOWN_ONCE = 'The key is shown only once. Store it now.';
const KEY_ID = { name: 'KEY_ID', meaning: 'identifier of the key: 22 characters; see keys list' };

const create = action({
  path: 'keys create',
  summary: 'Creates another API key for an account. The key is shown only once.',
  options: {
    account: { value: 'ACCOUNT_ID', required: true, meaning: 'account that the key belongs to' },
    scopes: {
      value: 'A,B',
      meaning: `scopes of the key: ${SCOPES.join(', ')}; default: all of them`,
      read: listOf(oneOf(SCOPES)),
    },
    expires: {
      value: 'ISO',
      meaning: 'time at which the key expires, e.g. 2027-01-31T12:00:00Z; default: never',
      read: moment,
    },
    json: { meaning: 'print one JSON object: key_id, key, scopes, expires_at' },
  },
  run: async ({ account, scopes = SCOPES, expires = null }, context) => {
    const wish = { accountId: account, scopes: [...new Set(scopes)], expiresAtMs: expires };
    const { result } = await changeLedger(context, (ledger) => createKey(ledger, context.clock, wish));
    return shownOnce(result);
  },
});

const list = action({
  path: 'keys list',
  summary: 'Lists the API keys without their secret parts, which the service does not store.',
  options: {
    account: { value: 'ACCOUNT_ID', meaning: 'list only the keys of this account' },
    json: { meaning: 'print an array of JSON objects' },
  },
  run: async ({ account }, context) => {
    const nowMs = context.clock.wallMs();
    const data = await withLedger(context, async (ledger) => {
      if (account !== undefined && !(await ledger.accounts()).some(({ id }) => id === account)) {
        throw new CommandError(`there is no account ${account}`);
      }
      return (await ledger.keys())
        .filter((key) => account === undefined || key.accountId === account)
        .sort((a, b) => a.createdAtMs - b.createdAtMs)
        .map((key) => describeKey(key, nowMs));
    });
    const shown = columns(data, 'key_id', 'account_id', 'status', 'scopes', 'created_at', 'expires_at');
    return { data, shown: [shown] };
  },
});

const rotate = action({
  path: 'keys rotate',
  summary:
    'Creates a new key with the scopes and the expiry time of an old key. The old key stays valid for a grace period.',
  operands: [KEY_ID],
  options: {
    grace: {
      value: 'SPAN',
      meaning: 'time for which the old key stays valid, e.g. 90s, 30m, 7d or 0; default: 24h',
      read: duration,
    },
    json: {
      meaning: 'print one JSON object: key_id, key, scopes, expires_at, replaces, replaced_expires_at',
    },
  },
  run: async ({ grace = ROTATION_GRACE_MS, operands: [keyId] }, context) => {
    const { result, isConfirmed } = await changeLedger(context, (ledger) => {
      return rotateKey(ledger, context.clock, keyId, grace);
    });
    const { created, old } = result;
    // not null: a rotation always sets an expiry for the old key
    const replaced = { replaces: old.keyId, replaced_expires_at: isoTime(old.expiresAtMs) };
    return { ...shownOnce(created, replaced), status: isConfirmed ? 0 : 1 };
  },
});

const revoke = action({
  path: 'keys revoke',
  summary: 'Revokes a key permanently. When the command returns, a running service already refuses the key.',
  operands: [KEY_ID],
  options: { json: { meaning: 'print one JSON object: key_id, revoked_at' } },
  irreversible: async ({ operands: [keyId] }, context) => {
    const { keys: all, accounts } = await withLedger(context, async (ledger) => ({
      keys: await ledger.keys(),
      accounts: await ledger.accounts(),
    }));
    const accountId = all.find((key) => key.keyId === keyId)?.accountId;
    if (accountId === undefined) throw new CommandError(`there is no key ${keyId}`);
    const name = accounts.find(({ id }) => id === accountId)?.name ?? '';
    return `This revokes the key ${keyId} of account ${accountId} (${name}) permanently.`;
  },
  run: async ({ operands: [keyId] }, context) => {
    const { result: key, isConfirmed } = await changeLedger(context, (ledger) =>
      revokeKey(ledger, context.clock, keyId),
    );
    const data = { key_id: key.keyId, revoked_at: isoTime(key.revokedAtMs) };
    return { data, status: isConfirmed ? 0 : 1 };
  },
});

export const keys = group('qrn keys', 'Creates, lists, rotates and revokes the API keys of accounts.', [
  create,
  list,
  rotate,
  revoke,
]);

/** Returns the report that shows a new key, with further members. */
function shownOnce({ record, text }: CreatedKey, more: object = {}): Report {
  const { keyId, scopes, expiresAtMs } = record;
  const data = { key_id: keyId, key: text, scopes, expires_at: isoTime(expiresAtMs), ...more };
  return { data, note: KEY_SHOWN_ONCE };
}

function describeKey(key: KeyRecord, nowMs: number) {
  const isExpired = key.expiresAtMs !== null && key.expiresAtMs <= nowMs;
  return {
    key_id: key.keyId,
    account_id: key.accountId,
    status: key.revokedAtMs !== null ? 'revoked' : isExpired ? 'expired' : 'live',
    scopes: key.scopes,
    created_at: isoTime(key.createdAtMs),
    expires_at: isoTime(key.expiresAtMs),
    revoked_at: isoTime(key.revokedAtMs),
  };
}
