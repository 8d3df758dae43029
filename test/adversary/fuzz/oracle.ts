import assert from 'node:assert/strict';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { unpack } from 'msgpackr';
import { UNLIMITED } from '../../../src/account/tiers.ts';
import { ERRORS, type ErrorCode } from '../../../src/core/errors.ts';
import { bytesOfBase32, uuidText } from '../../../src/core/ids.ts';
import { bareMediaType } from '../../../src/core/vocabulary.ts';
import { PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import { octetTypeOf } from '../../../src/values/value-request.ts';
import type { HttpReply } from '../../support/http.ts';
import { type Accept, type Form, type FuzzCase, formOf, type KeyWay, wireRequest } from './cases.ts';
import { type Asked, type Format, type Outcome, outcomeOf } from './model.ts';
import { factsOf } from './roles.ts';
import { assertValues, priceOf, valuesOfOctets } from './values-model.ts';
import type { Actor, World } from './world.ts';

/** A body that a fuzzed answer may take; larger ones are asked for elsewhere (test/api/data.test.ts). */
const ANSWER_BYTES_MAX = 2_500_000;
/** A pool that holds more than what was asked for and this, which is more than two lots, does not send anybody away. */
const NEARLY_DRY_BYTES = 1024 * 1024;

/** Sends a request and holds everything that can be known of its answer against the model. */
export async function hold(world: World, fuzzed: FuzzCase): Promise<void> {
  const actor = world.actor(fuzzed.role);
  const outcome = acceptable(expected(fuzzed), fuzzed);
  if ('asked' in outcome) fc.pre(answerBytesAbout(outcome.asked) <= ANSWER_BYTES_MAX);
  const faults = world.faults.length;
  const drawnBefore = world.meter.drawnBytes;
  const reply = await world.send(wireRequest(fuzzed, actor.key));
  const drawn = world.meter.drawnBytes - drawnBefore;
  assert.deepEqual(world.faults.slice(faults), [], 'no fault is logged');
  assert.notEqual(reply.status, 500, reply.body.toString());
  assertReplyHead(reply, fuzzed.accept);
  if (reply.status === 200) {
    world.saw(`200 ${fuzzed.ask.endpoint}`);
    if (!('asked' in outcome))
      assert.fail(`${'refused' in outcome ? outcome.refused : 'OPTIONS'} is due: ${textOf(reply)}`);
    await holdAnswer(world, actor, fuzzed, outcome.asked, reply, drawn);
    return;
  }
  assert.equal(drawn, 0, 'a refused request draws nothing');
  if ('allows' in outcome) {
    assert.equal(reply.status, 204);
    assert.equal(reply.headers.get('allow'), outcome.allows);
    return;
  }
  const code = holdRefusal(world, fuzzed, outcome, reply);
  world.saw(code);
  const isUnacceptable = 'refused' in outcome && formOf(fuzzed.accept, false) === undefined;
  if (isUnacceptable && outcome.refused === 'mode_not_allowed' && code === 'not_acceptable') return;
  if (await mayRefuse(world, code, outcome, actor, reply)) return;
  assert.equal(code, 'refused' in outcome ? outcome.refused : 'an answer', textOf(reply));
}

/** What is due once the Accept field is looked at, behind the request's own parameters. */
function acceptable(outcome: Expected, { accept }: FuzzCase): Expected {
  if (!('asked' in outcome)) return outcome;
  const { values, format, dryRun } = outcome.asked;
  const texts = 'items' in values ? values.items : values.kind === 'strings' ? values.alphabet : [];
  const hasBreaks = texts.some((text) => /[\r\n]/.test(text));
  if (format === 'plain' && hasBreaks && !dryRun) return { refused: 'invalid_format' };
  return formFor(outcome.asked, accept) === undefined ? { refused: 'not_acceptable' } : outcome;
}

/** The form of the answer; undefined where nothing is acceptable. */
function formFor({ endpoint, values, format, dryRun }: Asked, accept: Accept): Form | Format | undefined {
  if (format !== undefined) return dryRun ? 'json' : format;
  const hasOctets = endpoint === 'bytes' || (endpoint === 'batch' && OCTET_KINDS.has(values.kind));
  return formOf(accept, !dryRun && hasOctets);
}

/** The kinds of values that have octets (SPEC-NOTES). */
const OCTET_KINDS: ReadonlySet<string> = new Set(['integers', 'floats', 'uuid', 'bytes']);

type Expected = Outcome | { readonly allows: string };

/** The whole of what comes before the request's own parameters, in the order of the decisions. */
function expected({ role, keyWay, method, ask }: FuzzCase): Expected {
  const isList = ['shuffle', 'sample', 'weighted'].includes(ask.endpoint);
  const methods = ask.endpoint === 'batch' ? ['POST'] : ['GET', 'HEAD', ...(isList ? ['POST'] : [])];
  if (method === 'POST' && ask.body.length > 65_536) return { refused: 'payload_too_large' };
  if (!methods.includes(method)) {
    return method === 'OPTIONS'
      ? { allows: [...methods, 'OPTIONS'].join(', ') }
      : { refused: 'method_not_allowed' };
  }
  return keyRefusal(keyWay) ?? outcomeOf(ask, role, method);
}

function keyRefusal(way: KeyWay): Outcome | undefined {
  if (way === 'missing' || way === 'other scheme') return { refused: 'auth_missing' };
  if (way === 'mistyped' || way === 'never given out') return { refused: 'auth_invalid' };
  return undefined;
}

/** Refusals that depend on what came before this request. */
async function mayRefuse(
  { service }: World,
  code: ErrorCode,
  outcome: Expected,
  { role, credits: spent }: Actor,
  reply: HttpReply,
): Promise<boolean> {
  const { credits, isThrottled } = factsOf(role);
  if (code === 'rate_limited') return isThrottled === true && !isBeforeRate(outcome);
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

function isBeforeRate(outcome: Expected): boolean {
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
  if ('refused' in outcome && ERRORS[outcome.refused].status === status) return outcome.refused;
  if (status === 406) return 'not_acceptable';
  return LATER_CODES.get(status) ?? assert.fail(`${status} is no refusal of a HEAD request`);
}

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
  if (form === 'plain' || form === 'csv') {
    assert.equal(headers.get('content-type'), bareMediaType(form));
    if (!LISTS.includes(asked.values.kind))
      assertValues(asked.values, valuesOfLines(asked, form, reply.body));
    assert.equal(headers.get('x-entropy-consumed-bytes'), String(fromSource));
    assert.equal(headers.get('x-quantum-credits-used'), String(used));
    return;
  }
  const type = form === 'octet-stream' ? octetTypeOf(asked.values) : undefined;
  assert.equal(headers.get('content-type'), type === undefined ? `application/${form}` : bareMediaType(type));
  if (type !== undefined) {
    assertValues(asked.values, valuesOfOctets(asked.values, reply.body));
    assert.equal(headers.get('x-entropy-consumed-bytes'), String(fromSource));
    assert.equal(headers.get('x-quantum-credits-used'), String(used));
    return;
  }
  const body = (form === 'json' ? JSON.parse(reply.body.toString()) : unpack(reply.body)) as AnswerBody;
  holdSchema(world, asked, form, body);
  const { metadata: source, [valueKey(asked)]: values, ...echoed } = body.data;
  assert.deepEqual(echoed, asked.echoed);
  assert.equal(body.label !== undefined, asked.hasLabel, 'a label is told');
  assert.equal((source as { entropy_mode: string }).entropy_mode, asked.mode);
  assertValues(asked.values, values);
  assert.equal(body.metadata.entropy_consumed_bytes, fromSource, 'what was drawn is what is told');
  assert.deepEqual(body.quantum_credits, credits);
  if (form === 'json')
    assert.ok(reply.body.toString().startsWith(`{"data":${canonicalize(body.data)},`), 'data is canonical');
}

/** Kinds of texts with quotes and commas, and of rows: their lines are read in test/values/text-lines.test.ts. */
const LISTS: readonly string[] = ['shuffle', 'sample', 'weighted', 'strings', 'sequences', 'permutations'];

/** The values of lines of text, as JSON would have had them. */
function valuesOfLines({ values }: Asked, form: 'plain' | 'csv', body: Buffer): unknown {
  const lines = body.toString().split(form === 'csv' ? '\r\n' : '\n');
  assert.equal(lines.pop(), '', 'every line ends');
  if (form === 'csv') assert.equal(lines.shift(), 'value');
  if (values.kind === 'integers' || values.kind === 'floats' || values.kind === 'gaussians')
    return lines.map(Number);
  return values.kind === 'bitstring' || (values.kind === 'bytes' && values.single) ? lines[0] : lines;
}

interface AnswerBody {
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: { readonly entropy_consumed_bytes: number };
  readonly quantum_credits: unknown;
  readonly label?: unknown;
}

function holdQuote(world: World, asked: Asked, accept: Accept, reply: HttpReply): void {
  const form = formFor(asked, accept)!;
  assert.equal(reply.headers.get('content-type'), `application/${form}`);
  const body = (form === 'json' ? JSON.parse(reply.body.toString()) : unpack(reply.body)) as AnswerBody;
  assert.equal(world.schemas.complaint(world.document.components.schemas['Quote'], body), '');
  assert.deepEqual(body.data, { mode: asked.mode, required_bytes: priceOf(asked.values) });
}

function holdSchema(world: World, { endpoint }: Asked, form: string, body: unknown): void {
  const operation = world.document.paths[`/v1/${endpoint}`][endpoint === 'batch' ? 'post' : 'get'];
  const { schema } = operation.responses['200'].content![`application/${form}`];
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
