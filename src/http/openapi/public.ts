import { certificateIdSchema } from '../../answer/fields.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { LOT_ID } from '../../core/ids.ts';
import { octets, ref, text, textLike } from '../../core/schema.ts';
import { TIERS_PATH } from '../endpoints/tiers.ts';
import type { OperationRow } from './operation.ts';
import { inPath, json, type MediaTypes, type Parameter } from './parameters.ts';

const plain: MediaTypes = { 'text/plain': { schema: text } };
const page: MediaTypes = { 'text/html': { schema: text } };

function size(name: string): Parameter {
  const schema = { type: 'integer', minimum: 1 };
  return {
    name,
    in: 'query',
    required: true,
    description: name === 'from' ? 'The smaller size of the log.' : 'The larger size of the log.',
    schema,
  };
}

type Row = readonly [
  path: string,
  operationId: string,
  summary: string,
  content: MediaTypes,
  codes?: readonly ErrorCode[],
  parameters?: readonly Parameter[],
];

/** The resources that can be read without a key, except draws. */
const ROWS: readonly Row[] = [
  [
    TIERS_PATH,
    'tiers',
    'The tiers with their rates, quotas, credits and entropy modes, the prices of pure mode, and the limits of one request.',
    { ...json(ref('Tiers')), 'application/msgpack': { schema: ref('Tiers') } },
    ['not_acceptable'],
  ],
  ['/livez', 'livez', 'Whether the process is running.', plain],
  ['/readyz', 'readyz', 'Whether the service is ready for requests.', plain],
  [
    '/metrics',
    'metrics',
    'The metrics in the text format of Prometheus, if the service exposes them on this port.',
    plain,
    ['not_found'],
  ],
  ['/openapi.json', 'openapi', 'This OpenAPI document.', json({ type: 'object' })],
  ['/docs', 'docs', 'The documentation, as a web page.', page],
  ['/status', 'status', 'The status of the service, as a web page.', page],
  [
    '/verify/{id}',
    'verify',
    'The public page of a certificate. With `Accept: application/json`, the certificate as JSON.',
    { ...page, ...json(ref('CertificateDocument')) },
    ['invalid_id', 'cert_not_found'],
    [inPath('id', 'The identifier of the certificate.', certificateIdSchema)],
  ],
  [
    '/.well-known/qrn-keys.json',
    'keys',
    'All public keys that have ever signed for the log.',
    json(ref('Keys')),
  ],
  [
    '/log/checkpoint',
    'checkpoint',
    'The latest signed checkpoint of the log (c2sp.org/tlog-checkpoint).',
    plain,
  ],
  [
    '/log/tile/{level}/{index}',
    'tile',
    'A tile of the log (c2sp.org/tlog-tiles). An index of 1000 or more consists of several path segments.',
    { 'application/octet-stream': { schema: octets } },
    ['not_found'],
    [
      inPath('level', 'The level of the tile. Level 0 contains the leaf hashes.', {
        type: 'integer',
        minimum: 0,
        maximum: 63,
      }),
      inPath('index', 'The index of the tile: three digits, followed by `.p/WIDTH` for a partial tile.', {
        type: 'string',
      }),
    ],
  ],
  [
    '/log/leaves',
    'leaves',
    'The public leaves of the log: lots, withdrawals and statements. One reply lists at most 64, starting at an index.',
    json(ref('PublicLeaves')),
    ['not_found'],
    [
      {
        name: 'from',
        in: 'query',
        description: 'The index of the first leaf to list.',
        schema: { type: 'integer', minimum: 0, default: 0 },
      },
    ],
  ],
  [
    '/log/lots/{id}',
    'lot',
    'The leaf of a lot with its proof, and all withdrawals of lots.',
    json(ref('PublicLot')),
    ['not_found'],
    [inPath('id', 'The identifier of the lot.', textLike(LOT_ID))],
  ],
  [
    '/log/consistency',
    'consistency',
    'The proof that the log of one size is an extension of the log of a smaller size (RFC 9162 §2.1.4).',
    json(ref('Consistency')),
    ['not_found'],
    [size('from'), size('to')],
  ],
];

const NOT_READY = {
  description: 'The service is not ready. The body is a word that states the reason.',
  content: plain,
};

export const PUBLIC_ROWS: readonly OperationRow[] = ROWS.map(
  ([path, operationId, summary, content, codes = [], parameters]) => ({
    ...{ path, method: 'get', operationId, tag: 'public', summary },
    ...(parameters && { parameters }),
    responses: {
      200: { description: 'The requested resource.', content },
      ...(operationId === 'readyz' && { 503: NOT_READY }),
    },
    codes: ['bad_request', 'internal_error', ...codes],
  }),
);
