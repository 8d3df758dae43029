import type { EndpointDefinition } from '../endpoint.ts';

export const USAGE: EndpointDefinition = {
  name: 'usage',
  method: 'GET',
  path: '/v1/usage',
  scope: 'usage:read',
  summary: 'What the account has used this month, and what is left.',
  parameters: [],
  errors: [],
};
