import type { Quote } from '../answer/answer.ts';
import { IN_EVERY_HEAD, NO_STORE, type PrintedAnswer, type ServiceNames } from '../answer/fields.ts';
import type { Written } from '../answer/request.ts';
import type { DrawnFrom } from '../answer/supply.ts';
import { type Part, ReplyTemplate } from '../answer/template.ts';
import { tailOf } from '../answer/text.ts';
import { ApiError } from '../core/errors.ts';
import { type BareType, bareMediaType } from '../core/vocabulary.ts';
import { octetTypeOf } from '../values/value-request.ts';
import type { Exchange } from './exchange.ts';
import { type Field, headOf, linesOf } from './head.ts';
import type { ParsedRequest } from './parsed-requests.ts';
import { type Reply, valueReply } from './reply.ts';
import { type RateFacts, rateFields, ratePartsOf } from './reply-fields.ts';
import { chooseOffer, MEDIA_TYPES } from './representation.ts';

/** A format in which an answer can be sent. */
export interface AnswerOffer extends Written {
  /** Part of the fingerprint of a request under an Idempotency-Key, so that a retry must ask for the same format. */
  readonly name: string;
}

export const AS_JSON = offerWithMetadata('json');
const AS_MSGPACK = offerWithMetadata('msgpack');
const AS_PLAIN = bareOffer('plain', 'plain');
const AS_CSV = bareOffer('csv', 'csv');
/** The format of a stream. */
const AS_LINES: AnswerOffer = { ...AS_JSON, name: 'ndjson', mediaType: 'application/x-ndjson' };
const WITH_METADATA: readonly AnswerOffer[] = [AS_JSON, AS_MSGPACK];

/**
 * Returns the format of an answer: that of the parameter `format`, else the one that the client accepts best of JSON, MessagePack,
 * text lines and, for bytes and batches, octets; a stream is sent as NDJSON. A quote has no values, so a client that accepts only
 * bare values gets it as JSON. Throws `not_acceptable`.
 */
export function offerOf(accept: string, { plan: { request }, stream }: ParsedRequest): AnswerOffer {
  const { format, dryRun, values } = request;
  if (stream !== undefined && !dryRun) return chooseOffer(accept, [AS_LINES]);
  if (format === undefined && (accept === '' || accept === '*/*')) return AS_JSON;
  const texts = 'items' in values ? values.items : 'alphabet' in values ? values.alphabet : [];
  const isPlain = !texts.some((text) => /[\r\n]/.test(text));
  if (format !== undefined) {
    if (format === 'json' || dryRun) return AS_JSON;
    if (format === 'plain' && !isPlain) throw new ApiError('invalid_format', { message: LINES_IN_ITEMS });
    return format === 'csv' ? AS_CSV : AS_PLAIN;
  }
  if (stream !== undefined) return chooseOffer(accept, WITH_METADATA, AS_JSON);
  const octetType = OCTET_ENDPOINTS.has(request.endpoint) ? octetTypeOf(values) : undefined;
  const asOctets = octetType === undefined ? [] : [bareOffer('octet-stream', octetType)];
  const offer = chooseOffer(accept, [...WITH_METADATA, ...asOctets, ...(isPlain ? [AS_PLAIN] : []), AS_CSV]);
  if (!dryRun || offer.octets === undefined) return offer;
  return chooseOffer(accept, WITH_METADATA, AS_JSON);
}

const OCTET_ENDPOINTS: ReadonlySet<string> = new Set(['bytes', 'batch']);

const LINES_IN_ITEMS =
  'format must not be plain, because an item or the alphabet contains a line break. Use csv or json.';

function offerWithMetadata(form: 'json' | 'msgpack'): AnswerOffer {
  return { name: form, form, octets: undefined, mediaType: MEDIA_TYPES[form] };
}

function bareOffer(name: string, type: BareType): AnswerOffer {
  return { name, form: 'octet-stream', octets: type, mediaType: bareMediaType(type) };
}

