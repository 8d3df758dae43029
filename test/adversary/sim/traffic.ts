import type { ErrorCode } from '../../../src/core/errors.ts';
import { type DataEndpoint, ENTROPY_MODES, type EntropyMode } from '../../../src/core/vocabulary.ts';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import type { ValueRequest } from '../../../src/values/value-request.ts';
import type { Chance } from '../../support/chance.ts';
import { SENDABLE_QUERIES } from '../../support/request-table.ts';
import { priceOf } from '../fuzz/values-model.ts';

/** A client's request before the client is chosen. */
export interface Plan {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: Uint8Array;
  readonly accept: string;
  /** Present for requests that draw values. */
  readonly data?: DataPlan;
  /** The code of the error that the request is made to meet. */
  readonly flaw?: ErrorCode;
}

interface DataPlan {
  readonly endpoint: DataEndpoint;
  readonly values: ValueRequest;
  /** The requested mode; undefined leaves it to the tier. */
  readonly mode: EntropyMode | undefined;
  readonly dryRun: boolean;
  /** The entropy of the answer in bytes: its price in pure mode. */
  readonly priceBytes: number;
}

const NO_BODY = new Uint8Array(0);

/** Spellings that mean the mode. */
const SPELLINGS: Readonly<Record<EntropyMode, readonly string[]>> = {
  'quantum-seeded': ['quantum-seeded', 'hybrid', 'Quantum-Seeded'],
  pure: ['pure', 'PURE'],
  csprng: ['csprng', 'CSPRNG'],
};

/** A request without its mode: a query, or the body of a batch. */
type Shape = readonly [endpoint: DataEndpoint, query: string] | readonly [endpoint: 'batch', body: object];

/** A data request; `wish` is the mode, or undefined for one at random or none. */
export function dataPlan(random: Chance, wish?: EntropyMode): Plan {
  const shape =
    wish === 'pure' ? pureShape(random) : random.chance(0.01) ? largeShape(random) : shapeOf(random);
  const [endpoint, asked] = shape;
  const mode = wish ?? (random.chance(0.3) ? undefined : random.pick(ENTROPY_MODES));
  const dryRun = random.chance(0.04);
  const pairs = typeof asked === 'string' ? [asked] : [];
  if (mode !== undefined) pairs.push(`entropy_mode=${random.pick(SPELLINGS[mode])}`);
  if (dryRun) pairs.push('dry_run=true');
  if (random.chance(0.03)) pairs.push(`cache=${random.between(0, 9)}`);
  const query = pairs.join('&');
  const body = typeof asked === 'string' ? NO_BODY : new Uint8Array(Buffer.from(JSON.stringify(asked)));
  const method = typeof asked === 'string' ? 'GET' : 'POST';
  const contentType = method === 'GET' ? '' : 'application/json';
  // the service's own parser, which the table of requests holds to what the specification says (test/api/request-table.test.ts)
  const { parse } = DATA_ENDPOINT_DEFINITIONS.find(({ name }) => name === endpoint)!;
  const { values } = parse({ method, query, contentType, body }).request;
  const data = { endpoint, values, mode, dryRun, priceBytes: priceOf(values) };
  return { method, path: `/v1/${endpoint}`, query, body, accept: acceptOf(random, endpoint), data };
}

function acceptOf(random: Chance, endpoint: DataEndpoint): string {
  if (random.chance(0.85)) return '';
  if (random.chance(0.5)) return 'application/msgpack';
  return endpoint === 'bytes' || endpoint === 'batch' ? 'application/octet-stream' : '*/*';
}

/** Answers that hold 12 bytes of entropy or more: what a pure one was made of can then be told from its values. */
function shapeOf(random: Chance): Shape {
  return random.pick(SHAPES)(random);
}

const SHAPES: readonly ((random: Chance) => Shape)[] = [
  (random) => {
    const length = random.chance(0.1) ? random.between(300, 1024) : random.between(12, 120);
    return ['bytes', `count=${length}&encoding=${random.pick(['hex', 'base64'])}`];
  },
  (random) => {
    const max = random.pick([2 ** 24, 2 ** 32 + 12_345, 99_999_999]);
    const order = `unique=${random.chance(0.3)}&sort=${random.pick(['none', 'ascending', 'descending'])}`;
    return ['integers', `count=${random.between(4, 30)}&min=1&max=${max}&${order}`];
  },
  (random) => ['floats', `count=${random.between(3, 12)}${random.chance(0.5) ? '&precision=9' : ''}`],
  (random) => ['uuid', `count=${random.between(1, 5)}`],
  (random) => ['bitstring', `length=${random.between(96, 800)}`],
  (random) => ['shuffle', `items=${Array.from({ length: random.between(28, 40) }, (_, i) => `i${i}`)}`],
  (random) => {
    const count = random.between(4, 40);
    const kinds = [
      integersBatch(count, 2 ** 40),
      bytesBatch(count, 24),
      ['batch', { type: 'uuid', count }],
    ] as const;
    return random.pick<Shape>(kinds);
  },
];

function integersBatch(count: number, max: number): Shape {
  return ['batch', { type: 'integers', count, params: { min: 0, max } }];
}

function bytesBatch(count: number, length: number): Shape {
  return ['batch', { type: 'bytes', count, params: { length, encoding: 'base64' } }];
}

/** Some requests take more than a block, so that answers come from several lots. */
function pureShape(random: Chance): Shape {
  const drawn = random.uniform();
  if (drawn < 0.03) return largeShape(random);
  return drawn < 0.5 ? bytesBatch(random.between(20, 60), 100) : shapeOf(random);
}

/** An answer whose text is so long that a worker makes it, of blocks that are claimed for it alone. */
function largeShape(random: Chance): Shape {
  return integersBatch(random.between(50_000, 52_000), 1);
}

const FLAWED = SENDABLE_QUERIES.filter(({ code }) => code !== undefined);

/** A request that is refused whoever makes it. */
export function flawedPlan(random: Chance): Plan {
  const { endpoint, request, code } = random.pick(FLAWED);
  return { ...plainPlan(`/v1/${endpoint}`, request), flaw: code as ErrorCode };
}

/** A look at something that draws nothing. */
export function plainPlan(path: string, query = ''): Plan {
  return { method: 'GET', path, query, body: NO_BODY, accept: '' };
}
