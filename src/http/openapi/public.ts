import { certificateIdSchema } from '../../answer/fields.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { octets, ref, text } from '../../core/schema.ts';
import { TIERS_PATH } from '../endpoints/tiers.ts';
import type { OperationRow } from './operation.ts';
import { inPath, json, type MediaTypes, type Parameter } from './parameters.ts';
import { lotId } from './schemas.ts';

const plain: MediaTypes = { 'text/plain': { schema: text } };
const page: MediaTypes = { 'text/html': { schema: text } };

function size(name: string): Parameter {
  const schema = { type: 'integer', minimum: 1 };
  return { name, in: 'query', required: true, description: 'A size of the log.', schema };
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
    'Tiers with their rates, quotas, credits and modes; the price of pure mode; the limits of one request.',
    { ...json(ref('Tiers')), 'application/msgpack': { schema: ref('Tiers') } },
    ['not_acceptable'],
  ],
  ['/livez', 'livez', 'The process runs.', plain],
  ['/readyz', 'readyz', 'Every mode can be served that will be.', plain],
  ['/metrics', 'metrics', 'Prometheus text format, when it is served on this port.', plain, ['not_found']],
  ['/openapi.json', 'openapi', 'This document.', json({ type: 'object' })],
  ['/docs', 'docs', 'Documentation for people.', page],
  ['/status', 'status', 'How the service does, for people.', page],
  [
    '/verify/{id}',
    'verify',
    'The public page of a certificate; JSON with Accept: application/json.',
    { ...page, ...json(ref('CertificateDocument')) },
    ['invalid_id', 'cert_not_found'],
    [inPath('id', 'The id of a certificate.', certificateIdSchema)],
  ],
  ['/.well-known/qrn-keys.json', 'keys', 'Every key that ever signed for the log.', json(ref('Keys'))],
  [
    '/log/checkpoint',
    'checkpoint',
    'The newest signed checkpoint of the log (c2sp.org/tlog-checkpoint).',
    plain,
  ],
  [
    '/log/tile/{level}/{index}',
    'tile',
    'A tile of the log (c2sp.org/tlog-tiles); of an index of several groups each is a path segment.',
    { 'application/octet-stream': { schema: octets } },
    ['not_found'],
    [
      inPath('level', 'From 0, the leaves, up.', { type: 'integer', minimum: 0, maximum: 63 }),
      inPath('index', 'Three digits, a partial tile with .p/WIDTH behind.', { type: 'string' }),
    ],
  ],
  [
    '/log/leaves',
    'leaves',
    'The public leaves of the log, at most 64 from an index on: lots, withdrawals and statements.',
    json(ref('PublicLeaves')),
    ['not_found'],
    [
      {
        name: 'from',
        in: 'query',
        description: 'The index of a leaf.',
        schema: { type: 'integer', minimum: 0, default: 0 },
      },
    ],
  ],
  [
    '/log/lots/{id}',
    'lot',
    'The leaf of a lot, what certificates say of it, and which lots have been withdrawn.',
    json(ref('PublicLot')),
    ['not_found'],
    [inPath('id', 'The id of a lot.', lotId)],
  ],
  [
    '/log/consistency',
    'consistency',
    'The proof that the log only grew from one size to another (RFC 9162 §2.1.4).',
    json(ref('Consistency')),
    ['not_found'],
    [size('from'), size('to')],
  ],
];

const NOT_READY = { description: 'Not ready: the body is a word that says why.', content: plain };

export const PUBLIC_ROWS: readonly OperationRow[] = ROWS.map(
  ([path, operationId, summary, content, codes = [], parameters]) => ({
    ...{ path, method: 'get', operationId, tag: 'public', summary },
    ...(parameters && { parameters }),
    responses: {
      200: { description: 'OK', content },
      ...(operationId === 'readyz' && { 503: NOT_READY }),
    },
    codes: ['bad_request', 'internal_error', ...codes],
  }),
);
