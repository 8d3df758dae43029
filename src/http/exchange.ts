import type { Account } from '../account/directory.ts';
import { retryAfterS } from '../account/meter.ts';
import type { RateDecision } from '../account/rate.ts';
import type { Reservation } from '../account/reservation.ts';
import type { Answer, Ask, Keeping, Listener, Quote, Requester } from '../answer/answer.ts';
import { type FirstAnswer, Idempotency } from '../answer/idempotency.ts';
import type { AnswerForm } from '../answer/request.ts';
import { type Clock, periodOf } from '../core/clock.ts';
import { ApiError, type ErrorCode } from '../core/errors.ts';
import { uuidText } from '../core/ids.ts';
import type { BareType, EntropyMode, Scope } from '../core/vocabulary.ts';
import type { Fair } from '../fair/fair.ts';
import { type AnswerOffer, AS_JSON, answerHead, fieldsHead, JSON_ASK, quoteReply } from './answer-reply.ts';
import { type Field, hasField, statusOf, withFields } from './head.ts';
import { type CorsPolicy, type RateFacts, rateFacts } from './reply-fields.ts';
import {
  newRequestId,
  parseTraceparent,
  type RandomBytes,
  type RequestId,
  requestIdText,
  requestNames,
  type Trace,
  traceparentOf,
} from './request-id.ts';
import { endpointRow, type RequestRecord } from './request-record.ts';
import { type BodyOwner, Sender } from './sender.ts';

/** What the exchanges of one front share. */
export interface Pipeline {
  readonly record: RequestRecord;
  readonly clock: Clock;
  readonly cors: CorsPolicy;
  /** Replies carry the RateLimit fields of the draft beside X-RateLimit. */
  readonly rateLimitFields: boolean;
  /** System entropy for request ids, not for values. */
  readonly random: RandomBytes;
  readonly fair: Fair;
  /** What a client is told of anything thrown; a fault is logged. */
  readonly explain: (exchange: Exchange, error: unknown) => ApiError;
  /** Answers an error in the form that the exchange asks for. */
  readonly fail: (exchange: Exchange, error: unknown) => void;
}

/** A refusal costs its account this much beside its time: nobody pays for it. */
const REFUSAL_US = 250;

/** One request and its reply, and what the pipeline has learnt of them so far. */
export class Exchange extends Sender implements Ask, Listener, Requester {
  /** 16 bytes: UUIDv7 layout. Empty until the router or, for a log line, the front names the request. */
  requestId: RequestId = NOT_NAMED;
  /** Unix time at which the request came in; decides its month, and is its timestamp. */
  atMs = 0;
  startedMonotonicMs = 0;
  /** Known from authentication on. */
  account: Account | undefined;
  /** The ledger was asked for its key, which was not known. */
  isKeyLookedUp = false;
  isLate = false;
  /** The API key's scopes allow this; known from authentication on. */
  scopes: readonly string[] = [];
  /** Where the account stands with its rate, known from admission on; every reply to this client tells it. */
  rate: RateFacts | undefined;
  /** The endpoint that it is counted under; known from routing on. */
  endpoint = UNKNOWN;
  /** Known once a data request is about to be answered. */
  mode: EntropyMode | undefined;
  /** Of a data request, once its parameters are valid. */
  offer: AnswerOffer = AS_JSON;
  ignored = '';
  /** The X-Request-ID of the first answer, where it is sent again to the same Idempotency-Key. */
  replayOf: string | undefined;
  /** The code of the error that is answered. */
  error: ErrorCode | undefined;
  #keeping: Keeping | undefined = undefined;
  #pipeline: Pipeline | undefined = undefined;

  /** Known from the beginning in the pipeline on. */
  get pipeline(): Pipeline {
    return this.#pipeline!;
  }

  requireScope(scope: Scope | null): void {
    if (scope === null || this.scopes.includes(scope)) return;
    throw new ApiError('auth_scope', {
      message: `This API key lacks the scope ${scope}.`,
      details: { scope },
    });
  }

  /** Notes where the account stands with its rate. Throws `rate_limited` for a request beyond it. */
  requireRate({ meter }: Account, decision: Readonly<RateDecision>): void {
    this.rate = rateFacts(decision, meter.limit, this.atMs, this.pipeline.rateLimitFields);
    if (!decision.allowed) throw new ApiError('rate_limited', { retryAfterS: retryAfterS(decision) });
  }

  /** Takes a request of the account's rate, for what draws nothing. */
  admit(account: Account): void {
    this.requireRate(account, account.meter.admit(this.pipeline.clock.monotonicMs()));
  }

  /** Takes a request of the account's rate, and reserves one of the month of `atMs`. */
  async enter(account: Account, atMs = this.atMs): Promise<Reservation> {
    const { reservation, decision } = await account.meter.enterOrAsk(this.pipeline.clock, periodOf(atMs));
    this.requireRate(account, decision);
    return reservation;
  }

