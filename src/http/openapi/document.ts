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
        'Random numbers over HTTP. Every answer has a certificate that states where its entropy came from and that anyone can verify.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl.replace(/\/v1$/, '') }],
    tags: [
      { name: 'values', description: 'Endpoints that return random values.' },
      { name: 'account', description: 'Endpoints for certificates, usage and health. They need an API key.' },
      { name: 'public', description: 'Resources that anyone can read without an API key.' },
    ],
    paths: pathsOf([...ENDPOINT_ROWS, ...DRAW_ROWS, ...PUBLIC_ROWS]),
    components: {
      schemas: COMPONENT_SCHEMAS,
      headers: HEADERS,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The API key in the header `Authorization: Bearer KEY`.',
        },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description:
            'The API key in the header `X-API-Key`. `Authorization: Bearer` takes precedence over it.',
        },
      },
    },
  };
}

/** An OpenAPI 3.1 document; plain JSON. */
export type OpenApiDocument = ReturnType<typeof openApiDocument>;

const DESCRIPTION = `Every answer states the entropy source that it was drawn from and contains the identifier of its certificate.
The service never replaces one entropy mode by another: if it cannot serve a mode, it answers 503 \`entropy_unavailable\`.
Errors have the form \`{"error":{"code","message","status","request_id","details"?}}\`. A request that the service refuses
draws no entropy and spends no credits. Integers are at most 2^53 - 1.`;
