import type { Account } from '../account/directory.ts';
import type { Answer, Asker, Quote } from '../answer/answer.ts';
import { type FirstAnswer, Idempotency } from '../answer/idempotency.ts';
import type { AnswerForm } from '../answer/request.ts';
import type { ErrorCode } from '../core/errors.ts';
import { base32Of, stampUuidV7, uuidText } from '../core/ids.ts';
import type { EntropyMode } from '../core/vocabulary.ts';
import { answerHead, keptFields, quoteReply, replayHead } from './answer-reply.ts';
import type { CorsPolicy } from './cors.ts';
import type { BodyOwner, Exchange } from './exchange.ts';
import { type Field, hasField, statusOf, withFields } from './head.ts';
import type { RateFacts } from './rate-fields.ts';
import { endpointRow, type RequestRecord } from './request-record.ts';
import { parseTraceparent, type Trace, traceparentOf } from './trace.ts';

/** What the calls of one front share. */
export interface CallSurroundings {
  readonly record: RequestRecord;
  readonly cors: CorsPolicy;
  /** Answers an error in the call's own form. */
  readonly fail: (call: Call, error: unknown) => void;
}

/** One request on its way through the pipeline: what was learnt of it so far. */
export class Call implements Asker {
  readonly exchange: Exchange;
  /** 16 bytes: UUIDv7 layout. */
  readonly requestId: Uint8Array<ArrayBuffer>;
  /** Unix time at which the request came in; decides its month, and is its timestamp. */
  readonly atMs: number;
  readonly startedMonotonicMs: number;
  /** Known from authentication on. */
  account: Account | undefined;
  /** The ledger was asked for its key, which was not known. */
  isKeyLookedUp = false;
  /** The API key's scopes allow this; known from authentication on. */
  scopes: readonly string[] = [];
  /** Where the account stands with its rate, known from admission on; every reply to this client tells it. */
  rate: RateFacts | undefined;
  /** The endpoint that it is counted under; known from routing on. */
  endpoint = UNKNOWN;
  /** Known once a data request is about to be answered. */
  mode: EntropyMode | undefined;
  /** Of a data request, once its parameters are valid. */
  form: AnswerForm = 'json';
  ignored = '';
  /** The X-Request-ID of the first answer, where it is sent again to the same Idempotency-Key. */
  replayOf: string | undefined;
  /** The code of the error that is answered. */
  error: ErrorCode | undefined;
  readonly #around: CallSurroundings;

  /** `random` has 16 bytes of its own, which become the request id. */
  constructor(
    exchange: Exchange,
    random: Uint8Array<ArrayBuffer>,
    atMs: number,
    startedMonotonicMs: number,
    around: CallSurroundings,
  ) {
    this.exchange = exchange;
    this.requestId = random;
    stampUuidV7(random, atMs);
    this.atMs = atMs;
    this.startedMonotonicMs = startedMonotonicMs;
    this.#around = around;
  }

  /** As `metadata.request_id` and error bodies print it. */
  get requestIdText(): string {
    return `req_${base32Of(this.requestId)}`;
  }

  /** The same bits as `X-Request-ID` and `meta.request_id` print them. */
  get requestUuid(): string {
    return uuidText(this.requestId);
  }

  /** The caller's trace, if it named one. */
  get trace(): Trace | undefined {
    const { traceparent } = this.exchange;
    return traceparent === '' ? undefined : parseTraceparent(traceparent);
  }

  get idempotencyKey(): string | undefined {
    return this.exchange.hasIdempotencyKey ? this.exchange.idempotencyKey : undefined;
  }

  fingerprint(): string {
    const { method, path, query, body } = this.exchange;
    return Idempotency.fingerprint([method, path, query, this.form, body]);
  }

  keptFields(answer: Answer): Field[] {
    return keptFields(answer, this.ignored);
  }

  answered(answer: Answer, atMonotonicMs?: number): void {
    this.#around.record.answered(answer);
    this.send(answerHead(answer, this.rate), answer.body, atMonotonicMs, answer);
  }

  replayed(first: FirstAnswer): void {
    this.replayOf = first.fields.find(([name]) => name === 'X-Request-ID')?.[1];
    this.send(replayHead(first, this.rate), first.body);
  }

  quoted(quote: Quote): void {
    const { head, body } = quoteReply(quote, this, this.form, this.rate);
    this.send(head, body);
  }

  refused(error: unknown): void {
    this.#around.fail(this, error);
  }

  /**
   * Answers the request, once; `head` and `body` as `Exchange.send` takes them. `atMonotonicMs` spares the
   * clock where the time is known; `owner` releases the body once it is not read any more.
   */
  send(head: Uint8Array, body: Uint8Array, atMonotonicMs?: number, owner?: BodyOwner): void {
    const { exchange } = this;
    const { record } = this.#around;
    if (exchange.answered || exchange.aborted) {
      owner?.release();
      if (!exchange.answered) record.aborted(); // else the front was faster: its deadline had passed
      return;
    }
    const plain = exchange.origin === '' && exchange.traceparent === '';
    exchange.send(plain ? head : withFields(head, this.#fieldsBeside(head)), body, owner);
    record.replied(this, statusOf(head), atMonotonicMs);
  }

  /**
   * The fields that depend on who asks, not on what. A resource that is open to all origins says so itself.
   */
  #fieldsBeside(head: Uint8Array): Field[] {
    const { exchange, trace } = this;
    const open = hasField(head, 'Access-Control-Allow-Origin');
    const fields = open ? [] : [...this.#around.cors.fields(exchange.origin)];
    if (trace !== undefined) fields.push(['traceparent', traceparentOf(trace, this.requestId)]);
    return fields;
  }
}

const UNKNOWN = endpointRow('unknown');
