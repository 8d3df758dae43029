import type { Answer, Quote } from '../answer/answer.ts';
import type { AnswerForm, DataRequest } from '../answer/request.ts';
import type { DrawnFrom } from '../answer/supply.ts';
import { toHex } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import { type BareType, bareMediaType, type OctetType } from '../core/vocabulary.ts';
import { octetTypeOf, type ValueRequest } from '../values/value-request.ts';
import type { Exchange } from './exchange.ts';
import { type Field, fieldLabel, HeadTemplate, headOf } from './head.ts';
import { NO_STORE, type Reply, valueReply } from './reply.ts';
import { RATE_LIMIT_TEXTS, type RateFacts, rateFields } from './reply-fields.ts';
import { chooseOffer, MEDIA_TYPES, type Offer } from './representation.ts';

/** A way in which an answer can be sent. */
export interface AnswerOffer extends Offer {
  /** Tells offers apart in the fingerprint of a request under an Idempotency-Key. */
  readonly name: string;
  readonly form: AnswerForm;
  /** Of the bare values. */
  readonly octets: BareType | undefined;
}

export const AS_JSON = offerWithMetadata('json');
const AS_MSGPACK = offerWithMetadata('msgpack');
const AS_PLAIN = bareOffer('plain', 'plain');
const AS_CSV = bareOffer('csv', 'csv');
/** Of each block of a stream. */
const AS_LINES: AnswerOffer = { ...AS_JSON, name: 'ndjson', mediaType: 'application/x-ndjson' };
const WITH_METADATA: readonly AnswerOffer[] = [AS_JSON, AS_MSGPACK];
/** By the type that the values have as octets: a few lists serve all requests. */
const offersByType = new Map<OctetType | undefined, readonly AnswerOffer[]>();

/**
 * How an answer is sent: as its parameter `format` says, else as JSON unless the client accepts something else better:
 * MessagePack, lines of text or, for bytes and batches, octets. A quote has no values, so a client that accepts nothing but bare
 * values gets it as JSON.
 */
export function answerOfferOf(accept: string, request: DataRequest): AnswerOffer {
  const { format, dryRun, values } = request;
  const hasLines = !textsOf(values).some((text) => /[\r\n]/.test(text));
  if (format !== undefined) {
    if (format === 'json' || dryRun) return AS_JSON;
    if (format === 'plain' && !hasLines) throw new ApiError('invalid_format', { message: LINES_IN_ITEMS });
    return format === 'csv' ? AS_CSV : AS_PLAIN;
  }
  if (accept === '' || accept === '*/*') return AS_JSON;
  const hasOctets = request.endpoint === 'bytes' || request.endpoint === 'batch';
  const offers = offersOf(hasOctets ? octetTypeOf(values) : undefined);
  const offer = chooseOffer(accept, hasLines ? offers : offers.filter((each) => each !== AS_PLAIN));
  if (!dryRun || offer.octets === undefined) return offer;
  return chooseOffer(accept, WITH_METADATA, AS_JSON);
}

/** A stream is sent as NDJSON, and a quote of it as any quote. */
export function streamOfferOf(accept: string, { dryRun }: DataRequest): AnswerOffer {
  return dryRun ? chooseOffer(accept, WITH_METADATA, AS_JSON) : chooseOffer(accept, [AS_LINES]);
}

/** Texts of the caller that values are made of. */
function textsOf(values: ValueRequest): readonly string[] {
  switch (values.kind) {
    case 'shuffle':
    case 'sample':
    case 'weighted':
      return values.items;
    case 'strings':
      return values.alphabet;
    default:
      return NO_TEXTS;
  }
}

const NO_TEXTS: readonly string[] = [];

const LINES_IN_ITEMS =
  'An item or the alphabet holds a line break, so plain text cannot give a value to a line; use csv or json.';

function offersOf(type: OctetType | undefined): readonly AnswerOffer[] {
  let offers = offersByType.get(type);
  if (offers === undefined) {
    const asOctets = type === undefined ? [] : [bareOffer('octet-stream', type)];
    offersByType.set(type, (offers = [...WITH_METADATA, ...asOctets, AS_PLAIN, AS_CSV]));
  }
  return offers;
}

function offerWithMetadata(form: 'json' | 'msgpack'): AnswerOffer {
  return { name: form, form, octets: undefined, mediaType: MEDIA_TYPES[form] };
}

function bareOffer(name: string, type: BareType): AnswerOffer {
  return { name, form: 'octet-stream', octets: type, mediaType: bareMediaType(type) };
}

