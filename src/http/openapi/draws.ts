import type { ErrorCode } from '../../core/errors.ts';
import { DRAW_ID } from '../../core/ids.ts';
import { described, object, ref, type Schema, text, textLike } from '../../core/schema.ts';
import { COUNT, DRAW_MEMBERS, LIST_SHA256, SIZE } from '../draws/request.ts';
import { DRAWS_PARAMETERS, DRAWS_PATH } from '../draws/routes.ts';
import { BODY_ERRORS } from '../endpoint.ts';
import { ITEMS, WEIGHTS } from '../endpoints/kinds.ts';
import { BATCH } from '../endpoints/values.ts';
import { OF_DRAWING, OF_KEYED, OF_PARAMETERS, type OperationRow } from './operation.ts';
import { IDEMPOTENCY_KEY, inPath, json, memberSchemas, queryParameter } from './parameters.ts';

const ID = inPath('id', 'The identifier of the draw.', textLike(DRAW_ID));

const KEYED: readonly ErrorCode[] = [...OF_KEYED, 'rate_limited'];
const WITH_BODY: readonly ErrorCode[] = [...KEYED, ...OF_PARAMETERS, ...BODY_ERRORS, 'storage_unavailable'];
const OF_BATCH = [...BATCH.body!.members, ...Object.values(BATCH.body!.params!).flat()];
const CREATE: readonly ErrorCode[] = [
  ...WITH_BODY,
  ...OF_DRAWING,
  ...BATCH.errors,
  ...[...DRAW_MEMBERS, LIST_SHA256, ...OF_BATCH].map(({ error }) => error),
  'invalid_draw',
  'invalid_beacon',
  'beacon_round_past',
  'draws_full',
  'beacon_unavailable',
];

const open: Schema = { type: 'object' };
const MEMBERS = memberSchemas(DRAW_MEMBERS);

/** The body of the request for a committed draw. Unknown members are refused. */
const REQUEST: Schema = {
  type: 'object',
  required: ['purpose'],
  oneOf: [{ required: ['request'] }, { required: ['winners'] }],
  properties: {
    request: described(
      open,
      'The request for the values: `type`, `count` and `params`, as in `POST /v1/batch`.',
    ),
    winners: described(
      object(
        {
          ...memberSchemas([COUNT]),
          list: object(
            {},
            memberSchemas([ITEMS, LIST_SHA256, SIZE]),
            'The list of entries: either its `items`, or the `sha256` and `size` of a list that the caller keeps.',
          ),
        },
        memberSchemas([WEIGHTS]),
      ),
      'The winners to draw from a list.',
    ),
    ...MEMBERS,
    beacon: described(
      object({
        chain: described(text, 'The name or the hash of a drand chain that the service knows.'),
        round: {
          type: 'integer',
          minimum: 1,
          description: 'The number of the round. It must be due at least 10 seconds from now.',
        },
      }),
      'A future round of a public randomness beacon that the values depend on.',
    ),
  },
  additionalProperties: false,
};

const ALWAYS: readonly ErrorCode[] = ['bad_request', 'internal_error'];
const OF_ID: readonly ErrorCode[] = ['invalid_draw_id', 'draw_not_found'];
const KEYED_CALL = { tag: 'values', scope: 'entropy:batch' } as const;
const ONE = { description: 'The draw.', content: json(ref('Draw')) };
const ONE_PATH = `${DRAWS_PATH}/{id}`;

/** The operations on committed draws, and the list of what was drawn for a purpose. */
export const DRAW_ROWS: readonly OperationRow[] = [
  {
    ...{ path: DRAWS_PATH, method: 'get', operationId: 'draws', tag: 'public' },
    summary:
      'The answers that were drawn for a public purpose, with every serial number of a series. One reply lists at most 100.',
    parameters: DRAWS_PARAMETERS.map(queryParameter),
    responses: { 200: { description: 'The list of answers.', content: json(ref('Draws')) } },
    codes: [...ALWAYS, ...DRAWS_PARAMETERS.map(({ error }) => error)],
  },
  {
    ...{ path: DRAWS_PATH, method: 'post', operationId: 'createDraw', ...KEYED_CALL },
    summary: 'Commits to a draw before anyone can know its outcome. A draw costs 32 credits.',
    parameters: [IDEMPOTENCY_KEY],
    body: json(REQUEST),
    responses: { 200: ONE, 201: { ...ONE, description: 'The committed draw.' } },
    codes: CREATE,
  },
  {
    ...{ path: ONE_PATH, method: 'get', operationId: 'draw', tag: 'public', parameters: [ID] },
    summary:
      'A committed draw with everything that is needed to verify it. Anyone who knows its identifier can read it.',
    responses: { 200: ONE },
    codes: [...ALWAYS, ...OF_ID],
  },
  {
    ...{ path: ONE_PATH, method: 'delete', operationId: 'cancelDraw', parameters: [ID], ...KEYED_CALL },
    summary:
      'Cancels a draw that is not yet due. The service reveals the committed bytes and records the cancellation in the log.',
    responses: { 200: ONE },
    codes: [...KEYED, ...OF_ID, 'draw_ended', 'draw_due'],
  },
  {
    ...{
      path: `${ONE_PATH}/reveal`,
      method: 'post',
      operationId: 'openNonce',
      parameters: [ID],
      ...KEYED_CALL,
    },
    summary: 'Reveals the nonce of a draw that was created with `nonce_sha256`.',
    body: json(object({ nonce: MEMBERS['nonce'] })),
    responses: { 200: ONE },
    codes: [...WITH_BODY, 'invalid_nonce', ...OF_ID, 'draw_ended'],
  },
];
