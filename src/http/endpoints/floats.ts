import { LIMITS } from '../../core/limits.ts';
import type { DataEndpointDefinition } from '../endpoint.ts';
import type { IntegerParameter, ParameterDefinition } from '../params.ts';
import { parseQuery } from '../query.ts';
import { DRY_RUN, ENTROPY_MODE } from './common.ts';

export const PRECISION = {
  name: 'precision',
  kind: 'integer',
  min: 1,
  max: LIMITS.floatPrecisionMax,
  default: null,
  error: 'invalid_precision',
  description:
    'Decimal places p: values are uniform on k / 10^p, 0 <= k < 10^p. Left out: uniform multiples of 2^-53.',
} as const satisfies IntegerParameter;

const PARAMETERS = [
  {
    name: 'count',
    kind: 'integer',
    min: 1,
    max: LIMITS.floatsCountMax,
    default: 1,
    error: 'invalid_count',
    description: 'How many floats.',
  },
  PRECISION,
  ENTROPY_MODE,
  DRY_RUN,
] as const satisfies readonly ParameterDefinition[];

export const FLOATS: DataEndpointDefinition = {
  name: 'floats',
  method: 'GET',
  path: '/v1/floats',
  scope: 'entropy:read',
  summary: 'Random IEEE 754 doubles in [0, 1).',
  parameters: PARAMETERS,
  errors: [],
  parse({ query }) {
    const { values, ignored } = parseQuery(PARAMETERS, query);
    const { count, precision, entropy_mode, dry_run } = values;
    return {
      request: {
        endpoint: 'floats',
        values: { kind: 'floats', count, precision },
        valueKey: 'values',
        members: { count, precision },
        mode: entropy_mode,
        dryRun: dry_run,
      },
      ignored,
    };
  },
};