/** The head of an answer; valid until the next call. One of JSON is made of the template of its source. */
export function answerHead(
  {
    from,
    fields,
    requestId,
    creditsRemaining,
  }: Pick<Answer, 'from' | 'fields' | 'requestId' | 'creditsRemaining'>,
  rate: RateFacts | undefined,
): Uint8Array {
  if (fields !== undefined) return fieldsHead(fields, rate);
  const head = templateOf(from);
  head.restart();
  head.addUuid(REQUEST_ID, requestId);
  head.addNumber(CREDITS_REMAINING, creditsRemaining);
  if (rate === undefined) return head.bytes;
  head.addNumber(RATE_REMAINING, rate.remaining);
  head.addNumber(RATE_RESET, rate.resetAtS);
  if (rate.policy === undefined) return head.bytes;
  const [beforeRemaining, beforeReset] = RATE_LIMIT_TEXTS;
  head.addText(RATE_POLICY, rate.policy);
  head.addLabelled(RATE_LIMIT, beforeRemaining, rate.remaining, beforeReset, rate.resetAfterS);
  return head.bytes;
}

/** The header fields of an answer that speak of it, not of the moment: a retry gets them again. */
export function keptFields(answer: Answer, mediaType: string, ignored: string): Field[] {
  const fields: Field[] = [
    ['Content-Type', mediaType],
    ...sourceFields(answer.from),
    ['X-Request-ID', uuidText(answer.requestId)],
    ['X-Quantum-Credits-Remaining', String(answer.creditsRemaining)],
  ];
  if (ignored !== '') fields.push(['X-Ignored-Parameters', ignored]);
  // the bare values carry their metadata in headers alone
  if (answer.form === 'octet-stream') {
    fields.push(
      ['X-Certificate-ID', `cert_${base32Of(answer.certificateId)}`],
      ['X-Certificate-Salt', toHex(answer.salt)],
      ['X-Timestamp', answer.timestamp],
      ['X-Processing-Time-Ms', String(answer.durationMs)],
      ['X-Entropy-Consumed-Bytes', String(answer.consumedBytes)],
      ['X-Quantum-Credits-Used', String(answer.credits)],
      ['X-Verify-URL', answer.verifyUrl],
    );
  }
  return fields;
}

/** The answer to `dry_run`. */
export function quoteReply(quote: Quote, exchange: Exchange): Reply {
  const { requestUuid, requestIdText, atMs, ignored, form, rate } = exchange;
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
  return valueReply(200, form, body, fields);
}

/** The head that answers HEAD and begins a stream: what is known without a draw, and no length. */
export function describedHead(exchange: Exchange, creditsRemaining: number): Uint8Array {
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

/** A head made field by field, for the forms that no template serves. */
export function fieldsHead(fields: readonly Field[], rate: RateFacts | undefined): Uint8Array {
  return headOf(200, [...fields, ...rateFields(rate)]);
}

/** The header fields that all answers from one source share. */
function sourceFields(from: DrawnFrom): Field[] {
  return [
    NO_STORE,
    ['X-Lang-Circuit', from.circuit],
    ['X-Lang-Version', from.circuitVersion],
    ['X-Quantum-Backend', from.quantumBackend],
    ['X-NIST-Verified', String(from.nistVerified)],
    ['X-Entropy-Mode', from.mode],
    ['X-Entropy-Origin', from.origin],
  ];
}

const REQUEST_ID = fieldLabel('X-Request-ID');
const CREDITS_REMAINING = fieldLabel('X-Quantum-Credits-Remaining');
const RATE_REMAINING = fieldLabel('X-RateLimit-Remaining');
const RATE_RESET = fieldLabel('X-RateLimit-Reset');
const RATE_POLICY = fieldLabel('RateLimit-Policy');
const RATE_LIMIT = fieldLabel('RateLimit');
/** What these take at most, their longest values included. */
const CHANGING_BYTES_MAX = 512;

/** By source: what is the same in all JSON answers from it. */
const templates = new WeakMap<DrawnFrom, HeadTemplate>();

function templateOf(from: DrawnFrom): HeadTemplate {
  let template = templates.get(from);
  if (template === undefined) {
    const fields: Field[] = [['Content-Type', MEDIA_TYPES.json], ...sourceFields(from)];
    templates.set(from, (template = new HeadTemplate(200, fields, CHANGING_BYTES_MAX)));
  }
  return template;
}
