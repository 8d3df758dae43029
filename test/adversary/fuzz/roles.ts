import type { EntropyMode, Scope, Tier } from '../../../src/core/vocabulary.ts';
import type { AccountOverrides } from '../../../src/ledger/records.ts';

/**
 * The sender of a fuzzed request: the specification's limits of its tier, raised where the fuzzer should not run into
 * them.
 */
export interface RoleFacts {
  readonly tier: Tier;
  readonly overrides: Partial<AccountOverrides>;
  /** Undefined means all. */
  readonly scopes?: readonly Scope[];
  readonly modes: readonly EntropyMode[];
  readonly defaultMode: EntropyMode;
  /** Pure bytes a month; undefined means no limit. */
  readonly credits?: number;
  readonly isThrottled?: true;
}

const ENTERPRISE = {
  tier: 'enterprise',
  overrides: {},
  modes: ['quantum-seeded', 'pure', 'csprng'],
  defaultMode: 'quantum-seeded',
} as const;
const FAST: Partial<AccountOverrides> = { requestsPerMinute: 1_000_000, requestsPerMonth: 1_000_000_000 };

export const ROLES = {
  csprng: { tier: 'free', overrides: FAST, modes: ['csprng'], defaultMode: 'csprng', credits: 0 },
  seeded: {
    tier: 'developer',
    overrides: FAST,
    modes: ['quantum-seeded', 'csprng'],
    defaultMode: 'quantum-seeded',
    credits: 0,
  },
  pure: ENTERPRISE,
  poor: { ...ENTERPRISE, overrides: { creditsPerMonth: 500 }, credits: 500 },
  throttled: {
    ...ENTERPRISE,
    overrides: { requestsPerMinute: 1, requestsPerMonth: 1_000 },
    isThrottled: true,
  },
  reader: { ...ENTERPRISE, scopes: ['entropy:read', 'usage:read'] },
} as const satisfies Record<string, RoleFacts>;

export type Role = keyof typeof ROLES;

export function factsOf(role: Role): RoleFacts {
  return ROLES[role];
}