  /** Does some of the work of this request, and counts its time as its owner's. */
  override spend<T>(work: () => T): T {
    return this.#pipeline === undefined ? work() : this.#pipeline.fair.spend(this.owner, work);
  }

  /** The request has entered the pipeline. */
  get hasBegun(): boolean {
    return this.#pipeline !== undefined;
  }

  /** The request enters the pipeline; only the first call counts. */
  begin(pipeline: Pipeline): void {
    if (this.#pipeline !== undefined) return;
    this.#pipeline = pipeline;
    const { wallMs, monotonicMs } = this.currentTurn;
    this.atMs = wallMs;
    this.startedMonotonicMs = monotonicMs;
    this.nameWith(pipeline.random, this.atMs);
  }

  /** Gives the request its id, unless it has one. */
  nameWith(random: RandomBytes, wallMs: number): void {
    if (this.requestId === NOT_NAMED) this.requestId = newRequestId(random, wallMs);
  }

  protected override get accountNumber(): number | undefined {
    return this.account?.record.number;
  }

  /** As `metadata.request_id` and error bodies print it. */
  get requestIdText(): string {
    return requestIdText(this.requestId);
  }

  /** The same bits as `X-Request-ID` and `meta.request_id` print them. */
  get requestUuid(): string {
    return uuidText(this.requestId);
  }

  /** The caller's trace, if it named one. */
  get trace(): Trace | undefined {
    return this.traceparent === '' ? undefined : parseTraceparent(this.traceparent);
  }

  /** What names the request in a line of the log. */
  get logNames(): object {
    const { trace } = this;
    const names = requestNames(this.requestId);
    return trace === undefined ? names : { ...names, trace_id: trace.traceId };
  }

  get form(): AnswerForm {
    return this.offer.form;
  }

  get mediaType(): string {
    return this.offer.mediaType;
  }

  get octets(): BareType | undefined {
    return this.offer.octets;
  }

  get by(): Requester {
    return this;
  }

  get keeping(): Keeping | undefined {
    const { idempotencyKey: key, method, path, query, offer, body } = this;
    if (key === undefined) return undefined;
    const parts = [method, path, query, offer.name, body];
    return (this.#keeping ??= { key, fingerprint: Idempotency.fingerprint(parts) });
  }

  /** Asks for an answer in JSON that its reply is made of, and that is not the reply itself. */
  asForJson(keeping?: Keeping): Ask {
    const { requestId, atMs, startedMonotonicMs } = this;
    return { ...JSON_ASK, requestId, atMs, startedMonotonicMs, keeping, by: this };
  }

  answered(answer: Answer, atMonotonicMs?: number): void {
    this.pipeline.record.answered(answer);
    this.reply(answerHead(answer, this.rate), answer.body, atMonotonicMs, answer);
  }

  replayed(first: FirstAnswer): void {
    this.replayOf = first.fields.find(([name]) => name === 'X-Request-ID')?.[1];
    this.reply(fieldsHead(first.fields, this.rate), first.body);
  }

  quoted(quote: Quote): void {
    const { head, body } = quoteReply(quote, this);
    this.reply(head, body);
  }

  refused(error: unknown): void {
    this.pipeline.fail(this, error);
  }

  /**
   * Answers the request, once, and records it; `head` and `body` as `send` takes them. `atMonotonicMs` spares
   * the clock where the time is known; `owner` releases the body once it is not read any more.
   */
  reply(head: Uint8Array, body: Uint8Array, atMonotonicMs?: number, owner?: BodyOwner): void {
    const { record, fair } = this.pipeline;
    if (this.isAnswered || this.isAborted) {
      owner?.release();
      if (!this.isAnswered) record.aborted(); // else the front was faster: its deadline had passed
      return;
    }
    const plain = this.origin === '' && this.traceparent === '';
    const fullHead = plain ? head : withFields(head, this.#fieldsBeside(head));
    if (fair.isLimited(this.owner)) {
      if (this.account !== undefined && this.error !== undefined) fair.charge(this.owner, REFUSAL_US);
      this.spend(() => this.send(fullHead, body, owner));
    } else this.send(fullHead, body, owner);
    record.replied(this, statusOf(head), atMonotonicMs);
  }

  /** Begins a reply in parts, inside `gather`, and records it; `head` and `onRoom` as `beginParts` takes them. */
  beginStream(head: Uint8Array, onRoom: () => void): void {
    this.beginParts(withFields(head, this.#fieldsBeside(head)), onRoom);
    this.pipeline.record.replied(this, 200);
  }

  /**
   * The fields that depend on who asks, not on what. A resource that is open to all origins says so itself.
   */
  #fieldsBeside(head: Uint8Array): Field[] {
    const { trace } = this;
    const open = hasField(head, 'Access-Control-Allow-Origin');
    const fields = open ? [] : [...this.pipeline.cors.fields(this.origin)];
    if (trace !== undefined) fields.push(['traceparent', traceparentOf(trace, this.requestId)]);
    return fields;
  }
}

const UNKNOWN = endpointRow('unknown');
const NOT_NAMED: RequestId = new Uint8Array(0);
