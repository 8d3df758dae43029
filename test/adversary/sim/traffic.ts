import type { ErrorCode } from '../../../src/core/errors.ts';
import { type DataEndpoint, ENTROPY_MODES, type EntropyMode } from '../../../src/core/vocabulary.ts';
import type { ValueRequest } from '../../../src/values/value-request.ts';
import type { Chance } from '../../support/chance.ts';
import { priceOf } from '../fuzz/values-model.ts';

/** What a client wants, before it is known who asks. */
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
  /** As asked for; undefined leaves it to the tier. */
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

type Shape = Pick<DataPlan, 'endpoint' | 'values'> & { readonly query: string; readonly json?: object };

/** A data request; `wish` is the mode, or undefined for one at random or none. */
export function dataPlan(random: Chance, wish?: EntropyMode): Plan {
  const shape =
    wish === 'pure' ? pureShape(random) : random.chance(0.01) ? largeShape(random) : shapeOf(random);
  const mode = wish ?? (random.chance(0.3) ? undefined : random.pick(ENTROPY_MODES));
  const dryRun = random.chance(0.04);
  const query = [shape.query];
  if (mode !== undefined) query.push(`entropy_mode=${random.pick(SPELLINGS[mode])}`);
  if (dryRun) query.push('dry_run=true');
  if (random.chance(0.03)) query.push(`cache=${random.between(0, 9)}`);
  const isBatch = shape.endpoint === 'batch';
  return {
    method: isBatch ? 'POST' : 'GET',
    path: `/v1/${shape.endpoint}`,
    query: query.filter((part) => part !== '').join('&'),
    body: isBatch ? new Uint8Array(Buffer.from(JSON.stringify(shape.json))) : NO_BODY,
    accept: acceptOf(random, shape.endpoint),
    data: {
      endpoint: shape.endpoint,
      values: shape.values,
      mode,
      dryRun,
      priceBytes: priceOf(shape.values),
    },
  };
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
    const encoding = random.pick(['hex', 'base64'] as const);
    const values = { kind: 'bytes', count: 1, length, encoding, single: true } as const;
    return { endpoint: 'bytes', values, query: `count=${length}&encoding=${encoding}` };
  },
  integersShape,
  (random) => {
    const count = random.between(3, 12);
    const precision = random.chance(0.5) ? 9 : null;
    const query = precision === null ? `count=${count}` : `count=${count}&precision=${precision}`;
    return { endpoint: 'floats', values: { kind: 'floats', count, precision }, query };
  },
  (random) => {
    const count = random.between(1, 5);
    return { endpoint: 'uuid', values: { kind: 'uuid', count }, query: `count=${count}` };
  },
  (random) => {
    const length = random.between(96, 800);
    return { endpoint: 'bitstring', values: { kind: 'bitstring', length }, query: `length=${length}` };
  },
  (random) => {
    const items = Array.from({ length: random.between(28, 40) }, (_, i) => `i${i}`);
    return { endpoint: 'shuffle', values: { kind: 'shuffle', items }, query: `items=${items.join(',')}` };
  },
  batchShape,
];

function integersShape(random: Chance): Shape {
  const count = random.between(4, 30);
  const max = random.pick([2 ** 24, 2 ** 32 + 12_345, 99_999_999]);
  const unique = random.chance(0.3);
  const sort = random.pick(['none', 'ascending', 'descending'] as const);
  const values = { kind: 'integers', count, min: 1, max, unique, sort } as const;
  return {
    endpoint: 'integers',
    values,
    query: `count=${count}&min=1&max=${max}&unique=${unique}&sort=${sort}`,
  };
}

function batchShape(random: Chance): Shape {
  const count = random.between(4, 40);
  switch (random.pick(['integers', 'bytes', 'uuid'] as const)) {
    case 'integers':
      return integersBatch(count, 2 ** 40);
    case 'bytes':
      return bytesBatch(count, 24);
    case 'uuid':
      return { endpoint: 'batch', values: { kind: 'uuid', count }, query: '', json: { type: 'uuid', count } };
  }
}

function integersBatch(count: number, max: number): Shape {
  const params = { min: 0, max };
  return {
    endpoint: 'batch',
    values: { kind: 'integers', count, ...params, unique: false, sort: 'none' },
    query: '',
    json: { type: 'integers', count, params },
  };
}

function bytesBatch(count: number, length: number): Shape {
  const params = { length, encoding: 'base64' } as const;
  return {
    endpoint: 'batch',
    values: { kind: 'bytes', count, ...params, single: false },
    query: '',
    json: { type: 'bytes', count, params },
  };
}

/** Some take more than a block, so that answers are of several lots. */
function pureShape(random: Chance): Shape {
  const drawn = random.uniform();
  if (drawn < 0.03) return largeShape(random);
  return drawn < 0.5 ? bytesBatch(random.between(20, 60), 100) : shapeOf(random);
}

/** An answer whose text is so long that a worker makes it, of blocks that are claimed for it alone. */
function largeShape(random: Chance): Shape {
  return integersBatch(random.between(50_000, 52_000), 1);
}

const FLAWED: readonly (readonly [path: string, query: string, flaw: ErrorCode])[] = [
  ['/v1/integers', 'count=0', 'invalid_count'],
  ['/v1/integers', 'min=9&max=3', 'invalid_range'],
  ['/v1/integers', 'count=9&min=1&max=4&unique=true', 'unique_impossible'],
  ['/v1/integers', 'sort=up', 'invalid_sort'],
  ['/v1/bytes', 'count=16&encoding=octal', 'invalid_encoding'],
  ['/v1/bytes', 'count=4096&entropy_mode=pure', 'invalid_count'],
  ['/v1/bytes', 'count=16&entropy_mode=best', 'invalid_entropy_mode'],
  ['/v1/uuid', 'count=1&count=2', 'duplicate_parameter'],
  ['/v1/floats', 'precision=99', 'invalid_precision'],
  ['/v1/shuffle', 'items=one', 'invalid_items'],
  ['/v1/nothing', '', 'not_found'],
];

/** A request that is refused whoever makes it. */
export function flawedPlan(random: Chance): Plan {
  const [path, query, flaw] = random.pick(FLAWED);
  return { method: 'GET', path, query, body: NO_BODY, accept: '', flaw };
}

/** A look at something that draws nothing. */
export function plainPlan(path: string, query = ''): Plan {
  return { method: 'GET', path, query, body: NO_BODY, accept: '' };
}
