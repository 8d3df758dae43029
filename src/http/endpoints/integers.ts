import { ApiError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { DataEndpointDefinition } from '../endpoint.ts';
import { grouped, type ParameterDefinition, type ReadValues } from '../params.ts';
import { parseQuery } from '../query.ts';
import { DRY_RUN, ENTROPY_MODE } from './common.ts';

const BOUND = {
  kind: 'integer',
  min: -LIMITS.integerMagnitudeMax,
  max: LIMITS.integerMagnitudeMax,
  error: 'invalid_range',
} as const;

/** min and max, as GET /v1/integers and integers of POST /v1/batch take them. */
export const RANGE = [
  { ...BOUND, name: 'min', default: 0, description: 'Lower bound, inclusive.' },
  {
    ...BOUND,
    name: 'max',
    default: 100,
    description: 'Upper bound, inclusive; more than min, and at most 2^53 - 1 above it.',
    check: requireRange,
  },
] as const satisfies readonly ParameterDefinition[];

const PARAMETERS = [
  {
    name: 'count',
    kind: 'integer',
    min: 1,
    max: LIMITS.integersCountMax,
    default: 1,
    error: 'invalid_count',
    description: 'How many integers.',
  },
  ...RANGE,
  {
    name: 'unique',
    kind: 'boolean',
    default: false,
    error: 'invalid_boolean',
    description: 'No value twice; the range must hold at least count values.',
    check: requirePossible,
  },
  {
    name: 'sort',
    kind: 'choice',
    values: ['none', 'ascending', 'descending'],
    default: 'none',
    error: 'invalid_sort',
    description: 'Order of the values.',
  },
  ENTROPY_MODE,
  DRY_RUN,
] as const satisfies readonly ParameterDefinition[];

export const INTEGERS: DataEndpointDefinition = {
  name: 'integers',
  method: 'GET',
  path: '/v1/integers',
  scope: 'entropy:read',
  summary: 'Random integers in a range, each equally likely.',
  parameters: PARAMETERS,
  errors: ['unique_impossible'],
  parse({ query }) {
    const { values, ignored } = parseQuery(PARAMETERS, query);
    const { count, min, max, unique, sort, entropy_mode, dry_run } = values;
    return {
      request: {
        endpoint: 'integers',
        values: { kind: 'integers', count, min, max, unique, sort },
        valueKey: 'values',
        members: { count, max, min, sort, unique },
        mode: entropy_mode,
        dryRun: dry_run,
      },
      ignored,
    };
  },
};

function requireRange(values: ReadValues): void {
  const min = values['min'] as number;
  const max = values['max'] as number;
  // The difference of two safe integers is rounded only above 2^53, where it is too large either way
  if (min < max && max - min <= LIMITS.integerSpanMax - 1) return;
  throw new ApiError('invalid_range', { details: { min, max } });
}

function requirePossible(values: ReadValues): void {
  if (values['unique'] !== true) return;
  const count = values['count'] as number;
  const span = (values['max'] as number) - (values['min'] as number) + 1;
  if (span >= count) return;
  throw new ApiError('unique_impossible', {
    message: `The range holds ${grouped(span)} values, fewer than the ${grouped(count)} asked for without repeats.`,
    details: { available: span, count },
  });
}
