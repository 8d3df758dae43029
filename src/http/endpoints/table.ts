import { CERTIFICATE_ID } from '../../core/ids.ts';
import { oneOfWords, textLike } from '../../core/schema.ts';
import { DATA_ENDPOINTS } from '../../core/vocabulary.ts';
import type { DataEndpointDefinition, DrawingEndpointDefinition, EndpointDefinition } from '../endpoint.ts';
import { parameter } from '../params.ts';
import { STREAM } from './stream.ts';
import { BATCH, valuesEndpoint } from './values.ts';

export const CERTIFICATE_PARAMETERS = [
  parameter(
    'id',
    textLike(CERTIFICATE_ID),
    'The identifier of the certificate, from `metadata.certificate_id` of an answer.',
    {
      required: true,
    },
  ),
  parameter(
    'format',
    oneOfWords(['json', 'pdf']),
    'The format of the certificate: `json` for programs, `pdf` for a printable document.',
    {
      default: 'json',
    },
  ),
] as const;

export const CERTIFICATE: EndpointDefinition = {
  name: 'certificate',
  method: 'GET',
  path: '/v1/certificate',
  scope: 'certificate:read',
  summary:
    'The provenance certificate of an answer. It states where the entropy came from and how it was tested.',
  parameters: CERTIFICATE_PARAMETERS,
  errors: ['cert_not_found'],
};

export const HEALTH: EndpointDefinition = {
  name: 'health',
  method: 'GET',
  path: '/v1/health',
  scope: 'health:read',
  summary:
    'The state of the service and of its entropy sources. These requests do not count towards any limit.',
  parameters: [],
  errors: [],
};

export const USAGE: EndpointDefinition = {
  name: 'usage',
  method: 'GET',
  path: '/v1/usage',
  scope: 'usage:read',
  summary: 'The usage of the account in this month, with its limits and what is left of them.',
  parameters: [],
  errors: [],
};

/** The endpoints whose reply is one answer: first those of the specification in its order, then the others. */
export const DATA_ENDPOINT_DEFINITIONS: readonly DataEndpointDefinition[] = DATA_ENDPOINTS.map((name) =>
  name === 'batch' ? BATCH : valuesEndpoint(name),
);

/** Every endpoint that draws entropy. */
export const DRAWING_ENDPOINT_DEFINITIONS: readonly DrawingEndpointDefinition[] = [
  ...DATA_ENDPOINT_DEFINITIONS,
  STREAM,
];

/** Every endpoint under /v1. */
export const ENDPOINT_DEFINITIONS: readonly EndpointDefinition[] = [
  ...DRAWING_ENDPOINT_DEFINITIONS,
  CERTIFICATE,
  HEALTH,
  USAGE,
];
