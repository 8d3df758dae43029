import { LIMITS } from '../../core/limits.ts';
import type { DataEndpointDefinition } from '../endpoint.ts';
import type { ParameterDefinition } from '../params.ts';
import { parseQuery } from '../query.ts';
import { DRY_RUN, ENTROPY_MODE } from './common.ts';

const PARAMETERS = [
  {
    name: 'length',
    kind: 'integer',
    min: 1,
    max: LIMITS.bitstringLengthMax,
    default: 128,
    error: 'invalid_length',
    description: 'How many bits.',
  },
  ENTROPY_MODE,
  DRY_RUN,
] as const satisfies readonly ParameterDefinition[];

export const BITSTRING: DataEndpointDefinition = {
  name: 'bitstring',
  method: 'GET',
  path: '/v1/bitstring',
  scope: 'entropy:read',
  summary: 'A random string of the digits 0 and 1.',
  parameters: PARAMETERS,
  errors: [],
  parse({ query }) {
    const { values, ignored } = parseQuery(PARAMETERS, query);
    const { length, entropy_mode, dry_run } = values;
    return {
      request: {
        endpoint: 'bitstring',
        values: { kind: 'bitstring', length },
        valueKey: 'bitstring',
        members: { length },
        mode: entropy_mode,
        dryRun: dry_run,
      },
      ignored,
    };
  },
};
