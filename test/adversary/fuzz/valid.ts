import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { DataEndpoint, EntropyMode } from '../../../src/core/vocabulary.ts';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import type { ValueRequest } from '../../../src/values/value-request.ts';
import {
  floatsRequest,
  gaussiansRequest,
  integersRequest,
  permutationsRequest,
  sampleRequest,
  sequencesRequest,
  shuffleRequest,
  stringsRequest,
  uuidRequest,
  weightedRequest,
} from '../../values/requests.ts';
import { anyAccept, type DataAsk, type FuzzCase, type KeyWay } from './cases.ts';
import { factsOf, type Role } from './roles.ts';
import { bit, jsonNumber, jsonObject, jsonText, percentEncoded, reordered, wholeText } from './spelling.ts';

/** Requests that no rule refuses, and only an empty account can: first what is asked for, then one of the many ways to write it. */
export interface ValidCase extends FuzzCase, Asked {}

/** What a request asks for, whatever way it is written. */
export interface Asked {
  readonly endpoint: DataEndpoint;
  readonly values: ValueRequest;
  /** Members of `data` beside values and metadata. */
  readonly echoed: Readonly<Record<string, unknown>>;
  readonly mode: EntropyMode;
  readonly dryRun: boolean;
  /** Some names in the request mean nothing. */
  readonly hasIgnored: boolean;
}

/** What an answer says again of the values: what stands in the request, or its default. */
function echoedOf(endpoint: DataEndpoint, values: ValueRequest): Asked['echoed'] {
  if (endpoint === 'batch') {
    const { count, version: _, ...params } = echoedInQuery(values);
    return { type: values.kind, count, params };
  }
  return echoedInQuery(values);
}

function echoedInQuery(values: ValueRequest): Asked['echoed'] {
  const { kind: _, ...members } = values;
  switch (values.kind) {
    case 'bytes': {
      const { count, length, encoding, single } = values;
      return single ? { count: length, encoding, bits: 8 * length } : { count, length, encoding };
    }
    case 'uuid':
      return { ...members, version: 4 };
    case 'shuffle':
      return { count: values.items.length };
    case 'sample':
      return { count: values.count, list_sha256: hashed(values.items), of: values.items.length };
    case 'weighted':
      return { count: values.count, list_sha256: hashed(values.items), weights: values.weights };
    case 'strings':
      return { ...members, alphabet: values.alphabet.join('') };
    case 'sequences': {
      const { count, ranges, sort } = values;
      const each = <K extends keyof (typeof ranges)[number]>(name: K) => ranges.map((range) => range[name]);
      return {
        count,
        length: each('length'),
        min: each('min'),
        max: each('max'),
        unique: ranges[0].unique,
        sort,
      };
    }
    default:
      return members;
  }
}

