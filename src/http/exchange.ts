import type { Account } from '../account/directory.ts';
import { retryAfterS } from '../account/meter.ts';
import type { RateDecision } from '../account/rate.ts';
import type { Reservation } from '../account/reservation.ts';
import type { Answer, Ask, Keeping, Listener, Quote, Requester } from '../answer/answer.ts';
import type { ServiceNames } from '../answer/fields.ts';
import { type FirstAnswer, Idempotency } from '../answer/idempotency.ts';
import { assert } from '../core/assert.ts';
import { type Clock, periodOf } from '../core/clock.ts';
import { ApiError, type ErrorCode } from '../core/errors.ts';
import { uuidText } from '../core/ids.ts';
import type { EntropyMode, Scope } from '../core/vocabulary.ts';
import { type Hold, NO_KEY, type Owner, THIS_MACHINE } from '../fair/budget.ts';
import type { Fair, Piece, Turn } from '../fair/fair.ts';
import { type AnswerOffer, AS_JSON, fieldsHead, quoteReply, replyTemplateOf } from './answer-reply.ts';
import type { DeadlineQueue, Timed } from './deadline-queue.ts';
import type { ReplyHead, Wire } from './engine.ts';
import { type Field, hasField, hasNoContent, statusOf, withFields } from './head.ts';
import { OfferedBody } from './offered-body.ts';
import { type CorsPolicy, type RateFacts, rateFacts } from './reply-fields.ts';
import { type NativeRequest, RequestHead } from './request-head.ts';
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
import type { Route } from './route-table.ts';

/** What the exchanges of one front share. */
export interface Pipeline {
  readonly record: RequestRecord;
  readonly clock: Clock;
  readonly cors: CorsPolicy;
  /** Replies carry the RateLimit fields of the draft beside X-RateLimit. */
  readonly rateLimitFields: boolean;
  readonly names: ServiceNames;
  /** What a client is told of anything thrown; a fault is logged. */
  readonly explain: (exchange: Exchange, error: unknown) => ApiError;
  /** Answers an error in the form that the exchange asks for. */
  readonly fail: (exchange: Exchange, error: unknown) => void;
  /** Goes on with an exchange whose turn has come. Never throws. */
  readonly take: (exchange: Exchange, step: Step, nowMs: number) => void;
}

/** What comes next in the life of a request. */
export type Step = Route | (() => void);

/** A refusal costs its account this much beside its time: nobody pays for it. */
const REFUSAL_US = 250;

/** Who owns the memory of a body. */
export interface BodyOwner {
  /** Called once when the body is not read any more: it is sent, copied, or nobody will take it. */
  release(): void;
}

/** What an exchange needs of its front. */
export interface ExchangeHost {
  /** True once the front is going down: every reply then closes its connection. */
  readonly draining: boolean;
  /** The front's coarse monotonic clock: as of the last sweep. */
  readonly nowMs: number;
  /** Requests that nobody has answered yet. */
  readonly waiting: DeadlineQueue<Exchange>;
  /** Replies that their readers have not taken yet. */
  readonly sending: DeadlineQueue<Exchange>;
  /** Bytes of the bodies in `sending`. */
  heldBytes: number;
  /** Its memory budget counts those of them that no owner accounts for: bodies without an owner, and copies. */
  readonly fair: Fair;
  /** System entropy for request ids, not for values. */
  readonly random: RandomBytes;
  /** A listener of ours threw. */
  fault(exchange: Exchange, error: unknown): void;
}

/**
 * From here on a body is offered to the socket piece by piece and what it does not take stays with us, under
 * a deadline; smaller ones are copied into the library's send buffer at once. 20 stalled readers of 64 MB:
 * 1340 MB of memory with `end`, 1 MB with `tryEnd` (test/http/front-replies.test.ts holds the bound).
 */
const OFFERED_FROM_BYTES = 16 * 1024;

