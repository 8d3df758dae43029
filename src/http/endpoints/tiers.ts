import { burstOf, TIER_ALLOWANCES } from '../../account/tiers.ts';
import { entropyBytes } from '../../answer/request.ts';
import { assert } from '../../core/assert.ts';
import { LIMITS } from '../../core/limits.ts';
import { SCOPES, TIERS, type Tier } from '../../core/vocabulary.ts';
import { contentOfGet } from '../endpoint.ts';
import { DATA_ENDPOINT_DEFINITIONS } from './table.ts';

export const TIERS_PATH = '/v1/tiers';

let list: ReturnType<typeof madeList> | undefined;

/** The `data` member of GET /v1/tiers, made when it is first asked for from the tables that the service itself goes by. */
export function tierList() {
  return (list ??= madeList());
}

function madeList() {
  const prices = PRICED.map(([kind, bits, example]) => ({
    kind,
    bits,
    example,
    credits: creditsOf(example),
  }));
  return { tiers: TIERS.map(rowOf), prices, limits: COUNT_LIMITS };
}

/** What an account of a tier may do, as GET /v1/tiers tells it; null where each account agrees on a figure of its own. */
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

/** The price of each kind of value in pure mode. A credit is a byte of entropy: an eighth of the bits, rounded up once per request. */
const PRICED: readonly (readonly [kind: string, bits: string, example: string])[] = [
  ['integers', 'count × log2(max - min + 1)', '/v1/integers?count=100&min=1&max=6'],
  [
    'integers without repeats',
    'log2(n! / (n - count)!), n = max - min + 1',
    '/v1/integers?count=6&min=1&max=49&unique=true',
  ],
  ['bytes', '8 × count', '/v1/bytes?count=32'],
  ['floats', '53 × count', '/v1/floats?count=10'],
  ['floats with a precision', 'count × precision × log2(10)', '/v1/floats?count=10&precision=3'],
  ['uuid', '122 × count', '/v1/uuid?count=1'],
  ['bitstring', 'length', '/v1/bitstring?length=128'],
  ['shuffle', 'log2(n!), n items', '/v1/shuffle?items=ada,grace,barbara,shafi'],
  ['sample', 'log2(n! / (n - count)!), n items', '/v1/sample?count=2&items=ada,grace,barbara,shafi'],
  [
    'weighted',
    'count × log2(sum of the weights / their greatest common divisor)',
    '/v1/weighted?count=10&items=gold,silver,bronze&weights=1,10,100',
  ],
  ['strings', 'count × length × log2(characters of the alphabet)', '/v1/strings?count=1&length=16'],
  [
    'sequences',
    'count × the sum over the sequences, each priced as integers',
    '/v1/sequences?length=5,1&min=1,1&max=69,26&unique=true',
  ],
  ['permutations', 'count × log2(length!)', '/v1/permutations?length=52'],
  [
    'gaussians',
    'count × log2(√(2πe) × stddev / spacing), spacing of decimals of so many digits at |mean| + stddev',
    '/v1/gaussians?count=10&mean=100&stddev=15&digits=5',
  ],
];

/** What the endpoint itself would charge for the example. */
function creditsOf(example: string): number {
  const [path, query] = example.split('?');
  const endpoint = DATA_ENDPOINT_DEFINITIONS.find((each) => each.path === path);
  assert(endpoint !== undefined, `${path} is an endpoint`);
  const { request } = endpoint.parse(contentOfGet(query));
  return entropyBytes(request.values);
}

/** How much one request may ask for. */
export const COUNT_LIMITS = {
  integers_count: LIMITS.integersCountMax,
  bytes_count: LIMITS.bytesCountMax,
  floats_count: LIMITS.floatsCountMax,
  uuid_count: LIMITS.uuidCountMax,
  bitstring_length: LIMITS.bitstringLengthMax,
  shuffle_items: LIMITS.shuffleItemsMax,
  batch_count: LIMITS.batchCountMax,
};
