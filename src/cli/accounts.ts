import { createAccount, createKey, setAccount } from '../account/administration.ts';
import { allowanceOf } from '../account/tiers.ts';
import { isoTime } from '../core/clock.ts';
import { TIERS } from '../core/vocabulary.ts';
import type { AccountOverrides, AccountRecord } from '../ledger/records.ts';
import { oneOf, wholeNumber } from './arguments.ts';
import { action, group, type Reader, UsageError } from './command.ts';
import { KEY_SHOWN_ONCE } from './keys.ts';
import { changeLedger, withLedger } from './ledger-access.ts';

const amount = wholeNumber();
const amountOrNone: Reader<number | 'none'> = {
  what: `${amount.what} or none`,
  read: (text) => (text === 'none' ? text : amount.read(text)),
};

/** The limits that an account may have for itself. Only accounts of the tier enterprise may. */
const MEANINGS = {
  requestsPerMinute: 'requests per minute (enterprise only); the burst is 1.5 times this number',
  requestsPerMonth: 'requests per calendar month (enterprise only)',
  creditsPerMonth: 'credits per calendar month (enterprise only); one credit pays for one byte of pure mode',
  seedIntervalMs: 'milliseconds between new quantum seeds (enterprise only)',
} as const;

type Limit<T> = { readonly value: string; readonly meaning: string; readonly read: Reader<T> };

/** Returns an option for each limit. */
function limitOptions<T>(value: string, read: Reader<T>, more = '') {
  const named = Object.entries(MEANINGS).map(([name, meaning]) => [
    name,
    { value, meaning: `${meaning}${more}`, read },
  ]);
  return Object.fromEntries(named) as Record<keyof typeof MEANINGS, Limit<T>>;
}

/** Returns the limits that the command line names. `none` becomes null, which removes the account's own limit. */
function limitsOf(given: Readonly<Record<keyof typeof MEANINGS, number | 'none' | undefined>>) {
  const names = Object.keys(MEANINGS) as (keyof typeof MEANINGS)[];
  const named = names.map((name) => [name, given[name] === 'none' ? null : given[name]]);
  return Object.fromEntries(named.filter(([, limit]) => limit !== undefined)) as Partial<AccountOverrides>;
}

const TIER = {
  value: 'TIER',
  meaning: `tier of the account: one of ${TIERS.join(', ')}`,
  read: oneOf(TIERS),
} as const;

const create = action({
  path: 'accounts create',
  summary: 'Creates an account and its first API key, which has all scopes. The key is shown only once.',
  options: {
    name: { value: 'NAME', required: true, meaning: 'name of the account' },
    tier: { ...TIER, required: true },
    ...limitOptions('N', amount),
    json: { meaning: 'print one JSON object: account_id, name, tier, key_id, key' },
  },
  run: async (input, context) => {
    const wish = { name: input.name, tier: input.tier, overrides: limitsOf(input) };
    const { result: data } = await changeLedger(context, async (ledger) => {
      const { id, name, tier } = await createAccount(ledger, context.clock, wish);
      const key = await createKey(ledger, context.clock, { accountId: id });
      return { account_id: id, name, tier, key_id: key.record.keyId, key: key.text };
    });
    return { data, note: KEY_SHOWN_ONCE };
  },
});

const list = action({
  path: 'accounts list',
  summary: 'Lists the accounts and their limits.',
  options: { json: { meaning: 'print an array of JSON objects; 2^53 - 1 means unlimited' } },
  run: async (_input, context) => {
    const data = (await withLedger(context, (ledger) => ledger.accounts())).map(describeAccount);
    return { data };
  },
});

const set = action({
  path: 'accounts set',
  summary:
    'Changes the given properties of an account. Returns after a running service has applied the change.',
  operands: [
    { name: 'ACCOUNT_ID', meaning: 'identifier of the account: acct_ and 26 characters; see accounts list' },
  ],
  options: {
    name: { value: 'NAME', meaning: 'name of the account' },
    tier: { ...TIER, meaning: `${TIER.meaning}; an account that leaves enterprise loses its own limits` },
    ...limitOptions('N|none', amountOrNone, '; none: the limit of the tier'),
    json: { meaning: 'print the changed account as one JSON object' },
  },
  run: async (input, context) => {
    const { name, tier, operands } = input;
    const overrides = limitsOf(input);
    if (name === undefined && tier === undefined && Object.keys(overrides).length === 0) {
      throw new UsageError('no property to change is given');
    }
    const change = { ...(name !== undefined && { name }), ...(tier !== undefined && { tier }), overrides };
    const { result, isConfirmed } = await changeLedger(context, (ledger) =>
      setAccount(ledger, operands[0], change),
    );
    return { data: describeAccount(result), status: isConfirmed ? 0 : 1 };
  },
});

export const accounts = group(
  'qrn accounts',
  'Creates, lists and changes accounts. An account has a tier with limits and has API keys.',
  [create, list, set],
);

/** Returns the account as commands print it. The seed interval is null on a tier without seeds. */
function describeAccount(account: AccountRecord) {
  const allowance = allowanceOf(account);
  return {
    account_id: account.id,
    name: account.name,
    tier: account.tier,
    requests_per_minute: allowance.requestsPerMinute,
    requests_per_month: allowance.requestsPerMonth,
    credits_per_month: allowance.creditsPerMonth,
    seed_interval_ms: allowance.seedIntervalMs,
    created_at: isoTime(account.createdAtMs),
  };
}
