import { listSha256 } from '../../certificate/draw.ts';
import { checkRequest } from '../../certificate/draw-statement.ts';
import { found } from '../../certificate/verdict.ts';
import { ApiError } from '../../core/errors.ts';
import { grouped } from '../../core/figures.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { textLike, wholeFrom } from '../../core/schema.ts';
import type { DrawRequest } from '../../draws/opening.ts';
import { jsonBytesMax, type ValueRequest } from '../../values/value-request.ts';
import { LABEL_PARAMETERS } from '../endpoint.ts';
import { ITEMS, WEIGHTS } from '../endpoints/kinds.ts';
import { requirePossible, sampleRequest, weightedRequest } from '../endpoints/relations.ts';
import { readBatchRequest } from '../endpoints/values.ts';
import { membersOf, parseJsonObject, readMembers } from '../json-body.ts';
import { notBoth, parameter, type ReadValues, readParameters } from '../params.ts';

const [PURPOSE, ...OTHER_LABELS] = LABEL_PARAMETERS;

/** The members of POST /v1/draws, except those that hold objects. */
export const DRAW_MEMBERS = [
  { ...PURPOSE, required: true },
  ...OTHER_LABELS,
  parameter(
    'nonce',
    textLike(/^(?:[0-9a-f]{2}){1,64}$/u),
    `A nonce of the caller that the values depend on, in lower-case hex, at most ${LIMITS.drawNonceBytesMax} bytes.`,
  ),
  parameter(
    'nonce_sha256',
    textLike(/^[0-9a-f]{64}$/u),
    'The SHA-256 hash of the nonce, to be used instead of `nonce`. The service then commits to the draw without knowing the nonce, and the caller reveals it later.',
    { error: 'invalid_nonce', check: notBoth('nonce', 'nonce_sha256', 'invalid_nonce') },
  ),
  parameter(
    'reveal_at',
    textLike(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/u),
    'The time at which the draw is to be revealed, in ISO 8601 and UTC. Without it, the draw is revealed as soon as the nonce and the beacon round are known.',
  ),
] as const;

export const COUNT = parameter('count', wholeFrom(1, LIMITS.batchCountMax), 'The number of winners.', {
  required: true,
});

export const LIST_SHA256 = parameter(
  'sha256',
  textLike(/^[0-9a-f]{64}$/u),
  'The SHA-256 hash of the list: of its items in UTF-8, each followed by a line feed.',
  { error: 'list_mismatch' },
);

export const SIZE = parameter(
  'size',
  wholeFrom(2, LIMITS.integerMagnitudeMax),
  'The number of items in the list.',
  { required: true, error: 'invalid_count' },
);

/** The members of POST /v1/draws that hold objects. */
const OBJECTS = ['request', 'winners', 'beacon'];

/**
 * Reads the body of POST /v1/draws. Throws the ApiError of the first check that fails.
 */
export function readDrawRequest(body: Uint8Array): DrawRequest {
  const object = parseJsonObject(body);
  const given = membersOf(object, DRAW_MEMBERS, { alsoKnown: OBJECTS });
  const { request, winners } = object;
  if ((request === undefined) === (winners === undefined)) throw new ApiError('invalid_draw');
  const drawn =
    request === undefined
      ? readWinners(objectOf('winners', winners))
      : { values: readBatchRequest(objectOf('request', request), 'request.'), list: undefined };
  requireShort(drawn.values);
  const { refusal } = found(() => checkRequest(drawn.values));
  if (refusal !== undefined) throw new ApiError('invalid_draw', { message: refusal });
  const said = readParameters(DRAW_MEMBERS, given);
  const beacon = object['beacon'] === undefined ? undefined : readBeacon(object['beacon']);
  const fixed = {
    request: drawn.values,
    ...(drawn.list && { list: drawn.list }),
    purpose: said.purpose,
    public: said.public,
    ...(said.user_data && { user_data: said.user_data }),
    ...(said.user_data_sha256 && { user_data_sha256: `sha256:${said.user_data_sha256}` }),
    ...(said.nonce && { nonce: said.nonce }),
    ...(said.nonce_sha256 && { nonce_sha256: `sha256:${said.nonce_sha256}` }),
  };
  return { fixed, revealAt: said.reveal_at, beacon };
}