const NO_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/**
 * One request and its reply, and what the pipeline has learnt of them so far. `reply` and `send` may be called at any time once
 * the engine has returned from the bytes in which the request came (see Wire). Exactly the first call counts.
 */
export class Exchange implements Ask, Listener, Requester, Timed, Piece {
  readonly head: RequestHead;
  // what a reply is made of stands together, for it is long out of the processor's caches by then
  /** Known from authentication on. */
  account: Account | undefined = undefined;
  /** Where the account stands with its rate, known from admission on; every reply to this client tells it. */
  rate: RateFacts | undefined = undefined;
  /** The code of the error that is answered. */
  error: ErrorCode | undefined = undefined;
  /** Known once a data request is about to be answered. */
  mode: EntropyMode | undefined = undefined;
  /** The endpoint that it is counted under; known from routing on. */
  endpoint = UNKNOWN;
  /** The client is gone: nothing can be answered any more. */
  isAborted = false;
  /** `send` was called, by the handler or, past the deadline, by the front. */
  isAnswered = false;
  #closing = false;
  /** 16 bytes: UUIDv7 layout. */
  requestId: RequestId;
  #turn: Turn;
  #step: Step = undefined!;
  #waitingBytes: Hold | undefined = undefined;
  costUs = 0;
  isLate = false;
  /** Known from routing on. */
  pipeline: Pipeline = undefined!;
  readonly #host: ExchangeHost;
  readonly #wire: Wire;
  /** Null once it is finished, or the client is gone. */
  #queue: DeadlineQueue<Exchange> | null = null;
  deadlineMs = 0;
  previous: Timed | null = null;
  next: Timed | null = null;
  /** A large body, or lines. */
  #offered: OfferedBody | undefined = undefined;
  #ownerWithoutKey: Owner | undefined = undefined;
  /** The API key's scopes allow this; known from authentication on. */
  scopes: readonly string[] = [];
  /** Of a data request, once its parameters are valid. */
  offer: AnswerOffer = AS_JSON;
  ignored = '';
  /** The X-Request-ID of the first answer, where it is sent again to the same Idempotency-Key. */
  replayOf: string | undefined = undefined;
  /** The body of a POST, whole; empty for every other method. */
  body: Uint8Array = NO_BYTES;
  /** The reply to a HEAD request tells no length: what GET would send is not known without making it. */
  hasUnknownLength = false;
  #keeping: Keeping | undefined = undefined;

  constructor(host: ExchangeHost, wire: Wire, method: string, request: NativeRequest) {
    this.head = new RequestHead(method, request);
    this.#host = host;
    this.#wire = wire;
    this.#turn = host.fair.now();
    this.requestId = newRequestId(host.random, this.atMs);
    this.#listen();
    this.#enter(host.waiting);
  }

