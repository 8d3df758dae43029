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
import {
  action,
  type CommandContext,
  CommandError,
  duration,
  facts,
  group,
  type Input,
  json,
  listOf,
  moment,
  table,
} from './command.ts';
import { changeLedger, withLedger } from './ledger-access.ts';

const KEY_ID = { name: 'KEY_ID', meaning: 'the 22 characters that name the key; see keys list' };

const create = action({
  path: 'keys create',
  summary: 'Makes a further key of an account. The key is shown this once.',
  options: {
    account: { value: 'ACCOUNT_ID', required: true, meaning: 'whose key it is' },
    scopes: { value: 'A,B', meaning: `what it opens, of ${SCOPES.join(', ')}; all of them when not given` },
    expires: { value: 'ISO', meaning: 'when it ends, e.g. 2027-01-31T12:00:00Z; never when not given' },
    json: { meaning: 'one JSON object: key_id, key, scopes, expires_at' },
  },
  run: async (input, context) => {
    const scopes = input.option('scopes');
    const expires = input.option('expires');
    const wish = {
      accountId: input.option('account')!,
      scopes: scopes === undefined ? SCOPES : listOf('scopes', scopes, SCOPES),
      expiresAtMs: expires === undefined ? null : moment('expires', expires),
    };
    const { result: made } = await changeLedger(context, (ledger) => createKey(ledger, context.clock, wish));
    showOnce(made, {}, input, context);
  },
});

const list = action({
  path: 'keys list',
  summary: 'Lists the keys, without their secrets, which nobody has.',
  options: {
    account: { value: 'ACCOUNT_ID', meaning: 'only this account' },
    json: { meaning: 'an array of JSON objects' },
  },
  run: async (input, context) => {
    const accountId = input.option('account');
    const nowMs = context.clock.wallMs();
    const described = await withLedger(context, async (ledger) => {
      if (accountId !== undefined && !(await ledger.accounts()).some(({ id }) => id === accountId)) {
        throw new CommandError(`there is no account ${accountId}`);
      }
      return (await ledger.keys())
        .filter((key) => accountId === undefined || key.accountId === accountId)
        .sort((a, b) => a.createdAtMs - b.createdAtMs)
        .map((key) => describeKey(key, nowMs));
    });
    if (input.has('json')) context.out(json(described));
    else {
      const head = ['KEY_ID', 'ACCOUNT_ID', 'STATUS', 'SCOPES', 'CREATED', 'EXPIRES'];
      const rows = described.map((each) => [
        each.key_id,
        each.account_id,
        each.status,
        each.scopes.length === SCOPES.length ? 'all' : each.scopes.join(' '),
        each.created_at,
        each.expires_at ?? 'never',
      ]);
      context.out(table(head, rows));
    }
  },
});

const rotate = action({
  path: 'keys rotate',
  summary: 'Makes a new key with the scopes and expiry of an old one, which goes on for a grace period.',
  operands: [KEY_ID],
  options: {
    grace: {
      value: 'SPAN',
      meaning: 'how long the old key goes on, e.g. 90s, 30m, 7d, 0; 24h when not given',
    },
    json: { meaning: 'one JSON object: key_id, key, scopes, expires_at, replaces, replaced_expires_at' },
  },
  run: async (input, context) => {
    const grace = input.option('grace');
    const graceMs = grace === undefined ? ROTATION_GRACE_MS : duration('grace', grace);
    const { result, isConfirmed } = await changeLedger(context, (ledger) => {
      return rotateKey(ledger, context.clock, input.operands[0], graceMs);
    });
    const { created, old } = result;
    // a rotation always sets an end for the old key
    const replaced = { replaces: old.keyId, replaced_expires_at: isoTime(old.expiresAtMs) };
    showOnce(created, replaced, input, context);
    return isConfirmed ? 0 : 1;
  },
});

const revoke = action({
  path: 'keys revoke',
  summary: 'Ends a key forever. A running service refuses it from the moment that the command returns.',
  operands: [KEY_ID],
  options: { json: { meaning: 'one JSON object: key_id, revoked_at' } },
  irreversible: async (input, context) => {
    const [keyId] = input.operands;
    const found = await withLedger(context, async (ledger) => ({
      key: (await ledger.keys()).find((key) => key.keyId === keyId),
      accounts: await ledger.accounts(),
    }));
    if (found.key === undefined) throw new CommandError(`there is no key ${keyId}`);
    const { accountId } = found.key;
    const name = found.accounts.find(({ id }) => id === accountId)?.name ?? '';
    return `This ends key ${keyId} of account ${accountId} (${name}) forever.`;
  },
  run: async (input, context) => {
    const { result: key, isConfirmed } = await changeLedger(context, (ledger) =>
      revokeKey(ledger, context.clock, input.operands[0]),
    );
    const done = { key_id: key.keyId, revoked_at: isoTime(key.revokedAtMs) };
    context.out(input.has('json') ? json(done) : facts(done));
    return isConfirmed ? 0 : 1;
  },
});

export const keys = group('qrn keys', 'API keys: what an account shows to be served.', [
  create,
  list,
  rotate,
  revoke,
]);

/** A new key, with whatever else there is to say of it. */
function showOnce(
  { record, text }: CreatedKey,
  more: Readonly<Record<string, string | null>>,
  input: Input,
  context: CommandContext,
): void {
  const made = { key_id: record.keyId, key: text };
  const expiresAt = isoTime(record.expiresAtMs);
  if (input.has('json'))
    context.out(json({ ...made, scopes: record.scopes, expires_at: expiresAt, ...more }));
  else {
    context.out(
      facts({ ...made, scopes: record.scopes.join(' '), expires_at: expiresAt ?? 'never', ...more }),
    );
    context.talk('The key is shown this once: keep it now.\n');
  }
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