function objectOf(name: string, value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new ApiError('invalid_draw', { message: `${name} must be an object.`, details: { parameter: name } });
}

function readWinners(winners: JsonObject) {
  const { count } = readMembers(winners, [COUNT], { prefix: 'winners.', alsoKnown: ['list', 'weights'] });
  const list = objectOf('winners.list', winners['list']);
  const { weights } = winners;
  const isWhole = Object.hasOwn(list, 'items');
  const prefix = 'winners.list.';
  const given = membersOf(list, [LIST_SHA256, SIZE, ITEMS], { prefix });
  const inOrder = [
    LIST_SHA256,
    { ...ITEMS, required: false, check: requireList },
    { ...SIZE, required: !isWhole },
  ];
  const { sha256, items, size } = readParameters(inOrder, given, prefix);
  if (items === undefined) {
    const range = { min: 1, max: size!, unique: true };
    requirePossible(range, count);
    const values: ValueRequest =
      weights === undefined
        ? { kind: 'integers', count, ...range, sort: 'none' }
        : readWeighted(weights, lines(size!), count);
    return { values, list: { sha256: `sha256:${sha256}`, size: size! } };
  }
  const computed = listSha256(items);
  if ((size ?? items.length) !== items.length || (sha256 !== undefined && computed !== `sha256:${sha256}`))
    throw new ApiError('list_mismatch', { details: { computed, size: items.length } });
  const values = weights === undefined ? sampleRequest(items, count) : readWeighted(weights, items, count);
  return { values, list: { sha256: computed, size: items.length } };
}

function requireList({ items, sha256 }: ReadValues): void {
  if (items !== undefined || sha256 !== undefined) return;
  throw new ApiError('invalid_draw', {
    message: 'winners.list must contain either items, or the sha256 and size of a list that you keep.',
  });
}

function readWeighted(weights: unknown, items: readonly string[], count: number): ValueRequest {
  const given = new Map([['weights', weights]]);
  const { weights: read } = readParameters([WEIGHTS], given, 'winners.');
  return weightedRequest(items, read, count);
}

/** Returns the line numbers of a list, in place of the items, which the caller keeps to itself. */
function lines(size: number): string[] {
  if (size > LIMITS.shuffleItemsMax)
    throw new ApiError('invalid_weights', {
      message: `winners.weights requires a list of at most ${grouped(LIMITS.shuffleItemsMax)} items.`,
    });
  return Array.from({ length: size }, (_, i) => String(i + 1));
}

function requireShort(values: ValueRequest): void {
  const bytes = jsonBytesMax(values);
  if (bytes <= LIMITS.drawValuesBytesMax) return;
  throw new ApiError('invalid_draw', {
    message: `The values of this draw could take ${grouped(bytes)} bytes; the limit is ${grouped(LIMITS.drawValuesBytesMax)} bytes. Request fewer or shorter values.`,
    details: { bytes, limit: LIMITS.drawValuesBytesMax },
  });
}

function readBeacon(value: unknown): { chain: string; round: number } {
  if (!isObject(value)) throw new ApiError('invalid_beacon');
  membersOf(value, [], { prefix: 'beacon.', alsoKnown: ['chain', 'round'] });
  const { chain, round } = value;
  const isRound = typeof round === 'number' && Number.isSafeInteger(round) && round >= 1;
  if (typeof chain !== 'string' || !isRound) throw new ApiError('invalid_beacon');
  return { chain, round };
}

/** Reads the nonce in the body of `POST /v1/draws/<id>/reveal`. */
export function readNonce(body: Uint8Array): string {
  const [NONCE] = DRAW_MEMBERS.filter(({ name }) => name === 'nonce');
  return readMembers(parseJsonObject(body), [{ ...NONCE, required: true }])['nonce'] as string;
}
