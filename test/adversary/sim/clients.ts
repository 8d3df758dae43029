import {
  createAccount,
  createKey,
  revokeKey,
  rotateKey,
  setAccount,
} from '../../../src/account/administration.ts';
import { allowanceOf, burstOf } from '../../../src/account/tiers.ts';
import type { Clock } from '../../../src/core/clock.ts';
import type { Scope, Tier } from '../../../src/core/vocabulary.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { AccountOverrides, AccountRecord } from '../../../src/ledger/records.ts';
import type { Chance } from '../../support/chance.ts';
import type { SimMachine } from './machine.ts';

export interface SimKey {
  readonly keyId: string;
  readonly text: string;
  readonly scopes: readonly Scope[];
  /** Unix time in ms; Infinity for none. */
  expiresAtMs: number;
  /** True time in ms; Infinity while the key is alive. */
  revokedAtMs: number;
}

/** An account and its user. */
export interface SimClient {
  readonly name: string;
  readonly tier: Tier;
  account: AccountRecord;
  readonly keys: SimKey[];
  /** Its limits over time, each with the true time of its start, oldest first. */
  readonly limits: {
    readonly sinceMs: number;
    readonly burst: number;
    readonly credits: number;
    readonly quota: number;
  }[];
  /** How often it sends requests, relative to the others. */
  readonly weight: number;
}

interface Wish {
  readonly name: string;
  readonly tier: Tier;
  readonly weight: number;
  readonly overrides?: Partial<AccountOverrides>;
}

/** Limits small enough to be reached. */
const WISHES: readonly Wish[] = [
  { name: 'free', tier: 'free', weight: 1 },
  { name: 'developer', tier: 'developer', weight: 1 },
  { name: 'pro', tier: 'pro', weight: 4 },
  {
    name: 'tight',
    tier: 'enterprise',
    weight: 4,
    overrides: {
      requestsPerMinute: 24,
      requestsPerMonth: 400,
      creditsPerMonth: 4_000,
      seedIntervalMs: 3_000,
    },
  },
  {
    name: 'hasty',
    tier: 'enterprise',
    weight: 2,
    overrides: { requestsPerMinute: 60, creditsPerMonth: 1_500, seedIntervalMs: 1_000 },
  },
  {
    name: 'wide',
    tier: 'enterprise',
    weight: 6,
    overrides: { requestsPerMinute: 100_000, creditsPerMonth: 400_000, seedIntervalMs: 20_000 },
  },
];

/** The operator's changes of accounts and keys, from a process beside the service. */
export class Operator {
  readonly clients: SimClient[] = [];
  readonly #ledger: () => Ledger;
  readonly #machine: SimMachine;
  readonly #clock: Clock;

  constructor(ledger: () => Ledger, machine: SimMachine) {
    this.#ledger = ledger;
    this.#machine = machine;
    this.#clock = machine.clock();
  }

  async openAccounts(): Promise<void> {
    for (const { name, tier, weight, overrides = {} } of WISHES) {
      const account = await createAccount(this.#ledger(), this.#clock, { name, tier, overrides });
      const client: SimClient = { name, tier, account, keys: [], limits: [], weight };
      this.#noteLimits(client);
      this.clients.push(client);
      await this.addKey(client);
      await this.addKey(client, ['entropy:read']);
    }
  }

  async addKey(client: SimClient, scopes?: readonly Scope[], lifeMs?: number): Promise<void> {
    const expiresAtMs = lifeMs === undefined ? null : Math.floor(this.#machine.wallMs()) + lifeMs;
    const wish = { accountId: client.account.id, ...(scopes && { scopes }), expiresAtMs };
    client.keys.push(simKey(await createKey(this.#ledger(), this.#clock, wish)));
  }

  async revokeKey(key: SimKey): Promise<void> {
    await revokeKey(this.#ledger(), this.#clock, key.keyId);
    key.revokedAtMs = Math.min(key.revokedAtMs, this.#machine.nowMs);
  }

  async rotateKey(client: SimClient, key: SimKey, graceMs: number): Promise<void> {
    const { created, old } = await rotateKey(this.#ledger(), this.#clock, key.keyId, graceMs);
    key.expiresAtMs = old.expiresAtMs ?? Number.POSITIVE_INFINITY;
    client.keys.push(simKey(created));
  }

  async changeLimits(client: SimClient, random: Chance): Promise<void> {
    if (client.tier !== 'enterprise') return;
    const overrides = {
      requestsPerMinute: random.pick([20, 40, 90, 5_000]),
      creditsPerMonth: random.pick([800, 5_000, 50_000]),
    };
    client.account = await setAccount(this.#ledger(), client.account.id, { overrides });
    this.#noteLimits(client);
  }

  #noteLimits(client: SimClient): void {
    const { requestsPerMinute, requestsPerMonth, creditsPerMonth } = allowanceOf(client.account);
    client.limits.push({
      sinceMs: this.#machine.nowMs,
      burst: burstOf(requestsPerMinute),
      credits: creditsPerMonth,
      quota: requestsPerMonth,
    });
  }
}

function simKey({ record, text }: Awaited<ReturnType<typeof createKey>>): SimKey {
  const { keyId, scopes, expiresAtMs } = record;
  const never = Number.POSITIVE_INFINITY;
  return { keyId, text, scopes, expiresAtMs: expiresAtMs ?? never, revokedAtMs: never };
}

/** Returns the keys that are valid beyond `wallMs`. */
export function aliveKeys({ keys }: SimClient, wallMs: number): SimKey[] {
  return keys.filter(
    ({ revokedAtMs, expiresAtMs }) => revokedAtMs === Number.POSITIVE_INFINITY && expiresAtMs > wallMs,
  );
}

/** Returns the highest limits at any time from `sinceMs` on. */
export function mostAllowed(
  client: SimClient,
  sinceMs: number,
): { burst: number; credits: number; quota: number } {
  const inForce = client.limits.filter((limit, i) => {
    const next = client.limits.at(i + 1);
    return next === undefined || next.sinceMs >= sinceMs || limit.sinceMs >= sinceMs;
  });
  return {
    burst: Math.max(...inForce.map(({ burst }) => burst)),
    credits: Math.max(...inForce.map(({ credits }) => credits)),
    quota: Math.max(...inForce.map(({ quota }) => quota)),
  };
}
