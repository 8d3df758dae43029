import { DRAW_ROWS } from './draws.ts';
import { ENDPOINT_ROWS } from './endpoints.ts';
import { HEADERS } from './headers.ts';
import { pathsOf } from './operation.ts';
import { PUBLIC_ROWS } from './public.ts';
import { COMPONENT_SCHEMAS } from './schemas.ts';

export interface OpenApiFacts {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly version: string;
}

/**
 * Returns the OpenAPI document. It is made from the definitions that route and validate requests and from the table of
 * errors, so that it cannot differ from what the service does.
 */
export function openApiDocument({ baseUrl, version }: OpenApiFacts) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quantum Random Number Service',
      version,
      summary:
        'Random numbers, each answer with a certificate that states where its entropy came from and that anyone can check.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl.replace(/\/v1$/, '') }],
    tags: [
      { name: 'values', description: 'Random values.' },
      { name: 'account', description: 'Certificates, usage and health, with a key.' },
      { name: 'public', description: 'What needs no key.' },
    ],
    paths: pathsOf([...ENDPOINT_ROWS, ...DRAW_ROWS, ...PUBLIC_ROWS]),
    components: {
      schemas: COMPONENT_SCHEMAS,
      headers: HEADERS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer KEY' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An alias; Bearer wins.' },
      },
    },
  };
}

/** An OpenAPI 3.1 document; plain JSON. */
export type OpenApiDocument = ReturnType<typeof openApiDocument>;

const DESCRIPTION = `Every answer names the entropy that it was drawn from and carries the id of its certificate.
No entropy mode ever turns into another: what cannot be served is 503 \`entropy_unavailable\`.
Errors have the shape \`{"error":{"code","message","status","request_id","details"?}}\`; a refused request has drawn nothing
and spent nothing. Integers go up to 2^53 - 1.`;
