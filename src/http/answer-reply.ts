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
import { type Field, type HeadSlot, HeadTemplate, headOf, type PatchField } from './head.ts';
import { RATE_LIMIT_TEXTS, type RateFacts, rateFields } from './rate-fields.ts';
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
  return AnswerHead.of(answer.from, rate).headOf(answer, rate);
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

/** Which rate-limit fields a head carries. */
type RateForm = 'none' | 'plain' | 'draft';

function rateFormOf(rate: RateFacts | undefined): RateForm {
  if (rate === undefined) return 'none';
  return rate.draftFields ? 'draft' : 'plain';
}

const RATE_SLOTS: Readonly<Record<RateForm, readonly PatchField[]>> = {
  none: [],
  plain: [
    { name: 'X-RateLimit-Remaining', width: 16 },
    { name: 'X-RateLimit-Reset', width: 12 },
  ],
  draft: [
    { name: 'X-RateLimit-Remaining', width: 16 },
    { name: 'X-RateLimit-Reset', width: 12 },
    { name: 'RateLimit-Policy', width: 72 },
    { name: 'RateLimit', width: 48 },
  ],
};

/** The head of the JSON answers from one source: made once, patched for each answer. */
export class AnswerHead {
  readonly #head: HeadTemplate;
  readonly #requestId: HeadSlot;
  readonly #credits: HeadSlot;
  readonly #rate: readonly HeadSlot[];

  private constructor(from: DrawnFrom, rateForm: RateForm) {
    const fields: Field[] = [['Content-Type', MEDIA_TYPES.json], ...sourceFields(from)];
    const rateSlots = RATE_SLOTS[rateForm];
    this.#head = new HeadTemplate(200, fields, [
      { name: 'X-Request-ID', width: 36 },
      { name: 'X-Quantum-Credits-Remaining', width: 16 },
      ...rateSlots,
    ]);
    this.#requestId = this.#head.slot('X-Request-ID');
    this.#credits = this.#head.slot('X-Quantum-Credits-Remaining');
    this.#rate = rateSlots.map(({ name }) => this.#head.slot(name));
  }

  /** The template for a source and a kind of account; the same object for the same source. */
  static of(from: DrawnFrom, rate: RateFacts | undefined): AnswerHead {
    const form = rateFormOf(rate);
    let forms = templates.get(from);
    if (forms === undefined) templates.set(from, (forms = new Map()));
    let template = forms.get(form);
    if (template === undefined) forms.set(form, (template = new AnswerHead(from, form)));
    return template;
  }

  /** The head of one answer; valid until the next call. */
  headOf(
    answer: Pick<PrintedAnswer, 'requestId' | 'creditsRemaining'>,
    rate: RateFacts | undefined,
  ): Uint8Array {
    this.#requestId.setUuid(answer.requestId);
    const { creditsRemaining } = answer;
    this.#credits.setNumber(creditsRemaining);
    if (rate !== undefined) {
      const [left, reset, policy, rateLimit] = this.#rate;
      left.setNumber(rate.remaining);
      reset.setNumber(rate.resetAtS);
      policy?.setText(rate.policy);
      rateLimit?.setLabelled(RATE_LIMIT_TEXTS[0], rate.remaining, RATE_LIMIT_TEXTS[1], rate.resetAfterS);
    }
    return this.#head.bytes;
  }
}

const templates = new WeakMap<DrawnFrom, Map<RateForm, AnswerHead>>();
