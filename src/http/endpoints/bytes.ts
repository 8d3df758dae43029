import { LIMITS } from '../../core/limits.ts';
import type { DataEndpointDefinition } from '../endpoint.ts';
import type { ChoiceParameter, ParameterDefinition } from '../params.ts';
import { parseQuery } from '../query.ts';
import { DRY_RUN, ENTROPY_MODE } from './common.ts';

export const ENCODING = {
  name: 'encoding',
  kind: 'choice',
  values: ['hex', 'base64'],
  default: 'hex',
  error: 'invalid_encoding',
  description: 'hex in lower case, or base64 with padding (RFC 4648 §4).',
} as const satisfies ChoiceParameter;

const PARAMETERS = [
  {
    name: 'count',
    kind: 'integer',
    min: 1,
    max: LIMITS.bytesCountMax,
    default: 16,
    error: 'invalid_count',
    description: 'How many bytes.',
  },
  { ...ENCODING, aliases: ['format'] },
  ENTROPY_MODE,
  DRY_RUN,
] as const satisfies readonly ParameterDefinition[];

export const BYTES: DataEndpointDefinition = {
  name: 'bytes',
  method: 'GET',
  path: '/v1/bytes',
  scope: 'entropy:read',
  summary: 'Random bytes.',
  parameters: PARAMETERS,
  errors: [],
  parse({ query }) {
    const { values, ignored } = parseQuery(PARAMETERS, query);
    const { count, encoding, entropy_mode, dry_run } = values;
    return {
      request: {
        endpoint: 'bytes',
        values: { kind: 'bytes', count: 1, length: count, encoding, single: true },
        valueKey: 'bytes',
        members: { bits: 8 * count, count, encoding },
        mode: entropy_mode,
        dryRun: dry_run,
      },
      ignored,
    };
  },
};