export function quoteReply(quote: Quote, exchange: Exchange): Reply {
  const { requestUuid, requestIdText, atMs, ignored, offer, rate } = exchange;
  const body = {
    data: { mode: quote.mode, required_bytes: quote.requiredBytes },
    meta: { duration_ms: quote.durationMs, request_id: requestUuid },
    metadata: { request_id: requestIdText, timestamp: new Date(atMs).toISOString() },
    quantum_credits: { remaining: quote.creditsRemaining, used: 0, total: quote.creditsTotal },
  };
  const fields: Field[] = [
    ['X-Entropy-Mode', quote.mode],
    ['X-Quantum-Credits-Remaining', String(quote.creditsRemaining)],
    ['X-Request-ID', requestUuid],
    ...rateFields(rate),
  ];
  if (ignored !== '') fields.push(['X-Ignored-Parameters', ignored]);
  return valueReply(200, offer.form, body, fields);
}

/** Returns the head that answers HEAD and begins a stream: the fields that are known without a draw. */
export function describedHead(exchange: Exchange, creditsRemaining: number): Uint8Array<ArrayBuffer> {
  const { offer, mode, requestUuid, ignored, rate } = exchange;
  const fields: Field[] = [
    ['Content-Type', offer.mediaType],
    NO_STORE,
    ['X-Entropy-Mode', mode!],
    ['X-Quantum-Credits-Remaining', String(creditsRemaining)],
    ['X-Request-ID', requestUuid],
  ];
  if (ignored !== '') fields.push(['X-Ignored-Parameters', ignored]);
  return fieldsHead(fields, rate);
}

/** Makes a head field by field, for the formats that no template prints. */
export function fieldsHead(fields: readonly Field[], rate: RateFacts | undefined): Uint8Array<ArrayBuffer> {
  return headOf(200, [...fields, ...rateFields(rate)]);
}

type AnswerTemplate = ReplyTemplate<PrintedAnswer, RateFacts>;
/** The templates of JSON replies, by source and by RateLimit-Policy. */
const templates = new WeakMap<DrawnFrom, Map<string | undefined, AnswerTemplate>>();
/** Bound on the templates of one source, because operators may give each account a rate of its own. */
const TEMPLATES_MAX = 64;

/** The template that was used last. Most replies have the template of the reply before. */
let last:
  | { readonly from: DrawnFrom; readonly policy: string | undefined; readonly template: AnswerTemplate }
  | undefined;

/** Returns the template of the JSON replies from this source to clients with this rate limit. */
export function replyTemplateOf(from: DrawnFrom, { policy }: RateFacts, names: ServiceNames): AnswerTemplate {
  if (last?.from !== from || last.policy !== policy)
    last = { from, policy, template: keptTemplate(from, policy, names) };
  return last.template;
}

function keptTemplate(from: DrawnFrom, policy: string | undefined, names: ServiceNames): AnswerTemplate {
  let ofSource = templates.get(from);
  if (ofSource === undefined) templates.set(from, (ofSource = new Map()));
  let template = ofSource.get(policy);
  if (template === undefined) {
    if (ofSource.size >= TEMPLATES_MAX) ofSource.clear();
    const rateParts = ratePartsOf(policy).flatMap(([name, ...value]) => [lineOf(name), ...value]);
    template = new ReplyTemplate([...headPartsOf(from), ...rateParts], tailOf(from, names));
    ofSource.set(policy, template);
  }
  return template;
}

function headPartsOf(from: DrawnFrom): Part<PrintedAnswer, RateFacts>[] {
  const fields: Field[] = [['Content-Type', MEDIA_TYPES.json], NO_STORE];
  const changing = [];
  for (const field of IN_EVERY_HEAD) {
    // no fixed field of this table uses the names of the service
    if ('fixed' in field) fields.push([field.header, String(field.fixed(from, NO_NAMES))]);
    else changing.push(lineOf(field.header), field);
  }
  return [Buffer.from(headOf(200, fields)).toString('latin1'), ...changing];
}

const NO_NAMES = { poweredBy: '', verifyUrlBase: '' };

/** Returns the beginning of a header line, up to its value. */
function lineOf(name: string): string {
  return linesOf([[name, '']]);
}
