import { createAccount, createKey, setAccount } from '../account/administration.ts';
import { allowanceOf, UNLIMITED } from '../account/tiers.ts';
import { isoTime } from '../core/clock.ts';
import { TIERS } from '../core/vocabulary.ts';
import type { AccountOverrides, AccountRecord } from '../ledger/records.ts';
import { action, facts, group, type Input, json, oneOf, table, UsageError, wholeNumber } from './command.ts';
import { changeLedger, withLedger } from './ledger-access.ts';

const OVERRIDE_OF_OPTION = {
  'requests-per-minute': 'requestsPerMinute',
  'requests-per-month': 'requestsPerMonth',
  'credits-per-month': 'creditsPerMonth',
  'seed-interval-ms': 'seedIntervalMs',
} as const satisfies Record<string, keyof AccountOverrides>;

const OVERRIDE_OPTIONS = {
  'requests-per-minute': {
    value: 'N',
    meaning: 'enterprise only: requests a minute; the burst is half as many more',
  },
  'requests-per-month': { value: 'N', meaning: 'enterprise only: requests a calendar month' },
  'credits-per-month': { value: 'BYTES', meaning: 'enterprise only: bytes of pure mode a calendar month' },
  'seed-interval-ms': { value: 'MS', meaning: 'enterprise only: how often a new quantum seed is taken' },
};

const TIER_NAMES = TIERS.join(', ');

const create = action({
  path: 'accounts create',
  summary: 'Makes an account and its first key, which has all scopes. The key is shown this once.',
  options: {
    name: { value: 'NAME', required: true, meaning: 'what the account is called' },
    tier: { value: 'TIER', required: true, meaning: `one of ${TIER_NAMES}` },
    ...OVERRIDE_OPTIONS,
    json: { meaning: 'one JSON object: account_id, name, tier, key_id, key' },
  },
  run: async (input, context) => {
    const wish = {
      name: input.option('name')!,
      tier: oneOf('tier', input.option('tier')!, TIERS),
      overrides: overridesOf(input),
    };
    const { result: made } = await changeLedger(context, async (ledger) => {
      const account = await createAccount(ledger, context.clock, wish);
      const key = await createKey(ledger, context.clock, { accountId: account.id });
      return {
        account_id: account.id,
        name: account.name,
        tier: account.tier,
        key_id: key.record.keyId,
        key: key.text,
      };
    });
    context.out(input.has('json') ? json(made) : facts(made));
    if (!input.has('json')) context.talk('The key is shown this once: keep it now.\n');
  },
});

const list = action({
  path: 'accounts list',
  summary: 'Lists the accounts with the limits that hold for them.',
  options: { json: { meaning: 'an array of JSON objects; 2^53 - 1 stands for unlimited' } },
  run: async (input, context) => {
    const accounts = await withLedger(context, (ledger) => ledger.accounts());
    const described = accounts.map(describeAccount);
    if (input.has('json')) context.out(json(described));
    else {
      const head = ['ACCOUNT_ID', 'NAME', 'TIER', 'PER MINUTE', 'PER MONTH', 'CREDITS', 'CREATED'];
      const rows = described.map((each) => [
        each.account_id,
        each.name,
        each.tier,
        amount(each.requests_per_minute),
        amount(each.requests_per_month),
        amount(each.credits_per_month),
        each.created_at,
      ]);
      context.out(table(head, rows));
    }
  },
});

const set = action({
  path: 'accounts set',
  summary: 'Changes what is named and leaves the rest. Returns when a running service goes by it.',
  operands: [{ name: 'ACCOUNT_ID', meaning: 'acct_ and 26 characters' }],
  options: {
    name: { value: 'NAME', meaning: 'what the account is called' },
    tier: {
      value: 'TIER',
      meaning: `one of ${TIER_NAMES}; leaving enterprise drops the account's own limits`,
    },
    ...Object.fromEntries(
      Object.entries(OVERRIDE_OPTIONS).map(([name, { value, meaning }]) => {
        return [name, { value: `${value}|none`, meaning: `${meaning}; none: as the tier has it` }];
      }),
    ),
    json: { meaning: 'the changed account as one JSON object' },
  },
  run: async (input, context) => {
    const name = input.option('name');
    const tier = input.option('tier');
    const overrides = overridesOf(input);
    if (name === undefined && tier === undefined && Object.keys(overrides).length === 0) {
      throw new UsageError('nothing to change is named');
    }
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(tier === undefined ? {} : { tier: oneOf('tier', tier, TIERS) }),
      overrides,
    };
    const { result, isConfirmed } = await changeLedger(context, (ledger) =>
      setAccount(ledger, input.operands[0], change),
    );
    const described = describeAccount(result);
    context.out(input.has('json') ? json(described) : facts(factsOf(described)));
    return isConfirmed ? 0 : 1;
  },
});

export const accounts = group('qrn accounts', 'Accounts: who may ask, how much, and at what rate.', [
  create,
  list,
  set,
]);

/** The overrides that the command line names; `none` takes one back. */
function overridesOf(input: Input): Partial<AccountOverrides> {
  const named = Object.entries(OVERRIDE_OF_OPTION).flatMap(([option, field]) => {
    const text = input.option(option);
    return text === undefined ? [] : [[field, text === 'none' ? null : wholeNumber(option, text)] as const];
  });
  return Object.fromEntries(named);
}

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

function amount(value: number): string {
  return value === UNLIMITED ? 'unlimited' : String(value);
}

/** The seed interval is null on tiers without seeds. */
function factsOf(described: ReturnType<typeof describeAccount>) {
  const limits = Object.entries(described).filter(([, value]) => value === UNLIMITED);
  return {
    ...described,
    seed_interval_ms: described.seed_interval_ms ?? 'no seeded mode',
    ...Object.fromEntries(limits.map(([name]) => [name, 'unlimited'])),
  };
}
