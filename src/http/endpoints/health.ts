import type { EndpointDefinition } from '../endpoint.ts';

export const HEALTH: EndpointDefinition = {
  name: 'health',
  method: 'GET',
  path: '/v1/health',
  scope: 'health:read',
  summary: 'The state of the service and of its entropy sources. Neither limited nor counted.',
  parameters: [],
  errors: [],
};