  #listen(): void {
    this.#wire.onGone(() => {
      this.isAborted = true;
      this.#release();
    });
  }

  get method(): string {
    return this.head.method;
  }

  get path(): string {
    return this.head.path;
  }

  get query(): string {
    return this.head.query;
  }

  get accept(): string {
    return this.head.accept;
  }

  get contentType(): string {
    return this.head.contentType;
  }

  get idempotencyKey(): string | undefined {
    return this.head.idempotencyKey;
  }

  /** Goes on with `step` in its owner's turn, and holds memory until then. */
  runInTurn(step: Step, costUs: number, waitingBytes: Hold | undefined): void {
    this.#step = step;
    this.costUs = costUs;
    this.#waitingBytes = waitingBytes;
    this.fair.run(this.owner, this);
  }

  /** For Fair: its turn has come. */
  run(nowMs: number): void {
    this.#waitingBytes?.resize(0);
    this.pipeline.take(this, this.#step, nowMs);
  }

  get fair(): Fair {
    return this.#host.fair;
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
  enter(account: Account, atMs = this.atMs): Reservation {
    const reservation = account.meter.enter(this.pipeline.clock.monotonicMs(), periodOf(atMs));
    this.requireRate(account, account.meter.decision);
    return reservation;
  }

  /** Does some of the work of this request, and counts its time as its owner's. */
  spend<T>(work: () => T): T {
    return this.fair.spend(this.owner, work);
  }

  /** The whole request has come. The time that its client took to send the body does not count as the service's. */
  complete(body: Uint8Array): void {
    this.body = body;
    this.#turn = this.fair.now();
    this.renameAt(this.atMs);
  }

  /** Unix time at which all of the request had come in; decides its month, and is its timestamp. */
  get atMs(): number {
    return this.#turn.wallMs;
  }

  get startedMonotonicMs(): number {
    return this.#turn.monotonicMs;
  }

  /** What follows of a stream is a request of its own. An id begins with the time of its request. */
  renameAt(wallMs: number): void {
    this.requestId = newRequestId(this.#host.random, wallMs);
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
    const { traceparent } = this.head;
    return traceparent === '' ? undefined : parseTraceparent(traceparent);
  }

  /** What names the request in a line of the log. */
  get logNames(): object {
    const { trace } = this;
    const names = requestNames(this.requestId);
    return trace === undefined ? names : { ...names, trace_id: trace.traceId };
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
    return { requestId, atMs, startedMonotonicMs, offer: AS_JSON, ignored: '', keeping, by: this };
  }

  answered(answer: Answer, atMonotonicMs?: number): void {
    const { record, names } = this.pipeline;
    const { rate } = this;
    record.answered(answer);
    const { fields, body } = answer;
    if (fields !== undefined && body !== undefined) {
      this.reply(fieldsHead(fields, rate), body, atMonotonicMs, answer);
      return;
    }
    const template = replyTemplateOf(answer.from, rate, names);
    try {
      const printed = answer.print(template, rate);
      this.reply(template.head, printed, atMonotonicMs, answer);
    } finally {
      template.forget();
    }
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
    const {
      pipeline: { record },
      fair,
    } = this;
    if (this.isAnswered || this.isAborted) {
      owner?.release();
      if (!this.isAnswered) record.aborted(); // else the front was faster: its deadline had passed
      return;
    }
    const plain = this.head.origin === '' && this.head.traceparent === '';
    const fullHead = plain ? head : withFields(head, this.#fieldsBeside(head));
    if (fair.isLimited(this.owner)) {
      if (this.account !== undefined && this.error !== undefined) fair.charge(this.owner, REFUSAL_US);
      this.spend(() => this.send(fullHead, body, owner));
    } else this.send(fullHead, body, owner);
    record.replied(this, statusOf(head), atMonotonicMs);
  }

  /**
   * The fields that depend on who asks, not on what. A resource that is open to all origins says so itself.
   */
  #fieldsBeside(head: Uint8Array): Field[] {
    const { trace } = this;
    const open = hasField(head, 'Access-Control-Allow-Origin');
    const fields = open ? [] : [...this.pipeline.cors.fields(this.head.origin)];
    if (trace !== undefined) fields.push(['traceparent', traceparentOf(trace, this.requestId)]);
    return fields;
  }

  /** The client connects from a loopback address and is not a proxy that says so. */
  get isFromThisMachine(): boolean {
    if (this.isAborted || this.head.isForwarded) return false;
    return this.#wire.isFromLoopback;
  }

  /** Nobody can be answered any more, as far as the engine knows now. */
  get isGone(): boolean {
    if (this.#queue !== null && this.#wire.isGone) this.destroy();
    return this.isAborted;
  }

  /** Whom its work and its memory are counted for. */
  get owner(): Owner {
    if (this.account !== undefined) return this.account.record.number;
    return (this.#ownerWithoutKey ??= this.isFromThisMachine ? THIS_MACHINE : NO_KEY);
  }

  /** Closes the connection once the reply is sent; what comes behind this request is never served. */
  closeAfterReply(): void {
    this.#closing = true;
  }

  /**
   * Sends the reply: `head` as headOf or a template makes it (copied before this returns), `body` whole. A HEAD request
   * gets the same head with the length that the body has. The second call, and any after the client has gone, does nothing. The
   * body must not change until its owner releases it, which happens once in any case; without an owner it never changes.
   */
  send(head: Uint8Array, body: Uint8Array, owner?: BodyOwner): void {
    if (this.isAnswered || this.isAborted) {
      owner?.release();
      return;
    }
    this.isAnswered = true;
    const isHead = this.method === 'HEAD';
    const isBodiless = isHead || hasNoContent(head);
    const isOffered = !isBodiless && body.length >= OFFERED_FROM_BYTES;
    try {
      if (isOffered) this.#offer().send(this.#headOf(head, body.length), body, owner);
      // without a body the library closes only where the client asked for it
      else if (isHead && this.#closing && !this.head.asksToClose) this.#wire.send(head, NO_BYTES, true);
      else if (isBodiless) {
        const isTold = !hasNoContent(head) && !this.hasUnknownLength;
        this.#wire.sendHead(this.#headOf(head, isTold ? body.length : undefined));
      } else this.#wire.send(head, body, this.#closing || this.#host.draining);
    } catch (error) {
      this.destroy(); // a reply that breaks off half-way cuts its connection
      throw error;
    } finally {
      if (!isOffered) owner?.release();
    }
    if (!isOffered) this.finish();
  }

  #headOf(head: Uint8Array, length: number | undefined): ReplyHead {
    return { head, length, saysClose: this.#closing || this.#host.draining, isLast: this.#closing };
  }

  #offer(): OfferedBody {
    this.#offered = new OfferedBody(this, this.#host, this.#wire);
    return this.#offered;
  }

  /** Begins a reply of lines, whose length is not known, and records it. */
  beginLines(head: Uint8Array): void {
    assert(!this.isAnswered, 'a request is answered once');
    this.isAnswered = true;
    this.#orCut(() => {
      this.#offer().begin(this.#headOf(withFields(head, this.#fieldsBeside(head)), undefined));
    });
    this.pipeline.record.replied(this, 200);
  }

  /**
   * Sends a line, with a line feed behind it. Resolves with true when the reader has taken it and has room for more, under the
   * deadline of a reply; with false when it has gone. The owner as `send` takes it.
   */
  sendLine(line: Uint8Array, owner: BodyOwner | undefined): Promise<boolean> {
    if (this.isAborted) {
      owner?.release();
      return Promise.resolve(false);
    }
    this.restartDeadline();
    return this.#offered!.sendLine(line, owner);
  }

  /** Ends a body in lines. */
  endLines(): void {
    if (this.isAborted) return;
    this.#orCut(() => this.#wire.end());
    this.finish();
  }

  /** A reply that breaks off half-way cuts its connection. */
  #orCut(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /** The reader has the whole time again for what it has not taken. */
  restartDeadline(): void {
    if (this.#queue !== null) this.#enter(this.#host.sending);
  }

  get isDraining(): boolean {
    return this.#host.draining;
  }

  /**
   * Hands over the body as it comes, in pieces that are valid during the call alone. What comes while the
   * reply is on its way cuts the connection. `take` never throws: it stands on the engine's stack.
   */
  onBody(take: (piece: Uint8Array, isLast: boolean) => void): void {
    this.#wire.onBody((piece, isLast) => {
      if (this.isAnswered) this.destroy();
      else take(piece, isLast);
    });
  }

  /** Cuts the connection, whatever is under way. */
  destroy(): void {
    if (this.#queue !== null) this.#wire.cut(); // which tells that it is gone
  }

  /** The engine has all of the reply. */
  finish(): void {
    this.#release();
  }

  #release(): void {
    this.#queue?.leave(this);
    this.#queue = null;
    this.#offered?.close();
  }

  #enter(queue: DeadlineQueue<Exchange>): void {
    this.#queue?.leave(this);
    this.#queue = queue;
    queue.join(this, this.#host.nowMs);
  }
}

const UNKNOWN = endpointRow('unknown');
