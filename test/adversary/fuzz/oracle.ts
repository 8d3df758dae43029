import assert from 'node:assert/strict';
import canonicalize from 'canonicalize';
import { unpack } from 'msgpackr';
import { UNLIMITED } from '../../../src/account/tiers.ts';
import { ERRORS, type ErrorCode } from '../../../src/core/errors.ts';
import { bytesOfBase32, uuidText } from '../../../src/core/ids.ts';
import type { EntropyMode } from '../../../src/core/vocabulary.ts';
import { PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import type { HttpReply, HttpRequest } from '../../support/http.ts';
import { type Data, type TableRow, wrongData } from '../../support/request-table.ts';
import { type Accept, type FuzzCase, isAcceptable, wireRequest } from './cases.ts';
import type { TableCase } from './table-cases.ts';
import { askedOf, assertValues, priceOf } from './values-model.ts';
import { type Actor, RESERVOIR_BYTES, ROLES, type World } from './world.ts';

/** A pool with this much more than the request, which is more than two lots, must not refuse anybody. */
const NEARLY_DRY_BYTES = 1024 * 1024;
const BODY_BYTES_MAX = 65_536;
/** The kinds of values that have octets (SPEC-NOTES). */
const OCTET_KINDS: ReadonlySet<unknown> = new Set(['integers', 'floats', 'gaussians', 'uuid', 'bytes']);

/**
 * The expected result: a row of the table in its mode or, for a wild request, anything that obeys the rules for all
 * replies.
 */
export type Due = Pick<TableCase, 'row' | 'mode'> | 'anything';
type Expected = Due | { readonly refused: ErrorCode } | { readonly allows: string };

/** Sends a request and compares everything that can be known of its answer with the expected result. */
export async function hold(world: World, fuzzed: FuzzCase, due: Due): Promise<void> {
  const actor = world.actor(fuzzed.role);
  const outcome = expected(fuzzed, due);
  const { reply, drawn } = await exchanged(world, wireRequest(fuzzed, actor.key));
  assertReplyHead(reply, fuzzed.accept);
  if (reply.status === 200) {
    world.saw(`200 ${fuzzed.ask.endpoint}`);
    const answer = holdAnswer(world, actor, fuzzed, reply, drawn);
    if (outcome === 'anything') return;
    assert.ok(
      'row' in outcome,
      `${'refused' in outcome ? outcome.refused : 'OPTIONS'} is due: ${textOf(reply)}`,
    );
    if (outcome.mode !== undefined) assert.equal(reply.headers.get('x-entropy-mode'), outcome.mode);
    if (answer === undefined) return;
    assert.equal(wrongData(outcome.row, answer.data), undefined);
    if (outcome.mode === 'pure' && !isQuote(answer)) await holdQuoted(world, fuzzed, answer);
    return;
  }
  assert.equal(drawn, 0, 'a refused request draws nothing');
  if (reply.status === 204) {
    if (outcome === 'anything') return;
    assert.ok('allows' in outcome, textOf(reply));
    assert.equal(reply.headers.get('allow'), outcome.allows);
    return;
  }
  const code = holdRefusal(world, fuzzed, outcome, reply);
  world.saw(code);
  if (outcome === 'anything' || (await mayRefuse(world, code, outcome, actor, reply))) return;
  assert.equal(code, 'refused' in outcome ? outcome.refused : 'an answer', textOf(reply));
}

/** Sends a request, which must not cause a fault of the service, and returns what was drawn meanwhile. */
export async function exchanged(
  world: World,
  request: HttpRequest,
): Promise<{ reply: HttpReply; drawn: number }> {
  const faults = world.faults.length;
  const before = world.meter.drawnBytes;
  const reply = await world.send(request);
  assert.deepEqual(world.faults.slice(faults), [], 'no fault is logged');
  assert.notEqual(reply.status, 500, reply.body.toString());
  return { reply, drawn: world.meter.drawnBytes - before };
}

/**
 * Returns the expected outcome, from the checks before the request's own parameters in their order, and those after
 * them.
 */
function expected({ role, keyWay, method, ask, accept }: FuzzCase, due: Due): Expected {
  const { endpoint, body, contentType } = ask;
  if (due === 'anything') return due;
  const isList = ['shuffle', 'sample', 'weighted'].includes(endpoint);
  const methods = endpoint === 'batch' ? ['POST'] : ['GET', 'HEAD', ...(isList ? ['POST'] : [])];
  if (method === 'POST' && body.length > BODY_BYTES_MAX) return { refused: 'payload_too_large' };
  if (!methods.includes(method)) {
    return method === 'OPTIONS'
      ? { allows: [...methods, 'OPTIONS'].join(', ') }
      : { refused: 'method_not_allowed' };
  }
  if (keyWay === 'missing' || keyWay === 'other scheme') return { refused: 'auth_missing' };
  if (keyWay === 'mistyped' || keyWay === 'never given out') return { refused: 'auth_invalid' };
  const { scopes, modes } = ROLES[role];
  if (scopes?.includes(endpoint === 'batch' ? 'entropy:batch' : 'entropy:read') === false)
    return { refused: 'auth_scope' };
  // A row of a query has no body, and a row of a body no query: methods other than its own request something else.
  if (method === 'POST' && contentType === '') return { refused: 'unsupported_media_type' };
  if (method !== 'POST' && contentType !== '') return 'anything';
  const { row, mode } = due;
  if (row.code !== undefined) return { refused: row.code as ErrorCode };
  if (mode !== undefined && !modes.includes(mode)) return { refused: 'mode_not_allowed' };
  return isAcceptable(accept, hasOctets(row)) ? due : { refused: 'not_acceptable' };
}

/**
 * Tells whether the values have octets. It holds for a quote too, which has no values: clients that accept only octets
 * get it as JSON.
 */
function hasOctets({ endpoint, request }: TableRow<string>): boolean {
  if (endpoint !== 'batch') return endpoint === 'bytes';
  return OCTET_KINDS.has((JSON.parse(request) as { type: unknown }).type);
}

/** Checks refusals that depend on earlier requests. */
async function mayRefuse(
  world: World,
  code: ErrorCode,
  outcome: Exclude<Expected, string>,
  { role, credits: spent }: Actor,
  reply: HttpReply,
): Promise<boolean> {
  const { credits, isThrottled } = ROLES[role];
  if (code === 'rate_limited') return isThrottled === true && !isBeforeRate(outcome);
  if (!('row' in outcome) || outcome.mode !== 'pure') return false;
  if (code === 'entropy_unavailable') {
    const { pure } = await world.service.ledger.blockLevels();
    return pure.blocks * PURE_BLOCK_BYTES < NEARLY_DRY_BYTES;
  }
  if (reply.body.length === 0) return LATER_CODES.get(reply.status) === code; // a HEAD request
  if (code === 'pure_too_large') {
    const { bytes, limit } = errorOf(world, reply).details as { bytes: number; limit: number };
    assert.equal(limit, RESERVOIR_BYTES);
    return bytes > limit;
  }
  if (code !== 'credits_exhausted' || credits === undefined) return false;
  const { required, remaining } = errorOf(world, reply).details as { required: number; remaining: number };
  assert.equal(remaining, credits - spent);
  return required > remaining;
}

const BEFORE_RATE: readonly ErrorCode[] = [
  'method_not_allowed',
  'payload_too_large',
  'auth_missing',
  'auth_invalid',
];

function isBeforeRate(outcome: Exclude<Expected, string>): boolean {
  return 'allows' in outcome || ('refused' in outcome && BEFORE_RATE.includes(outcome.refused));
}

/** Checks the fields that every answer of the service has, each at most once. */
function assertReplyHead({ status, headers }: HttpReply, { wantsProblem }: Accept): void {
  assert.match(
    headers.get('x-request-id') ?? '',
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  if (status === 204) return;
  assert.equal(headers.get('cache-control'), 'no-store');
  if (status >= 400) {
    const type = wantsProblem === true ? 'application/problem+json' : 'application/json';
    assert.equal(headers.get('content-type'), type);
  }
  if (status === 429 || status === 503 || status === 409)
    assert.match(headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
  else assert.ok(!headers.has('retry-after'));
  assert.equal(headers.has('allow'), status === 405);
  assert.equal(headers.has('www-authenticate'), status === 401);
}

interface ErrorFacts {
  readonly code: ErrorCode;
  readonly status: number;
  readonly request_id: string;
  readonly details?: unknown;
}

/** Returns the facts of a refusal, which must be in the table of errors and have the form in the service's document. */
export function errorOf(world: World, { status, headers, body }: HttpReply): ErrorFacts {
  const isProblem = headers.get('content-type') === 'application/problem+json';
  const parsed = JSON.parse(body.toString()) as ErrorFacts & { error?: ErrorFacts };
  const facts = isProblem ? parsed : parsed.error!;
  assert.ok(Object.hasOwn(ERRORS, facts.code), `${facts.code} stands in the table`);
  assert.equal(status, ERRORS[facts.code].status);
  assert.equal(headers.has('retry-after'), status === 429 || status === 503 || status === 409);
  const schema = world.document.components.schemas[isProblem ? 'Problem' : 'Error'];
  assert.equal(world.schemas.complaint(schema, parsed), '');
  return facts;
}

/** Checks a refusal against the document, and returns its code. */
function holdRefusal(world: World, fuzzed: FuzzCase, outcome: Expected, reply: HttpReply): ErrorCode {
  const { method, ask } = fuzzed;
  if (method === 'HEAD') return codeOfHead(reply.status, outcome);
  const { code, status, request_id: id } = errorOf(world, reply);
  assert.equal(status, reply.status);
  assert.equal(uuidText(bytesOfBase32(id.slice('req_'.length))!), reply.headers.get('x-request-id'));
  const operation = world.document.paths[`/v1/${ask.endpoint}`][{ GET: 'get', POST: 'post' }[method] ?? ''];
  if (operation === undefined)
    assert.equal(code === 'method_not_allowed' || code === 'payload_too_large', true, code);
  else
    assert.ok(
      JSON.stringify(operation.responses[status] ?? '').includes(`\`${code}\``),
      `${code} is documented`,
    );
  return code;
}

/** Returns the code of a HEAD request's refusal, which has only the status to go by. */
function codeOfHead(status: number, outcome: Expected): ErrorCode {
  if (outcome === 'anything') return CODES.find((code) => ERRORS[code].status === status)!;
  if ('refused' in outcome && ERRORS[outcome.refused].status === status) return outcome.refused;
  if (status === 406) return 'not_acceptable';
  return LATER_CODES.get(status) ?? assert.fail(`${status} is no refusal of a HEAD request`);
}

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** The refusals that are possible after a request was found valid. */
const LATER_CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 'pure_too_large'],
  [402, 'credits_exhausted'],
  [429, 'rate_limited'],
  [503, 'entropy_unavailable'],
]);

