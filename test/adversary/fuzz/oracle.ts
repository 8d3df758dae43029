import assert from 'node:assert/strict';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { unpack } from 'msgpackr';
import { UNLIMITED } from '../../../src/account/tiers.ts';
import { ERRORS, type ErrorCode } from '../../../src/core/errors.ts';
import { bytesOfBase32, uuidText } from '../../../src/core/ids.ts';
import { bareMediaType, type DataEndpoint } from '../../../src/core/vocabulary.ts';
import { PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import { octetTypeOf } from '../../../src/values/value-request.ts';
import type { HttpReply } from '../../support/http.ts';
import { type TableRow, wrongData } from '../../support/request-table.ts';
import { type Accept, type Form, type FuzzCase, formOf, wireRequest } from './cases.ts';
import { factsOf } from './roles.ts';
import type { Asked } from './valid.ts';
import { assertValues, priceOf, valuesOfOctets } from './values-model.ts';
import type { Actor, World } from './world.ts';

/** A body that a fuzzed answer may take; larger ones are asked for elsewhere (test/api/data.test.ts). */
const ANSWER_BYTES_MAX = 2_500_000;
/** A pool that holds more than what was asked for and this, which is more than two lots, does not send anybody away. */
const NEARLY_DRY_BYTES = 1024 * 1024;

/** What is due for the request itself: values, a row of the table, or, of a wild one, anything that keeps the rules of all replies. */
export type Due = { readonly asked: Asked } | { readonly row: TableRow<string> } | 'anything';
type Expected = Due | { readonly refused: ErrorCode } | { readonly allows: string };

/** Sends a request and holds everything that can be known of its answer against what is due. */
export async function hold(world: World, fuzzed: FuzzCase, due: Due): Promise<void> {
  const actor = world.actor(fuzzed.role);
  const outcome = expected(fuzzed, due);
  if (typeof outcome === 'object' && 'asked' in outcome)
    fc.pre(answerBytesAbout(outcome.asked) <= ANSWER_BYTES_MAX);
  const faults = world.faults.length;
  const drawnBefore = world.meter.drawnBytes;
  const reply = await world.send(wireRequest(fuzzed, actor.key));
  const drawn = world.meter.drawnBytes - drawnBefore;
  assert.deepEqual(world.faults.slice(faults), [], 'no fault is logged');
  assert.notEqual(reply.status, 500, reply.body.toString());
  assertReplyHead(reply, fuzzed.accept);
  if (reply.status === 200) {
    world.saw(`200 ${fuzzed.ask.endpoint}`);
    if (outcome === 'anything') holdTold(world, actor, fuzzed, reply, drawn);
    else if ('row' in outcome) {
      const data = holdTold(world, actor, fuzzed, reply, drawn);
      if (data !== undefined) assert.equal(wrongData(outcome.row, data), undefined);
    } else if ('asked' in outcome) await holdAnswer(world, actor, fuzzed, outcome.asked, reply, drawn);
    else assert.fail(`${'refused' in outcome ? outcome.refused : 'OPTIONS'} is due: ${textOf(reply)}`);
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

/** What the request itself cannot have once its Accept field is looked at. */
function acceptable(due: Due, { accept, ask }: FuzzCase): Expected {
  if (due === 'anything') return due;
  if ('asked' in due) return formFor(due.asked, accept) === undefined ? { refused: 'not_acceptable' } : due;
  const asksForForm = ask.query.includes('format=') || Buffer.from(ask.body).includes('"format"');
  const isUnacceptable = !asksForForm && formOf(accept, false) === undefined;
  if (!isUnacceptable || (ask.endpoint === 'bytes' && accept.wants.length > 0)) return due;
  // a row of a batch does not say its kind, and some have octets
  return ask.endpoint === 'batch' && accept.wants.length > 0 ? 'anything' : { refused: 'not_acceptable' };
}

/** The form of the answer; undefined where nothing is acceptable. */
function formFor({ endpoint, values, dryRun }: Asked, accept: Accept): Form | undefined {
  const hasOctets = endpoint === 'bytes' || (endpoint === 'batch' && OCTET_KINDS.has(values.kind));
  if (!dryRun) return formOf(accept, hasOctets);
  // a quote has no values: whoever accepts nothing but octets of them gets it as JSON
  return formOf(accept, false) ?? (formOf(accept, hasOctets) && 'json');
}

/** The kinds of values that have octets (SPEC-NOTES). */
const OCTET_KINDS: ReadonlySet<string> = new Set(['integers', 'floats', 'gaussians', 'uuid', 'bytes']);

const BODY_BYTES_MAX = 65_536;

/** The whole of what comes before the request's own parameters, in the order of the decisions. */
function expected(fuzzed: FuzzCase, due: Due): Expected {
  const { role, keyWay, method, ask } = fuzzed;
  const { endpoint } = ask;
  if (due === 'anything') return due;
  const isList = ['shuffle', 'sample', 'weighted'].includes(endpoint);
  const methods = endpoint === 'batch' ? ['POST'] : ['GET', 'HEAD', ...(isList ? ['POST'] : [])];
  if (method === 'POST' && ask.body.length > BODY_BYTES_MAX) return { refused: 'payload_too_large' };
  if (!methods.includes(method)) {
    return method === 'OPTIONS'
      ? { allows: [...methods, 'OPTIONS'].join(', ') }
      : { refused: 'method_not_allowed' };
  }
  if (keyWay === 'missing' || keyWay === 'other scheme') return { refused: 'auth_missing' };
  if (keyWay === 'mistyped' || keyWay === 'never given out') return { refused: 'auth_invalid' };
  const { scopes, modes } = factsOf(role);
  if (scopes?.includes(endpoint === 'batch' ? 'entropy:batch' : 'entropy:read') === false)
    return { refused: 'auth_scope' };
  if ('asked' in due)
    return modes.includes(due.asked.mode) ? acceptable(due, fuzzed) : { refused: 'mode_not_allowed' };
  // a row of a query has no body, and one of a body no query: other methods than its own ask for something else
  if (method === 'POST' && ask.contentType === '') return { refused: 'unsupported_media_type' };
  if (method !== 'POST' && ask.contentType !== '') return 'anything';
  return due.row.code === undefined ? acceptable(due, fuzzed) : { refused: due.row.code as ErrorCode };
}

/** Refusals that depend on what came before this request. */
async function mayRefuse(
  { service }: World,
  code: ErrorCode,
  outcome: Exclude<Expected, string>,
  { role, credits: spent }: Actor,
  reply: HttpReply,
): Promise<boolean> {
  const { credits, isThrottled } = factsOf(role);
  if (code === 'rate_limited') return isThrottled === true && !isBeforeRate(outcome);
  if ('row' in outcome) {
    const isPure = /pure/i.test(outcome.row.request);
    return (
      isPure && (code === 'entropy_unavailable' || (code === 'credits_exhausted' && credits !== undefined))
    );
  }
  if (!('asked' in outcome) || outcome.asked.mode !== 'pure' || outcome.asked.dryRun) return false;
  const price = priceOf(outcome.asked.values);
  if (code === 'entropy_unavailable') {
    const { pure } = await service.ledger.blockLevels();
    return pure.blocks * PURE_BLOCK_BYTES < price + NEARLY_DRY_BYTES;
  }
  if (code !== 'credits_exhausted' || credits === undefined) return false;
  assert.ok(price > credits - spent, 'there were credits enough');
  if (reply.body.length === 0) return true; // a HEAD request
  assert.deepEqual(errorOf(reply).details, { required: price, remaining: credits - spent });
  return true;
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

/** What every answer of the service has, and no more than one of each field. */
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

function errorOf({ headers, body }: HttpReply): ErrorFacts {
  const parsed = JSON.parse(body.toString()) as ErrorFacts & { error?: ErrorFacts };
  return headers.get('content-type') === 'application/problem+json' ? parsed : parsed.error!;
}

/** A refusal of the table, in its shape and as the document of the service has it. Gives its code. */
function holdRefusal(world: World, fuzzed: FuzzCase, outcome: Expected, reply: HttpReply): ErrorCode {
  const { method, ask } = fuzzed;
  if (method === 'HEAD') return codeOfHead(reply.status, outcome);
  const { code, status, request_id: id } = errorOf(reply);
  assert.ok(Object.hasOwn(ERRORS, code), `${code} stands in the table`);
  assert.deepEqual([status, reply.status], [ERRORS[code].status, ERRORS[code].status]);
  assert.equal(uuidText(bytesOfBase32(id.slice('req_'.length))!), reply.headers.get('x-request-id'));
  const operation = world.document.paths[`/v1/${ask.endpoint}`][{ GET: 'get', POST: 'post' }[method] ?? ''];
  if (operation === undefined)
    assert.equal(code === 'method_not_allowed' || code === 'payload_too_large', true, code);
  else
    assert.ok(
      JSON.stringify(operation.responses[status] ?? '').includes(`\`${code}\``),
      `${code} is documented`,
    );
  const schema = reply.headers.get('content-type') === 'application/problem+json' ? 'Problem' : 'Error';
  assert.equal(
    world.schemas.complaint(world.document.components.schemas[schema], JSON.parse(reply.body.toString())),
    '',
  );
  return code;
}

/** A HEAD request is refused without a word: the status must do. */
function codeOfHead(status: number, outcome: Expected): ErrorCode {
  if (outcome === 'anything') return CODES.find((code) => ERRORS[code].status === status)!;
  if ('refused' in outcome && ERRORS[outcome.refused].status === status) return outcome.refused;
  if (status === 406) return 'not_acceptable';
  return LATER_CODES.get(status) ?? assert.fail(`${status} is no refusal of a HEAD request`);
}

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** What can come after a request was found valid. */
const LATER_CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [402, 'credits_exhausted'],
  [429, 'rate_limited'],
  [503, 'entropy_unavailable'],
]);

async function holdAnswer(
  world: World,
  actor: Actor,
  { method, accept }: FuzzCase,
  asked: Asked,
  reply: HttpReply,
  fromSource: number,
): Promise<void> {
  const { headers } = reply;
  assert.equal(headers.get('x-entropy-mode'), asked.mode);
  assert.equal(headers.has('x-ignored-parameters'), asked.hasIgnored, 'ignored names are told');
  assert.match(headers.get('x-ignored-parameters') ?? '', /^[0-9A-Za-z._~%, -]*$/);
  if (method === 'HEAD' && !asked.dryRun) {
    assert.equal(fromSource, 0, 'HEAD draws nothing');
    const { credits: limit = UNLIMITED } = factsOf(actor.role);
    assert.equal(headers.get('x-quantum-credits-remaining'), String(limit - actor.credits));
    return;
  }
  const used = asked.mode === 'pure' && !asked.dryRun ? priceOf(asked.values) : 0;
  actor.credits += used;
  const { credits: total = UNLIMITED } = factsOf(actor.role);
  const credits = { remaining: total - actor.credits, used, total };
  assert.equal(headers.get('x-quantum-credits-remaining'), String(credits.remaining));
  if (asked.dryRun) {
    assert.equal(fromSource, 0, 'a quote draws nothing');
    if (method !== 'HEAD') holdQuote(world, asked, accept, reply);
    return;
  }
  actor.answers++;
  assert.ok(fromSource * 8 >= 1, 'values come from entropy');
  const form = formFor(asked, accept)!;
  world.consumedBytes += fromSource;
  const type = form === 'octet-stream' ? octetTypeOf(asked.values) : undefined;
  assert.equal(headers.get('content-type'), type === undefined ? `application/${form}` : bareMediaType(type));
  if (type !== undefined) {
    assertValues(asked.values, valuesOfOctets(asked.values, reply.body));
    assert.equal(headers.get('x-entropy-consumed-bytes'), String(fromSource));
    assert.equal(headers.get('x-quantum-credits-used'), String(used));
    return;
  }
  const body = (form === 'json' ? JSON.parse(reply.body.toString()) : unpack(reply.body)) as AnswerBody;
  holdSchema(world, asked.endpoint, method, `application/${form}`, body);
  const { metadata: source, [valueKey(asked)]: values, ...echoed } = body.data;
  assert.deepEqual(echoed, asked.echoed);
  assert.equal((source as { entropy_mode: string }).entropy_mode, asked.mode);
  assertValues(asked.values, values);
  assert.equal(body.metadata.entropy_consumed_bytes, fromSource, 'what was drawn is what is told');
  assert.deepEqual(body.quantum_credits, credits);
  if (form === 'json')
    assert.ok(reply.body.toString().startsWith(`{"data":${canonicalize(body.data)},`), 'data is canonical');
}

/**
 * What holds of any answer: what it says that it consumed was drawn, its body is what the document describes, and its price is kept
 * for the books. Gives `data`, where it has one.
 */
function holdTold(
  world: World,
  actor: Actor,
  { method, ask }: FuzzCase,
  reply: HttpReply,
  fromSource: number,
) {
  const { headers } = reply;
  if (method === 'HEAD') {
    assert.equal(fromSource, 0, 'HEAD draws nothing');
    return undefined;
  }
  const type = headers.get('content-type');
  const isText = type === 'application/json';
  if (!isText && type !== 'application/msgpack') {
    actor.answers++;
    actor.credits += Number(headers.get('x-quantum-credits-used'));
    world.consumedBytes += fromSource;
    assert.equal(headers.get('x-entropy-consumed-bytes'), String(fromSource));
    return undefined;
  }
  const body = (isText ? JSON.parse(reply.body.toString()) : unpack(reply.body)) as AnswerBody;
  if ('required_bytes' in body.data) {
    assert.equal(fromSource, 0, 'a quote draws nothing');
    return body.data;
  }
  actor.answers++;
  actor.credits += body.quantum_credits.used;
  world.consumedBytes += fromSource;
  holdSchema(world, ask.endpoint, method, type, body);
  assert.equal(body.metadata.entropy_consumed_bytes, fromSource, 'what was drawn is what is told');
  return body.data;
}

interface AnswerBody {
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: { readonly entropy_consumed_bytes: number };
  readonly quantum_credits: { readonly used: number };
}

function holdQuote(world: World, asked: Asked, accept: Accept, reply: HttpReply): void {
  const form = formFor(asked, accept)!;
  assert.equal(reply.headers.get('content-type'), `application/${form}`);
  const body = (form === 'json' ? JSON.parse(reply.body.toString()) : unpack(reply.body)) as AnswerBody;
  assert.equal(world.schemas.complaint(world.document.components.schemas['Quote'], body), '');
  assert.deepEqual(body.data, { mode: asked.mode, required_bytes: priceOf(asked.values) });
}

function holdSchema(world: World, endpoint: DataEndpoint, method: string, type: string, body: unknown): void {
  const operation = world.document.paths[`/v1/${endpoint}`][method === 'POST' ? 'post' : 'get'];
  const { schema } = operation.responses['200'].content![type];
  assert.equal(world.schemas.complaint(schema, body), '');
}

function valueKey({ endpoint }: Asked): string {
  return (
    {
      uuid: 'uuids',
      bytes: 'bytes',
      bitstring: 'bitstring',
      shuffle: 'items',
      sample: 'items',
      weighted: 'items',
    }[endpoint as string] ?? 'values'
  );
}

function answerBytesAbout({ values, dryRun }: Asked): number {
  if (dryRun) return values.kind === 'integers' || values.kind === 'floats' ? 40 * values.count : 0;
  switch (values.kind) {
    case 'bytes':
      return 2 * values.count * values.length;
    case 'bitstring':
      return values.length;
    case 'shuffle':
      return 0;
    case 'strings':
      return values.count * values.length;
    default:
      return 20 * values.count;
  }
}

function textOf({ status, body }: HttpReply): string {
  return `${status} ${body.toString('utf8', 0, 300)}`;
}

/** After any number of requests: what the service counted is what its answers said, no more and no less. */
export async function assertBooks(world: World): Promise<void> {
  for (const actor of world.actors.values()) {
    if (factsOf(actor.role).isThrottled === true) continue; // it cannot ask
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