/** Of the list that was drawn from. */
function hashed(items: readonly string[]): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(items)).digest('hex')}`;
}

const MAX = Number.MAX_SAFE_INTEGER;

const integers: fc.Arbitrary<ValueRequest> = fc.oneof(
  { weight: 9, arbitrary: integersRequest.filter((each) => each.kind === 'integers' && each.min < each.max) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<ValueRequest>(
      { kind: 'integers', count: 10_000, min: 1, max: 10_000, unique: true, sort: 'descending' },
      { kind: 'integers', count: 10_000, min: -MAX, max: 0, unique: true, sort: 'ascending' },
      { kind: 'integers', count: 10_000, min: 0, max: MAX, unique: false, sort: 'none' },
      { kind: 'integers', count: 2, min: MAX - 1, max: MAX, unique: true, sort: 'none' },
    ),
  },
);

function bytes(count: fc.Arbitrary<number>, single: boolean): fc.Arbitrary<ValueRequest> {
  return fc
    .record({ count, length: edged(1, 1_024, 40), encoding: fc.constantFrom('hex', 'base64') })
    .map((each) => ({ kind: 'bytes', ...each, single }));
}

/** Mostly small, sometimes one of the bounds. */
function edged(min: number, max: number, small: number): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min, max: small }) },
    { weight: 1, arbitrary: fc.constantFrom(min, max) },
  );
}

/** The service wants more than one value in each range. */
const wideSequences = sequencesRequest.filter(
  (each) => each.kind === 'sequences' && each.ranges.every(({ min, max }) => min < max),
);

const VALUES: Readonly<Record<DataEndpoint, fc.Arbitrary<ValueRequest>>> = {
  integers,
  bytes: bytes(fc.constant(1), true),
  floats: fc.oneof(
    { weight: 9, arbitrary: floatsRequest },
    { weight: 1, arbitrary: fc.constant<ValueRequest>({ kind: 'floats', count: 10_000, precision: null }) },
  ),
  uuid: edged(1, 10_000, 100).map((count) => ({ kind: 'uuid', count })),
  bitstring: edged(1, 100_000, 600).map((length) => ({ kind: 'bitstring', length })),
  shuffle: shuffleRequest.filter((each) => each.kind === 'shuffle' && each.items.length > 1),
  batch: fc.oneof(
    integersRequest
      .filter((each) => each.kind === 'integers' && each.min < each.max)
      .map(
        (each): ValueRequest => ({
          ...(each as ValueRequest & { kind: 'integers' }),
          unique: false,
          sort: 'none',
        }),
      ),
    floatsRequest,
    uuidRequest,
    bytes(fc.integer({ min: 1, max: 30 }), false),
    edged(1, 20_000, 3_000).map((count): ValueRequest => ({ kind: 'uuid', count })),
    sampleRequest,
    weightedRequest,
    stringsRequest,
    wideSequences,
    permutationsRequest,
    gaussiansRequest,
  ),
  sample: sampleRequest,
  weighted: weightedRequest,
  strings: stringsRequest,
  sequences: wideSequences,
  permutations: permutationsRequest,
  gaussians: gaussiansRequest,
};

const MODE_SPELLINGS: Readonly<Record<EntropyMode, readonly string[]>> = {
  'quantum-seeded': ['quantum-seeded', 'hybrid', 'Quantum-Seeded', 'HYBRID'],
  pure: ['pure', 'PURE', 'pUre'],
  csprng: ['csprng', 'CSPRNG', 'Csprng'],
};

interface Style {
  readonly mask: number;
  readonly order: number;
  /** Members that are at their default may be left out. */
  readonly leavesOut: number;
  readonly unknown: boolean;
  readonly commonInBody: boolean;
}

const anyStyle: fc.Arbitrary<Style> = fc.record({
  mask: fc.oneof(fc.constant(0), fc.nat()),
  order: fc.nat(),
  leavesOut: fc.nat(),
  unknown: fc.boolean(),
  commonInBody: fc.boolean(),
});

export const validCase: fc.Arbitrary<ValidCase> = fc
  .record({
    role: fc.constantFrom<Role>('csprng', 'seeded', 'pure', 'poor'),
    endpoint: fc.constantFrom(...DATA_ENDPOINT_DEFINITIONS.map(({ name }) => name)),
  })
  .chain(({ role, endpoint }) =>
    fc.record({
      role: fc.constant(role),
      endpoint: fc.constant(endpoint),
      keyWay: fc.constantFrom<KeyWay>('bearer', 'lower-case scheme', 'x-api-key', 'both'),
      isHead: fc.integer({ min: 0, max: 30 }).map((draw) => draw === 30 && endpoint !== 'batch'),
      accept: anyAccept,
      values: VALUES[endpoint],
      mode: fc.option(fc.constantFrom(...factsOf(role).modes), { nil: undefined }),
      dryRun: fc.integer({ min: 0, max: 6 }).map((draw) => draw === 6),
      style: anyStyle,
    }),
  )
  .map(({ endpoint, isHead, mode, style, ...rest }) => ({
    ...rest,
    endpoint,
    echoed: echoedOf(endpoint, rest.values),
    hasIgnored: style.unknown,
    mode: mode ?? factsOf(rest.role).defaultMode,
    method: endpoint === 'batch' ? 'POST' : isHead ? 'HEAD' : 'GET',
    ask: spelt(endpoint, rest.values, mode, rest.dryRun, style),
  }));

type Members = [name: string, value: unknown][];

function spelt(
  endpoint: DataEndpoint,
  values: ValueRequest,
  mode: EntropyMode | undefined,
  dryRun: boolean,
  style: Style,
): DataAsk {
  const common: Members = [];
  if (mode !== undefined)
    common.push(['entropy_mode', MODE_SPELLINGS[mode][style.mask % MODE_SPELLINGS[mode].length]]);
  if (dryRun || bit(style.leavesOut, 9)) common.push(['dry_run', dryRun]);
  if (endpoint === 'batch') return batch(values, common, style);
  const members = [...leftOut(membersOf(endpoint, values), DEFAULTS[endpoint], style.leavesOut), ...common];
  return { endpoint, query: queryText(members, style), contentType: '', body: new Uint8Array(0) };
}

/** A batch names its count beside `params`. */
function membersOf(endpoint: DataEndpoint, values: ValueRequest): Members {
  const isBatch = endpoint === 'batch';
  const counted: Members = isBatch || !('count' in values) ? [] : [['count', values.count]];
  switch (values.kind) {
    case 'bytes': {
      const { length, encoding } = values;
      return Object.entries(isBatch ? { encoding, length } : { count: length, encoding });
    }
    case 'strings':
      return [...counted, ['length', values.length], ['alphabet', values.alphabet.join('')]];
    case 'sequences': {
      const { ranges, sort } = values;
      return [
        ...counted,
        ...(['length', 'min', 'max'] as const).map((name): Members[number] => [
          name,
          ranges.map((range) => range[name]),
        ]),
        ['unique', ranges[0].unique],
        ['sort', sort],
      ];
    }
    default: {
      const { kind: _kind, ...members } = values;
      const others = Object.entries(members).filter(([name, value]) => name !== 'count' && value !== null);
      return [...counted, ...others];
    }
  }
}

const DEFAULTS: Readonly<Record<DataEndpoint, Readonly<Record<string, unknown>>>> = {
  integers: { count: 1, min: 0, max: 100, unique: false, sort: 'none' },
  bytes: { count: 16, encoding: 'hex' },
  floats: { count: 1 },
  uuid: { count: 1 },
  bitstring: { length: 128 },
  shuffle: {},
  batch: { min: 0, max: 100, encoding: 'hex', length: 16, sort: 'none', unique: false },
  sample: { count: 1 },
  weighted: { count: 1 },
  strings: { count: 1, length: 16 },
  sequences: { count: 1, sort: 'none', unique: false },
  permutations: { count: 1 },
  gaussians: { count: 1, mean: 0, stddev: 1, digits: 14 },
};

function leftOut(members: Members, defaults: Readonly<Record<string, unknown>>, mask: number): Members {
  return members.filter(([name, value], i) => !(defaults[name] === value && bit(mask, i)));
}

const UNKNOWN = ['_', '__proto__', 'constructor', 'Count', 'toString', 'é'];

function queryText(members: Members, { mask, order, unknown }: Style): string {
  const parts = members.map(([name, value]) => {
    const spoken = name === 'encoding' && bit(mask, 10) ? 'format' : name;
    return `${percentEncoded(spoken, mask >>> 5)}=${valueText(value, mask)}`;
  });
  if (unknown) parts.push(`${percentEncoded(UNKNOWN[order % UNKNOWN.length], mask)}=${order}`);
  const separator = bit(mask, 11) ? '&&' : '&';
  return reordered(parts, order).join(separator);
}

function valueText(value: unknown, mask: number): string {
  if (typeof value === 'number') return percentEncoded(wholeText(value, mask), mask >>> 2);
  if (typeof value === 'boolean') return bit(mask, 12) ? (value ? '1' : '0') : String(value);
  if (typeof value === 'string') return percentEncoded(value, mask >>> 1);
  return (value as readonly (string | number)[])
    .map((item, i) =>
      typeof item === 'number' ? wholeText(item, mask) : percentEncoded(item, mask >>> (i % 20)),
    )
    .join(',');
}

function batch(values: ValueRequest, common: Members, style: Style): DataAsk {
  const { mask, order, commonInBody } = style;
  const defaults = values.kind === 'permutations' ? {} : DEFAULTS.batch; // these have no default of `length`
  const params = leftOut(membersOf('batch', values), defaults, style.leavesOut);
  const paramTexts = params.map(([name, value]): [string, string] => [name, jsonValueText(value, mask)]);
  const count = values.kind === 'shuffle' || values.kind === 'bitstring' ? 1 : values.count;
  const members: [string, string][] = [
    ['type', jsonText(values.kind, mask)],
    ['count', jsonNumber(count, mask)],
  ];
  if (params.length > 0 || bit(mask, 13)) {
    members.push(['params', jsonObject(reordered(paramTexts, order), mask >>> 1)]);
  }
  if (commonInBody) for (const [name, value] of common) members.push([name, jsonValueText(value, mask)]);
  const text = jsonObject(reordered(members, order), mask);
  const body = Buffer.from(bit(mask, 14) ? `\ufeff${text}` : text, 'utf8');
  const contentType = CONTENT_TYPES[mask % CONTENT_TYPES.length];
  const query = queryText(commonInBody ? [] : common, style);
  return { endpoint: 'batch', query, contentType, body };
}

const CONTENT_TYPES = [
  'application/json',
  'Application/JSON; charset=utf-8',
  'application/json ;v=1',
  'application/json;',
];

function jsonValueText(value: unknown, mask: number): string {
  if (typeof value === 'number') return jsonNumber(value, mask);
  return typeof value === 'string' ? jsonText(value, mask) : JSON.stringify(value);
}
