import type { ErrorCode } from '../../../src/core/errors.ts';
import { type DataEndpoint, ENTROPY_MODES, type EntropyMode } from '../../../src/core/vocabulary.ts';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import type { ValueRequest } from '../../../src/values/value-request.ts';
import type { Chance } from '../../support/chance.ts';
import { BODIES, SENDABLE_QUERIES } from '../../support/request-table.ts';
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

/** What a row of the table asks for besides values is added here, or is not looked at. */
const MORE_THAN_VALUES = /mode|dry_run|format|purpose|user_data|series|public/;
const PRICE_BYTES_MAX = 1_000;
/** The short requests of test/vectors/requests.json that are answered, of every kind of values. */
const ROWS: readonly Shape[] = [
  ...SENDABLE_QUERIES.map((row) => ({ ...row, shape: [row.endpoint, row.request] as Shape })),
  ...BODIES.filter(({ endpoint, code }) => endpoint === 'batch' && code === undefined).map((row) => ({
    ...row,
    shape: ['batch', JSON.parse(row.request) as object] as Shape,
  })),
]
  .filter(
    ({ code, request }) => code === undefined && request.length < 400 && !MORE_THAN_VALUES.test(request),
  )
  .map(({ shape }) => shape)
  .filter((shape) => {
    const price = priceOf(valuesOf(shape));
    return price > 0 && price <= PRICE_BYTES_MAX;
  });

/** A data request; `wish` is the mode, or undefined for one at random or none. */
export function dataPlan(random: Chance, wish?: EntropyMode): Plan {
  const shape = shapeOf(random, wish);
  const [endpoint, asked] = shape;
  const mode = wish ?? (random.chance(0.3) ? undefined : random.pick(ENTROPY_MODES));
  const dryRun = random.chance(0.04);
  const pairs = typeof asked === 'string' && asked !== '' ? [asked] : [];
  if (mode !== undefined) pairs.push(`entropy_mode=${random.pick(SPELLINGS[mode])}`);
  if (dryRun) pairs.push('dry_run=true');
  if (random.chance(0.03)) pairs.push(`cache=${random.between(0, 9)}`);
  const values = valuesOf(shape);
  return {
    ...{ path: `/v1/${endpoint}`, query: pairs.join('&'), accept: acceptOf(random, values.kind) },
    method: typeof asked === 'string' ? 'GET' : 'POST',
    body: bodyOf(asked),
    data: { endpoint, values, mode, dryRun, priceBytes: priceOf(values) },
  };
}

/** Some pure requests take more than a block, so that answers come from several lots; large answers are made by a worker. */
function shapeOf(random: Chance, wish: EntropyMode | undefined): Shape {
  const drawn = random.uniform();
  if (drawn < (wish === 'pure' ? 0.03 : 0.01))
    return ['batch', { type: 'integers', count: random.between(50_000, 52_000), params: { min: 0, max: 1 } }];
  const params = { length: 100, encoding: 'base64' };
  if (wish === 'pure' && drawn < 0.5)
    return ['batch', { type: 'bytes', count: random.between(20, 60), params }];
  return random.pick(ROWS);
}

function bodyOf(asked: string | object): Uint8Array {
  return typeof asked === 'string' ? NO_BODY : new Uint8Array(Buffer.from(JSON.stringify(asked)));
}

/** The service's own parser, which the table of requests holds to what the specification says (test/api/request-table.test.ts). */
function valuesOf([endpoint, asked]: Shape): ValueRequest {
  const { parse } = DATA_ENDPOINT_DEFINITIONS.find(({ name }) => name === endpoint)!;
  const isQuery = typeof asked === 'string';
  const form = isQuery
    ? { method: 'GET', contentType: '' }
    : { method: 'POST', contentType: 'application/json' };
  return parse({ ...form, query: isQuery ? asked : '', body: bodyOf(asked) }).request.values;
}

function acceptOf(random: Chance, kind: ValueRequest['kind']): string {
  if (random.chance(0.85)) return '';
  if (random.chance(0.5)) return 'application/msgpack';
  return kind === 'bytes' ? 'application/octet-stream' : '*/*';
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
