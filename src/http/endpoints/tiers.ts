import { burstOf, TIER_ALLOWANCES } from '../../account/tiers.ts';
import { entropyBytes } from '../../answer/request.ts';
import { LIMITS } from '../../core/limits.ts';
import { SCOPES, TIERS, type Tier } from '../../core/vocabulary.ts';
import { contentOfGet } from '../endpoint.ts';
import { KINDS } from './kinds.ts';
import { DATA_ENDPOINT_DEFINITIONS } from './table.ts';

export const TIERS_PATH = '/v1/tiers';

/** The largest count that one request may ask for, by endpoint. */
export const COUNT_LIMITS = {
  integers_count: LIMITS.integersCountMax,
  bytes_count: LIMITS.bytesCountMax,
  floats_count: LIMITS.floatsCountMax,
  uuid_count: LIMITS.uuidCountMax,
  bitstring_length: LIMITS.bitstringLengthMax,
  shuffle_items: LIMITS.shuffleItemsMax,
  batch_count: LIMITS.batchCountMax,
};

/** The `data` member of GET /v1/tiers, made from the tables that the service itself uses. */
export const TIER_LIST = {
  tiers: TIERS.map(rowOf),
  // a credit is a byte of entropy: the price is an eighth of the bits, rounded up once for each request
  prices: DATA_ENDPOINT_DEFINITIONS.flatMap(({ name, path, parse }) =>
    name === 'batch'
      ? []
      : KINDS[name].prices.map(([kind, bits, query]) => ({
          kind,
          bits,
          example: `${path}?${query}`,
          credits: entropyBytes(parse(contentOfGet(query)).request.values),
        })),
  ),
  limits: COUNT_LIMITS,
};

/** Returns the row of a tier for GET /v1/tiers. A figure is null where each account agrees on its own. */
function rowOf(tier: Tier) {
  const allowance = TIER_ALLOWANCES[tier];
  const { seedIntervalMs } = allowance;
  const isAgreed = tier === 'enterprise';
  const figure = (value: number) => (isAgreed ? null : value);
  return {
    tier,
    requests_per_minute: figure(allowance.requestsPerMinute),
    burst: figure(burstOf(allowance.requestsPerMinute)),
    requests_per_month: figure(allowance.requestsPerMonth),
    credits_per_month: figure(allowance.creditsPerMonth),
    entropy_modes: allowance.modes,
    default_entropy_mode: allowance.defaultMode,
    seed_interval_s: seedIntervalMs === null ? null : seedIntervalMs / 1000,
    scopes: SCOPES,
    custom: isAgreed,
  };
}
