import type { DataRequest, EchoedMembers } from '../../answer/request.ts';
import { ApiError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ValueRequest } from '../../values/value-request.ts';
import {
  DRY_RUN,
  type DrawingEndpointDefinition,
  ENTROPY_MODE,
  LABEL_PARAMETERS,
  labelRequest,
  type ParsedDataRequest,
  type RequestContent,
} from '../endpoint.ts';
import {
  grouped,
  type ParameterDefinition,
  readParameters,
  readText,
  splitQuery,
  type ValuesOf,
} from '../params.ts';
import { LENGTH, requireReplyFits, TYPE } from './batch.ts';
import { ENCODING, PRECISION, RANGE } from './values.ts';

/** What the default size of a block keeps to, so that neither side needs much memory. */
const BLOCK_BYTES_DEFAULT = 16 * 1024 * 1024;

const SIZE = [
  TYPE,
  {
    name: 'total',
    kind: 'integer',
    min: 1,
    max: LIMITS.streamTotalMax,
    required: true,
    error: 'invalid_count',
    description: 'How many values in all.',
  },
  {
    name: 'block',
    kind: 'integer',
    min: 1,
    max: LIMITS.batchCountMax,
    default: null,
    error: 'invalid_count',
    description:
      'Values of one block, the last excepted. Each block is an answer of POST /v1/batch: it has a certificate, and counts as one request in the rate and the quota. Left out: 100,000, or as many values of bytes as 16 MiB hold.',
  },
  {
    name: 'first',
    kind: 'integer',
    min: 0,
    max: LIMITS.streamTotalMax - 1,
    default: 0,
    error: 'invalid_count',
    description:
      'Resumes a stream: the number, from 0, of the block to begin with. The blocks before it are neither drawn nor charged again.',
  },
] as const satisfies readonly ParameterDefinition[];

const OF_TYPE = {
  integers: RANGE,
  floats: [PRECISION],
  bytes: [ENCODING, LENGTH],
  uuid: [],
} as const satisfies Record<string, readonly ParameterDefinition[]>;

const COMMON = [ENTROPY_MODE, DRY_RUN, ...LABEL_PARAMETERS] as const satisfies readonly ParameterDefinition[];

const PARAMETERS = [...SIZE, ...Object.values(OF_TYPE).flat(), ...COMMON];

export const STREAM: DrawingEndpointDefinition = {
  name: 'stream',
  method: 'GET',
  path: '/v1/stream',
  scope: 'entropy:batch',
  summary: 'Any number of values, block after block, at the pace of their reader.',
  parameters: PARAMETERS,
  errors: ['invalid_params'],
  parse,
};

function parse({ query }: RequestContent): ParsedDataRequest {
  const { given, ignored } = splitQuery(PARAMETERS, query);
  const { type, total, block, first } = readParameters(SIZE, given, readText);
  const { values: ofAll, params } = readValues(type, given);
  const common = readParameters(COMMON, given, readText);
  const { entropy_mode: mode, dry_run: dryRun } = common;
  const label = labelRequest(common);
  const size = Math.min(block ?? defaultBlock(ofAll), total);
  const blocks = Math.ceil(total / size);
  if (first >= blocks) {
    throw new ApiError('invalid_count', {
      message: `Give first as less than ${grouped(blocks)}: the stream has so many blocks.`,
      details: { parameter: 'first', min: 0, max: blocks - 1 },
    });
  }
  const requestOf = (count: number): DataRequest => ({
    endpoint: 'batch',
    values: { ...ofAll, count },
    valueKey: 'values',
    members: { count, params, type },
    mode,
    dryRun,
    label,
  });
  const whole = requestOf(size);
  requireReplyFits(whole.values);
  const rest = total - (blocks - 1) * size;
  const last = rest === size ? whole : requestOf(rest);
  return {
    request: requestOf(total),
    ignored: [...ignored, ...namesOfOtherTypes(type, given)],
    stream: {
      blocks,
      first,
      requestOf: (index) => (index === blocks - 1 ? last : whole),
    },
  };
}

type Given = ReadonlyMap<string, string>;
type BatchValues = Exclude<ValueRequest, { kind: 'bitstring' | 'shuffle' }>;

/** What the parameters of the type say, and how each block echoes them; the count is put in for each block. */
function readValues(
  type: keyof typeof OF_TYPE,
  given: Given,
): { readonly values: BatchValues; readonly params: EchoedMembers } {
  const read = <const D extends readonly ParameterDefinition[]>(definitions: D): ValuesOf<D> =>
    readParameters(definitions, given, readText);
  switch (type) {
    case 'integers': {
      const params = { ...read(OF_TYPE.integers), unique: false, sort: 'none' } as const;
      return { values: { kind: 'integers', count: 1, ...params }, params };
    }
    case 'floats': {
      const params = read(OF_TYPE.floats);
      return { values: { kind: 'floats', count: 1, ...params }, params };
    }
    case 'bytes': {
      const params = read(OF_TYPE.bytes);
      return { values: { kind: 'bytes', count: 1, ...params, single: false }, params };
    }
    case 'uuid':
      return { values: { kind: 'uuid', count: 1 }, params: {} };
  }
}

function defaultBlock(values: BatchValues): number {
  if (values.kind !== 'bytes') return LIMITS.batchCountMax;
  return Math.min(LIMITS.batchCountMax, Math.floor(BLOCK_BYTES_DEFAULT / values.length));
}

function namesOfOtherTypes(type: keyof typeof OF_TYPE, given: Given): string[] {
  return Object.entries(OF_TYPE)
    .filter(([each]) => each !== type)
    .flatMap(([, definitions]) => definitions.map(({ name }) => name))
    .filter((name) => given.has(name));
}
