import { pack } from 'msgpackr';
import type { Answer, Quote } from '../answer/answer.ts';
import type { FirstAnswer } from '../answer/idempotency.ts';
import type { AnswerForm, DataRequest } from '../answer/request.ts';
import type { DrawnFrom } from '../answer/supply.ts';
import type { PrintedAnswer } from '../answer/text.ts';
import { toHex, utf8Bytes } from '../core/bytes.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import type { EntropyMode } from '../core/vocabulary.ts';
import type { Reply } from './error-reply.ts';
import { type Field, fieldLabel, HeadTemplate, headOf } from './head.ts';
import { RATE_LIMIT_TEXTS, type RateFacts, rateFields } from './reply-fields.ts';
import { MEDIA_TYPES, negotiate } from './representation.ts';

/**
 * The form of an answer: JSON unless the client asks for MessagePack or, for bytes and batches, the bare
 * values. A quote has no values, so a client that accepts nothing but bare values gets it as JSON.
 */
export function answerFormOf(accept: string, request: DataRequest): AnswerForm {
  if (accept === '' || accept === '*/*') return 'json';
  const hasBareForm = request.endpoint === 'bytes' || request.endpoint === 'batch';
  const form = negotiate(accept, hasBareForm ? ['json', 'msgpack', 'octet-stream'] : ['json', 'msgpack']);
  return request.dryRun && form === 'octet-stream' ? 'json' : form;
}

/** The head of an answer; valid until the next call. */
export function answerHead(answer: Answer, rate: RateFacts | undefined): Uint8Array {
  const { form, fields } = answer;
  if (fields !== undefined) return fieldsHead(form, fields, rate);
  return AnswerHead.of(answer.from).headOf(answer, rate);
}

/** The header fields of an answer that speak of it, not of the moment: a retry gets them again. */
export function keptFields(answer: Answer, ignored: string): Field[] {
  const fields: Field[] = [
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
    );
  }
  return fields;
}

/** The head of the first answer to an Idempotency-Key, sent again. */
export function replayHead({ form, fields }: FirstAnswer, rate: RateFacts | undefined): Uint8Array {
  return fieldsHead(form as AnswerForm, fields, rate);
}

/** The request that a quote answers. A Call is one. */
interface QuotedRequest {
  readonly requestUuid: string;
  readonly requestIdText: string;
  readonly atMs: number;
}

/** The answer to `dry_run`. */
export function quoteReply(
  quote: Quote,
  { requestUuid, requestIdText, atMs }: QuotedRequest,
  form: AnswerForm,
  rate: RateFacts | undefined,
): Reply {
  const body = {
    data: { mode: quote.mode, required_bytes: quote.requiredBytes },
    meta: { duration_ms: quote.durationMs, request_id: requestUuid },
    metadata: { request_id: requestIdText, timestamp: new Date(atMs).toISOString() },
    quantum_credits: { remaining: quote.creditsRemaining, used: 0, total: quote.creditsTotal },
  };
  const fields: Field[] = [
    ['Content-Type', MEDIA_TYPES[form]],
    ['Cache-Control', 'no-store'],
    ['X-Entropy-Mode', quote.mode],
    ['X-Quantum-Credits-Remaining', String(quote.creditsRemaining)],
    ['X-Request-ID', requestUuid],
    ...rateFields(rate),
  ];
  const bytes = form === 'msgpack' ? new Uint8Array(pack(body)) : utf8Bytes(JSON.stringify(body));
  return { status: 200, head: headOf(200, fields), body: bytes };
}

/** The head that answers HEAD: what is known without a draw, and no length. */
export function describedHead(
  form: AnswerForm,
  mode: EntropyMode,
  creditsRemaining: number,
  ignored: string,
  { requestUuid, rate }: { readonly requestUuid: string; readonly rate: RateFacts | undefined },
): Uint8Array {
  const fields: Field[] = [
    ['Cache-Control', 'no-store'],
    ['X-Entropy-Mode', mode],
    ['X-Quantum-Credits-Remaining', String(creditsRemaining)],
    ['X-Request-ID', requestUuid],
  ];
  if (ignored !== '') fields.push(['X-Ignored-Parameters', ignored]);
  return fieldsHead(form, fields, rate);
}

/** A head made field by field, for the forms that no template serves. */
function fieldsHead(form: AnswerForm, fields: readonly Field[], rate: RateFacts | undefined): Uint8Array {
  return headOf(200, [['Content-Type', MEDIA_TYPES[form]], ...fields, ...rateFields(rate)]);
}

/** The header fields that all answers from one source share. */
function sourceFields(from: DrawnFrom): Field[] {
  return [
    ['Cache-Control', 'no-store'],
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

/** The head of the JSON answers from one source: made once, with lines of its own for each answer. */
export class AnswerHead {
  readonly #head: HeadTemplate;

  private constructor(from: DrawnFrom) {
    const fields: Field[] = [['Content-Type', MEDIA_TYPES.json], ...sourceFields(from)];
    this.#head = new HeadTemplate(200, fields, CHANGING_BYTES_MAX);
  }

  /** The template for a source; the same object for the same source. */
  static of(from: DrawnFrom): AnswerHead {
    let template = templates.get(from);
    if (template === undefined) templates.set(from, (template = new AnswerHead(from)));
    return template;
  }

  /** The head of one answer; valid until the next call. */
  headOf(
    { requestId, creditsRemaining }: Pick<PrintedAnswer, 'requestId' | 'creditsRemaining'>,
    rate: RateFacts | undefined,
  ): Uint8Array {
    const head = this.#head;
    head.restart();
    head.addUuid(REQUEST_ID, requestId);
    head.addNumber(CREDITS_REMAINING, creditsRemaining);
    if (rate !== undefined) {
      head.addNumber(RATE_REMAINING, rate.remaining);
      head.addNumber(RATE_RESET, rate.resetAtS);
      if (rate.policy !== undefined) {
        head.addText(RATE_POLICY, rate.policy);
        head.addLabelled(
          RATE_LIMIT,
          RATE_LIMIT_TEXTS[0],
          rate.remaining,
          RATE_LIMIT_TEXTS[1],
          rate.resetAfterS,
        );
      }
    }
    return head.bytes;
  }
}

const templates = new WeakMap<DrawnFrom, AnswerHead>();