/**
 * Checks what holds for any answer: the entropy it states was drawn, its values fit the request, its price is their
 * information, and its body is valid by the document. Returns the body if that is an object.
 */
function holdAnswer(
  world: World,
  actor: Actor,
  { method, ask }: FuzzCase,
  { headers, body: bytes }: HttpReply,
  drawn: number,
): AnswerBody | undefined {
  const { credits: total = UNLIMITED, modes } = ROLES[actor.role];
  const mode = headers.get('x-entropy-mode') as EntropyMode;
  assert.ok(modes.includes(mode), `${actor.role} gets ${mode}`);
  assert.match(headers.get('x-ignored-parameters') ?? '', /^[0-9A-Za-z._~%, -]*$/);
  const type = headers.get('content-type') ?? '';
  const isObject = method !== 'HEAD' && /^application\/(json|msgpack)$/.test(type);
  const isText = type === 'application/json';
  const body = isObject ? ((isText ? JSON.parse(bytes.toString()) : unpack(bytes)) as AnswerBody) : undefined;
  if (method === 'HEAD' || (body !== undefined && isQuote(body))) {
    assert.equal(drawn, 0, 'HEAD and a quote draw nothing');
    assert.equal(headers.get('x-quantum-credits-remaining'), String(total - actor.credits));
    if (body !== undefined)
      assert.equal(world.schemas.complaint(world.document.components.schemas['Quote'], body), '');
    return body;
  }
  assert.ok(drawn > 0, 'values come from entropy');
  const asked = body && askedOf(ask.endpoint, body.data);
  const price = asked === undefined ? Number(headers.get('x-quantum-credits-used')) : priceOf(asked.request);
  const used = mode === 'pure' ? price : 0;
  actor.answers++;
  actor.credits += used;
  world.consumedBytes += drawn;
  const remaining = total - actor.credits;
  assert.equal(headers.get('x-quantum-credits-remaining'), String(remaining));
  if (asked === undefined || body === undefined) {
    assert.equal(headers.get('x-entropy-consumed-bytes'), String(drawn));
    return undefined;
  }
  const operation = world.document.paths[`/v1/${ask.endpoint}`][method === 'POST' ? 'post' : 'get'];
  assert.equal(world.schemas.complaint(operation.responses['200'].content![type].schema, body), '');
  assertValues(asked.request, asked.values);
  assert.equal(body.metadata.entropy_consumed_bytes, drawn, 'what was drawn is what is told');
  assert.deepEqual(body.quantum_credits, { remaining, used, total });
  if (isText)
    assert.ok(bytes.toString().startsWith(`{"data":${canonicalize(body.data)},`), 'data is canonical');
  return body;
}

