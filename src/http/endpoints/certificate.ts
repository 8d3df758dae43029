import type { EndpointDefinition } from '../endpoint.ts';
import type { ParameterDefinition, ValuesOf } from '../params.ts';
import { type ParsedQuery, parseQuery } from '../query.ts';

const PARAMETERS = [
  {
    name: 'id',
    kind: 'text',
    pattern: /^cert_[0-9a-hjkmnp-tv-z]{26}$/,
    required: true,
    error: 'invalid_id',
    description: 'The certificate_id of an answer.',
  },
  {
    name: 'format',
    kind: 'choice',
    values: ['json', 'pdf'],
    default: 'json',
    error: 'invalid_format',
    description: 'The certificate as data or as a document.',
  },
] as const satisfies readonly ParameterDefinition[];

export const CERTIFICATE: EndpointDefinition = {
  name: 'certificate',
  method: 'GET',
  path: '/v1/certificate',
  scope: 'certificate:read',
  summary: 'The provenance certificate of an answer.',
  parameters: PARAMETERS,
  errors: ['cert_not_found'],
};

export function parseCertificateQuery(query: string): ParsedQuery<ValuesOf<typeof PARAMETERS>> {
  return parseQuery(PARAMETERS, query);
}
