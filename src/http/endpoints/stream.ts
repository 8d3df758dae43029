import { ApiError } from '../../core/errors.ts';
import { grouped } from '../../core/figures.ts';
import { LIMITS } from '../../core/limits.ts';
import { oneOfWords, wholeFrom } from '../../core/schema.ts';
import {
  commonRequest,
  DRAWING_PARAMETERS,
  type DrawingEndpointDefinition,
  type ParsedDataRequest,
  type RequestContent,
} from '../endpoint.ts';
import { type ParameterDefinition, parameter, readParameters, splitQuery } from '../params.ts';
import { BATCH_KINDS, type BatchType, type Kind } from './kinds.ts';
import { requireReplyFits } from './relations.ts';
import { batchRequest } from './values.ts';

/** Bound on a block of bytes of the default size, so that neither side needs much memory. */
const BLOCK_BYTES_DEFAULT = 16 * 1024 * 1024;

/** The kinds that can be streamed, each with the parameters that a stream of it takes. */
const STREAMED = (Object.entries(BATCH_KINDS) as [BatchType, Kind][]).flatMap(([type, kind]) => {
  const names = kind.streamed;
  if (names === undefined) return [];
  return [{ type, kind, parameters: kind.own.filter(({ name }) => names.includes(name)) }];
});

const SIZE = [
  parameter('type', oneOfWords(STREAMED.map(({ type }) => type)), 'The kind of values.', { required: true }),
  parameter('total', wholeFrom(1, LIMITS.streamTotalMax), 'The total number of values.', {
    required: true,
    error: 'invalid_count',
  }),
  parameter(
    'block',
    wholeFrom(1, LIMITS.batchCountMax),
    'The number of values per block; the last block may have fewer. Each block is an answer of `POST /v1/batch`: it has its own certificate and counts as one request towards the rate limit and the monthly quota. The default is 100,000. For bytes, it is the number of values that fit into 16 MiB, if that is less.',
    { default: null, error: 'invalid_count' },
  ),
  parameter(
    'first',
    wholeFrom(0, LIMITS.streamTotalMax - 1),
    'The number of the first block to send, from 0. Use it to resume a stream: the service neither draws nor charges the blocks before it again.',
    { default: 0, error: 'invalid_count' },
  ),
] as const;

const PARAMETERS = [...SIZE, ...STREAMED.flatMap(({ parameters }) => parameters), ...DRAWING_PARAMETERS];

export const STREAM: DrawingEndpointDefinition = {
  name: 'stream',
  method: 'GET',
  path: '/v1/stream',
  scope: 'entropy:batch',
  summary: 'Up to 10^12 random values in one reply, in blocks, sent as fast as the client reads them.',
  parameters: PARAMETERS,
  errors: ['invalid_params'],
  parse,
};

function parse({ query }: RequestContent): ParsedDataRequest {
  const { given, ignored } = splitQuery(PARAMETERS, query);
  const { type, total, block, first } = readParameters(SIZE, given);
  const { kind, parameters } = STREAMED.find((each) => each.type === type)!;
  // parameters of the kind that a stream does not take get their defaults; parameters of other types are ignored
  const isTaken = (names: readonly ParameterDefinition[], name: string) =>
    names.some((each) => each.name === name);
  const known = [...SIZE, ...DRAWING_PARAMETERS, ...parameters];
  const unused = [...given.keys()].filter((name) => !isTaken(known, name));
  const own = readParameters(kind.own, new Map([...given].filter(([name]) => isTaken(parameters, name))));
  const common = commonRequest(readParameters(DRAWING_PARAMETERS, given));
  const requestOf = (count: number) => ({ ...batchRequest(type, own, count), ...common });
  const { values: one } = requestOf(1);
  const fitting = one.kind === 'bytes' ? Math.floor(BLOCK_BYTES_DEFAULT / one.length) : LIMITS.batchCountMax;
  const size = Math.min(block ?? fitting, LIMITS.batchCountMax, total);
  const blocks = Math.ceil(total / size);
  if (first >= blocks) {
    throw new ApiError('invalid_count', {
      message: `first must be less than ${grouped(blocks)}, the number of blocks of this stream.`,
      details: { parameter: 'first', min: 0, max: blocks - 1 },
    });
  }
  const whole = requestOf(size);
  requireReplyFits(whole.values);
  const last = requestOf(total - (blocks - 1) * size);
  return {
    request: requestOf(total),
    ignored: [...ignored, ...unused],
    stream: { blocks, first, requestOf: (index) => (index === blocks - 1 ? last : whole) },
  };
}