interface AnswerBody {
  readonly data: Data;
  readonly metadata: { readonly entropy_consumed_bytes: number };
  readonly quantum_credits: { readonly used: number };
}

function isQuote({ data }: AnswerBody): boolean {
  return 'required_bytes' in data;
}

/** Checks that a dry run of the same request quotes the price that was paid. */
async function holdQuoted(
  world: World,
  fuzzed: FuzzCase,
  { quantum_credits: paid }: AnswerBody,
): Promise<void> {
  const { ask } = fuzzed;
  if (/dry_run/.test(ask.query) || Buffer.from(ask.body).includes('dry_run')) return;
  const query = [ask.query, 'dry_run=true'].filter((part) => part !== '').join('&');
  const reply = await world.send(
    wireRequest({ ...fuzzed, ask: { ...ask, query } }, world.actor(fuzzed.role).key),
  );
  if (reply.status !== 200) return; // the rate may be used up
  const { data } = (
    reply.headers.get('content-type') === 'application/json'
      ? JSON.parse(reply.body.toString())
      : unpack(reply.body)
  ) as AnswerBody;
  assert.deepEqual(data, { mode: 'pure', required_bytes: paid.used });
}

function textOf({ status, body }: HttpReply): string {
  return `${status} ${body.toString('utf8', 0, 300)}`;
}

/** Checks after any number of requests that the service counted exactly what its answers stated. */
export async function assertBooks(world: World): Promise<void> {
  for (const actor of world.actors.values()) {
    if (ROLES[actor.role].isThrottled === true) continue; // it cannot send requests
    const { data } = (await world.json('/usage', actor.role)) as {
      data: { requests: { used: number }; credits: { used: number } };
    };
    assert.deepEqual(
      { requests: data.requests.used, credits: data.credits.used },
      { requests: actor.answers, credits: actor.credits },
      `the books of ${actor.role}`,
    );
  }
  assert.equal(await world.counted('qrn_entropy_consumed_bytes_total'), world.consumedBytes);
  assert.equal(world.meter.drawnBytes, world.consumedBytes, 'nothing was drawn that no answer speaks of');
  assert.deepEqual(world.faults, []);
}
