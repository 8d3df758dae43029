import { LIMITS } from '../../core/limits.ts';
import type { DataEndpointDefinition } from '../endpoint.ts';
import type { ParameterDefinition } from '../params.ts';
import { parseQuery } from '../query.ts';
import { DRY_RUN, ENTROPY_MODE } from './common.ts';

const PARAMETERS = [
  {
    name: 'items',
    kind: 'items',
    min: LIMITS.shuffleItemsMin,
    max: LIMITS.shuffleItemsMax,
    required: true,
    error: 'invalid_items',
    description:
      'Comma-separated items, each percent-encoded UTF-8; %2C is a comma in an item; an item may be empty.',
  },
  ENTROPY_MODE,
  DRY_RUN,
] as const satisfies readonly ParameterDefinition[];

export const SHUFFLE: DataEndpointDefinition = {
  name: 'shuffle',
  method: 'GET',
  path: '/v1/shuffle',
  scope: 'entropy:read',
  summary: 'The items in a random order, each order equally likely.',
  parameters: PARAMETERS,
  errors: [],
  parse({ query }) {
    const { values, ignored } = parseQuery(PARAMETERS, query);
    const { items, entropy_mode, dry_run } = values;
    return {
      request: {
        endpoint: 'shuffle',
        values: { kind: 'shuffle', items },
        valueKey: 'items',
        members: { count: items.length },
        mode: entropy_mode,
        dryRun: dry_run,
      },
      ignored,
    };
  },
};
