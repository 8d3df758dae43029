import type { ErrorCode } from '../../core/errors.ts';
import { described, listOf, object, orNull, type Schema, text, time } from '../../core/schema.ts';
import { COUNT, DRAW_MEMBERS, LIST_SHA256, SIZE } from '../draws/request.ts';
import { DRAWS_PATH } from '../draws/routes.ts';
import { BATCH } from '../endpoints/batch.ts';
import { ITEMS, WEIGHTS } from '../endpoints/kinds.ts';
import { type Failures, IDEMPOTENCY_KEY, inPath, json, memberSchemas } from './parameters.ts';

const ID = inPath('id', 'The id of a draw.', { type: 'string', pattern: '^draw_[0-9a-hjkmnp-tv-z]{26}$' });
const KEY = [{ bearer: ['entropy:batch'] }, { apiKey: ['entropy:batch'] }];

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
const OF_BATCH = [...BATCH.body!.members, ...Object.values(BATCH.body!.params).flat()];
const CREATE: readonly ErrorCode[] = [
  ...WITH_BODY,
  ...BATCH.errors,
  ...[...DRAW_MEMBERS, LIST_SHA256, ...OF_BATCH].map(({ error }) => error),
  'invalid_draw',
  'invalid_beacon',
  'beacon_round_past',
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

const open: Schema = { type: 'object' };
const openOrNull = orNull(open);
const MEMBERS = memberSchemas(DRAW_MEMBERS);

/** What a committed draw is asked for. Members that are not listed are refused. */
const REQUEST: Schema = {
  type: 'object',
  required: ['purpose'],
  oneOf: [{ required: ['request'] }, { required: ['winners'] }],
  properties: {
    request: described(open, 'type, count and params, as POST /v1/batch takes them.'),
    winners: object(
      {
        ...memberSchemas([COUNT]),
        list: object(
          {},
          memberSchemas([ITEMS, LIST_SHA256, SIZE]),
          'items, or sha256 and size of a list that stays with the caller.',
        ),
      },
      memberSchemas([WEIGHTS]),
    ),
    ...MEMBERS,
    beacon: object({
      chain: described(text, 'Name or hash of a chain of drand.'),
      round: { type: 'integer', minimum: 1, description: 'A round that is due in 10 seconds or later.' },
    }),
  },
  additionalProperties: false,
};

/** A draw as docs/draws.md describes it. */
const DRAW = object(
  {
    type: { const: 'draw' },
    version: { const: 1 },
    id: text,
    state: { enum: ['committed', 'revealed', 'cancelled', 'failed'] },
    statement: open,
    statement_sha256: text,
    committed_at: time,
    certificate_id: text,
    certificate: openOrNull,
    commit: open,
    answer: openOrNull,
    chain: openOrNull,
    outcome: openOrNull,
    end: openOrNull,
  },
  {
    chances: described(
      listOf(object({ item: text, percent: text })),
      'Of a weighted pick the chance of each item, in percent of one pick.',
    ),
  },
);

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
    tags: ['values'],
    security: KEY,
    ...more,
    responses: { 200: draw, ...failures(['bad_request', 'internal_error', ...new Set(codes)]) },
  });
  const create = operation(
    'createDraw',
    'Commits to a draw before anybody knows its outcome; costs 32 credits.',
    { parameters: [IDEMPOTENCY_KEY], requestBody: { required: true, content: json(REQUEST) } },
    CREATE,
  );
  const created = { ...draw, description: 'The draw, committed.' };
  const nonce = object({ nonce: MEMBERS['nonce'] });
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
        { parameters: [ID] },
        [...KEYED, 'invalid_draw_id', 'draw_not_found', 'draw_ended', 'draw_due'],
      ),
    },
    [`${DRAWS_PATH}/{id}/reveal`]: {
      post: operation(
        'openNonce',
        'Opens the nonce of a draw that was committed to by nonce_sha256.',
        { parameters: [ID], requestBody: { required: true, content: json(nonce) } },
        [...WITH_BODY, 'invalid_nonce', 'invalid_draw_id', 'draw_not_found', 'draw_ended'],
      ),
    },
  };
}
