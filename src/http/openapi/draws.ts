import type { ErrorCode } from '../../core/errors.ts';
import type { Schema } from '../../core/schema.ts';
import { DRAWS_PATH } from '../draws/routes.ts';
import { type Failures, IDEMPOTENCY_KEY, inPath, json } from './parameters.ts';

const ID = inPath('id', 'The id of a draw.', { type: 'string', pattern: '^draw_[0-9a-hjkmnp-tv-z]{26}$' });

const HASH: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
const NONCE: Schema = { type: 'string', pattern: '^(?:[0-9a-f]{2}){1,64}$' };

const KEYED: readonly ErrorCode[] = ['auth_missing', 'auth_invalid', 'auth_scope', 'rate_limited'];
const WITH_BODY: readonly ErrorCode[] = [
  ...KEYED,
  'duplicate_parameter',
  'unsupported_media_type',
  'payload_too_large',
  'invalid_json',
  'unknown_parameter',
  'overloaded',
  'storage_unavailable',
];

const CREATE: readonly ErrorCode[] = [
  ...WITH_BODY,
  'invalid_draw',
  'list_mismatch',
  'invalid_nonce',
  'invalid_beacon',
  'beacon_round_past',
  'invalid_reveal_at',
  'invalid_purpose',
  'invalid_user_data',
  'invalid_boolean',
  'invalid_type',
  'invalid_params',
  'invalid_count',
  'invalid_range',
  'invalid_items',
  'invalid_weights',
  'unique_impossible',
  'quota_exceeded',
  'mode_not_allowed',
  'credits_exhausted',
  'invalid_idempotency_key',
  'idempotency_in_flight',
  'idempotency_mismatch',
  'idempotency_full',
  'draws_full',
  'beacon_unavailable',
  'entropy_unavailable',
];

/** What a committed draw is asked for. Members that are not listed are refused. */
const REQUEST: Schema = {
  type: 'object',
  required: ['purpose'],
  oneOf: [{ required: ['request'] }, { required: ['winners'] }],
  properties: {
    request: { type: 'object', description: 'type, count and params, as POST /v1/batch takes them.' },
    winners: {
      type: 'object',
      required: ['count', 'list'],
      properties: {
        count: { type: 'integer', minimum: 1 },
        list: {
          type: 'object',
          description: 'items, or sha256 and size of a list that stays with the caller.',
          properties: {
            items: { type: 'array', items: { type: 'string' } },
            sha256: HASH,
            size: { type: 'integer', minimum: 2 },
          },
        },
        weights: { type: 'array', items: { type: 'integer', minimum: 1 } },
      },
    },
    purpose: { type: 'string', minLength: 1 },
    user_data: { type: 'string', minLength: 1 },
    user_data_sha256: HASH,
    public: { type: 'boolean', default: false },
    nonce: NONCE,
    nonce_sha256: HASH,
    beacon: {
      type: 'object',
      required: ['chain', 'round'],
      properties: {
        chain: { type: 'string', description: 'Name or hash of a chain of drand.' },
        round: { type: 'integer', minimum: 1, description: 'A round that is due in 10 seconds or later.' },
      },
    },
    reveal_at: { type: 'string', format: 'date-time' },
  },
};

/** A draw as docs/draws.md describes it. */
const DRAW: Schema = {
  type: 'object',
  required: [
    'type',
    'version',
    'id',
    'state',
    'statement',
    'statement_sha256',
    'committed_at',
    'certificate_id',
  ],
  properties: {
    type: { const: 'draw' },
    version: { const: 1 },
    id: { type: 'string' },
    state: { enum: ['committed', 'revealed', 'cancelled', 'failed'] },
    statement: { type: 'object' },
    statement_sha256: { type: 'string' },
    chances: {
      type: 'array',
      description: 'Of a weighted pick the chance of each item, in percent of one pick.',
      items: {
        type: 'object',
        required: ['item', 'percent'],
        properties: { item: { type: 'string' }, percent: { type: 'string' } },
      },
    },
    committed_at: { type: 'string', format: 'date-time' },
    certificate_id: { type: 'string' },
    certificate: { type: ['object', 'null'] },
    commit: { type: 'object' },
    answer: { type: ['object', 'null'] },
    chain: { type: ['object', 'null'] },
    outcome: { type: ['object', 'null'] },
    end: { type: ['object', 'null'] },
  },
};

const KEY = [{ bearer: ['entropy:batch'] }, { apiKey: ['entropy:batch'] }];

/** Committed draws. `list` is GET /v1/draws. */
export function drawPaths(list: Schema, failures: Failures): Readonly<Record<string, Schema>> {
  const draw = { description: 'The draw.', content: json(DRAW) };
  const operation = (
    operationId: string,
    summary: string,
    more: Schema,
    codes: readonly ErrorCode[],
  ): Schema => ({
    operationId,
    summary,
    ...more,
    responses: { 200: draw, ...failures(['bad_request', 'internal_error', ...codes]) },
  });
  const create = operation(
    'createDraw',
    'Commits to a draw before anybody knows its outcome; costs 32 credits.',
    {
      tags: ['values'],
      security: KEY,
      parameters: [IDEMPOTENCY_KEY],
      requestBody: { required: true, content: json(REQUEST) },
    },
    CREATE,
  );
  const created = { description: 'The draw, committed.', content: json(DRAW) };
  return {
    [DRAWS_PATH]: {
      ...list,
      post: { ...create, responses: { 201: created, ...(create['responses'] as Schema) } },
    },
    [`${DRAWS_PATH}/{id}`]: {
      get: operation(
        'draw',
        'A committed draw with all that its check needs, for whoever knows its id.',
        { tags: ['public'], security: [], parameters: [ID] },
        ['invalid_draw_id', 'draw_not_found'],
      ),
      delete: operation(
        'cancelDraw',
        'Cancels a draw that is not due; its bytes are opened, and the log says so.',
        { tags: ['values'], security: KEY, parameters: [ID] },
        [...KEYED, 'invalid_draw_id', 'draw_not_found', 'draw_ended', 'draw_due'],
      ),
    },
    [`${DRAWS_PATH}/{id}/reveal`]: {
      post: operation(
        'openNonce',
        'Opens the nonce of a draw that was committed to by nonce_sha256.',
        {
          tags: ['values'],
          security: KEY,
          parameters: [ID],
          requestBody: {
            required: true,
            content: json({ type: 'object', required: ['nonce'], properties: { nonce: NONCE } }),
          },
        },
        [...WITH_BODY, 'invalid_nonce', 'invalid_draw_id', 'draw_not_found', 'draw_ended'],
      ),
    },
  };
}
