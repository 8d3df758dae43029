import { LIMITS } from '../../core/limits.ts';
import type { DataEndpointDefinition } from '../endpoint.ts';
import type { ParameterDefinition } from '../params.ts';
import { parseQuery } from '../query.ts';
import { DRY_RUN, ENTROPY_MODE } from './common.ts';

const PARAMETERS = [
  {
    name: 'count',
    kind: 'integer',
    min: 1,
    max: LIMITS.uuidCountMax,
    default: 1,
    error: 'invalid_count',
    description: 'How many UUIDs.',
  },
  ENTROPY_MODE,
  DRY_RUN,
] as const satisfies readonly ParameterDefinition[];

export const UUID: DataEndpointDefinition = {
  name: 'uuid',
  method: 'GET',
  path: '/v1/uuid',
  scope: 'entropy:read',
  summary: 'Random UUIDs of version 4 (RFC 9562 §5.4).',
  parameters: PARAMETERS,
  errors: [],
  parse({ query }) {
    const { values, ignored } = parseQuery(PARAMETERS, query);
    const { count, entropy_mode, dry_run } = values;
    return {
      request: {
        endpoint: 'uuid',
        values: { kind: 'uuid', count },
        valueKey: 'uuids',
        members: { count, version: 4 },
        mode: entropy_mode,
        dryRun: dry_run,
      },
      ignored,
    };
  },
};
