import type { EntropyMode, SeededTier, Tier } from '../core/vocabulary.ts';
import type { AccountRecord } from '../ledger/records.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Stands for no limit: the largest integer that every JSON reader keeps exact. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** What a tier allows (specification, Limits). */
export interface Allowance {
  readonly requestsPerMinute: number;
  readonly requestsPerMonth: number;
  /** Bytes of pure mode per calendar month. */
  readonly creditsPerMonth: number;
  readonly modes: readonly EntropyMode[];
  /** The mode of a request that names none. Never `pure`. */
  readonly defaultMode: EntropyMode;
  /** The interval between quantum seeds in seeded mode; null for tiers without that mode. */
  readonly seedIntervalMs: number | null;
}

const ALL_MODES: readonly EntropyMode[] = ['quantum-seeded', 'pure', 'csprng'];

export const TIER_ALLOWANCES: Readonly<Record<Tier, Allowance>> = {
  free: {
    requestsPerMinute: 10,
    requestsPerMonth: 1_000,
    creditsPerMonth: 0,
    modes: ['csprng'],
    defaultMode: 'csprng',
    seedIntervalMs: null,
  },
  developer: {
    requestsPerMinute: 100,
    requestsPerMonth: 50_000,
    creditsPerMonth: 0,
    modes: ['quantum-seeded', 'csprng'],
    defaultMode: 'quantum-seeded',
    seedIntervalMs: 6 * HOUR_MS,
  },
  pro: {
    requestsPerMinute: 500,
    requestsPerMonth: 500_000,
    creditsPerMonth: 10_240,
    modes: ALL_MODES,
    defaultMode: 'quantum-seeded',
    seedIntervalMs: HOUR_MS,
  },
  business: {
    requestsPerMinute: 2_000,
    requestsPerMonth: 5_000_000,
    creditsPerMonth: 102_400,
    modes: ALL_MODES,
    defaultMode: 'quantum-seeded',
    seedIntervalMs: 15 * MINUTE_MS,
  },
  enterprise: {
    requestsPerMinute: UNLIMITED,
    requestsPerMonth: UNLIMITED,
    creditsPerMonth: UNLIMITED,
    modes: ALL_MODES,
    defaultMode: 'quantum-seeded',
    seedIntervalMs: 5 * MINUTE_MS,
  },
};

/** Returns the burst: 150 % of the rate per minute, in whole requests. */
export function burstOf(requestsPerMinute: number): number {
  return Math.min(UNLIMITED, Math.floor(requestsPerMinute * 1.5));
}

/** Returns the tier's allowance, with the account's own figures where it has any. */
export function allowanceOf(account: AccountRecord): Allowance {
  const tier = TIER_ALLOWANCES[account.tier];
  const own = account.overrides;
  return {
    ...tier,
    requestsPerMinute: own.requestsPerMinute ?? tier.requestsPerMinute,
    requestsPerMonth: own.requestsPerMonth ?? tier.requestsPerMonth,
    creditsPerMonth: own.creditsPerMonth ?? tier.creditsPerMonth,
    seedIntervalMs: own.seedIntervalMs ?? tier.seedIntervalMs,
  };
}

export function seededTier(tier: Tier): SeededTier | undefined {
  return tier === 'free' ? undefined : tier;
}

/** Returns the tiers whose accounts may use the mode. */
export function tiersWith(mode: EntropyMode): Tier[] {
  return (Object.keys(TIER_ALLOWANCES) as Tier[]).filter((tier) =>
    TIER_ALLOWANCES[tier].modes.includes(mode),
  );
}
