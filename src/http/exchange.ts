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

/** The router, as the exchanges of one front see it. */
export interface Pipeline {
  readonly record: RequestRecord;
  readonly clock: Clock;
  readonly cors: CorsPolicy;
  /** True if replies carry the RateLimit fields of the IETF draft beside X-RateLimit. */
  readonly rateLimitFields: boolean;
  readonly names: ServiceNames;
  /** Returns the error that the client gets for anything that was thrown. Logs faults. */
  readonly explain: (exchange: Exchange, error: unknown) => ApiError;
  /** Answers with an error, in the form that the request accepts. */
  readonly fail: (exchange: Exchange, error: unknown) => void;
  /** Continues an exchange in its owner's turn. Never throws. */
  readonly take: (exchange: Exchange, step: Step, nowMs: number) => void;
}

/** The next step of a request: a route that serves it, or a function. */
export type Step = Route | (() => void);

/** Charged to an account for a refusal beside its measured time, because a refusal costs no credits. */
const REFUSAL_US = 250;

/** The owner of the memory of a body. */
export interface BodyOwner {
  /** Called once when nobody reads the body any more: it was sent or copied, or the client has gone. */
  release(): void;
}

/** The front, as its exchanges see it. */
export interface ExchangeHost {
  /** True once the front is going down: every reply then closes its connection. */
  readonly draining: boolean;
  /** Monotonic time of the last sweep: a coarse clock that costs nothing to read. */
  readonly nowMs: number;
  /** Requests that nobody has answered yet. */
  readonly waiting: DeadlineQueue<Exchange>;
  /** Replies that their clients have not read yet. */
  readonly sending: DeadlineQueue<Exchange>;
  /** Bytes of memory that are held for those replies. */
  heldBytes: number;
  /** Its memory budget counts the held bytes that have no owner: copies, and bodies that came without one. */
  readonly fair: Fair;
  /** System entropy for request ids, not for values. */
  readonly random: RandomBytes;
  /** Logs an error that a listener threw, and cuts the connection. */
  fault(exchange: Exchange, error: unknown): void;
}

/**
 * A body of at least this size is offered to the socket piece by piece. The part that the socket does not take stays in our
 * memory, under a deadline. The library copies smaller bodies into its send buffer at once. 20 stalled readers of 64 MB took
 * 1340 MB of memory with `end` and 1 MB with `tryEnd` (test/http/front-replies.test.ts holds the bound).
 */
const OFFERED_FROM_BYTES = 16 * 1024;

const NO_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/**
 * One request and its reply, with everything that the pipeline knows about them so far. `reply` and `send` may be called at any
 * time after the engine has finished reading the bytes of the request (see Wire). Only the first call has an effect.
 */
export class Exchange implements Ask, Listener, Requester, Timed, Piece {
  readonly head: RequestHead;
  // the members that a reply reads come first and together: by then they have left the processor's caches
  /** Set by authentication. */
  account: Account | undefined = undefined;
  /** The account's rate limit after this request, set by admission. Every reply reports it. */
  rate: RateFacts | undefined = undefined;
  /** Code of the error that the reply reports. */
  error: ErrorCode | undefined = undefined;
  /** Set when a data request is about to be answered. */
  mode: EntropyMode | undefined = undefined;
  /** Row of the endpoint in the counters, set by routing. */
  endpoint = UNKNOWN;
  /** True when the client has disconnected: no reply can reach it. */
  isAborted = false;
  /** True when `send` was called, by the handler or, past the deadline, by the front. */
  isAnswered = false;
  #closing = false;
  /** 16 bytes: UUIDv7 layout. */
  requestId: RequestId;
  #turn: Turn;
  #step: Step = undefined!;
  #waitingBytes: Hold | undefined = undefined;
  costUs = 0;
  isLate = false;
  /** Set by routing. */
  pipeline: Pipeline = undefined!;
  readonly #host: ExchangeHost;
  readonly #wire: Wire;
  /** The queue that it is a member of; null once the reply is finished or the client is gone. */
  #queue: DeadlineQueue<Exchange> | null = null;
  deadlineMs = 0;
  previous: Timed | null = null;
  next: Timed | null = null;
  /** The body that is being sent, if it is large or in lines. */
  #offered: OfferedBody | undefined = undefined;
  #ownerWithoutKey: Owner | undefined = undefined;
  /** Scopes of the API key, set by authentication. */
  scopes: readonly string[] = [];
  /** The format of the answer to a data request, set once its parameters are valid. */
  offer: AnswerOffer = AS_JSON;
  ignored = '';
  /** The X-Request-ID of the first answer, if this request is a retry that gets it again. */
  replayOf: string | undefined = undefined;
  /** The whole body of a POST; empty for every other method. */
  body: Uint8Array = NO_BYTES;
  /** True for a HEAD request whose reply must state no length, because only drawing the answer would tell it. */
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

  /** Runs `step` in the owner's turn. Holds `waitingBytes` until then. */
  runInTurn(step: Step, costUs: number, waitingBytes: Hold | undefined): void {
    this.#step = step;
    this.costUs = costUs;
    this.#waitingBytes = waitingBytes;
    this.fair.run(this.owner, this);
  }

  /** Called by Fair in the owner's turn. */
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

  /** Notes the account's rate limit for the reply. Throws `rate_limited` when the request exceeds it. */
  requireRate({ meter }: Account, decision: Readonly<RateDecision>): void {
    this.rate = rateFacts(decision, meter.limit, this.atMs, this.pipeline.rateLimitFields);
    if (!decision.allowed) throw new ApiError('rate_limited', { retryAfterS: retryAfterS(decision) });
  }

  /** Counts the request against the account's rate, for requests that draw nothing. */
  admit(account: Account): void {
    this.requireRate(account, account.meter.admit(this.pipeline.clock.monotonicMs()));
  }

  /** Counts the request against the account's rate, and reserves one request of the month of `atMs`. */
  enter(account: Account, atMs = this.atMs): Reservation {
    const reservation = account.meter.enter(this.pipeline.clock.monotonicMs(), periodOf(atMs));
    this.requireRate(account, account.meter.decision);
    return reservation;
  }

  /** Does some of this request's work, and charges its time to the owner. */
  spend<T>(work: () => T): T {
    return this.fair.spend(this.owner, work);
  }

  /** Called when the whole body has arrived. Restarts the request's time: the time that the client took does not count. */
  complete(body: Uint8Array): void {
    this.body = body;
    this.#turn = this.fair.now();
    this.renameAt(this.atMs);
  }

  /** Unix time at which the whole request had arrived. It decides the month, and is the timestamp of the answer. */
  get atMs(): number {
    return this.#turn.wallMs;
  }

  get startedMonotonicMs(): number {
    return this.#turn.monotonicMs;
  }

  /** Gives the request a new id, which begins with this time: each block of a stream is a request of its own. */
  renameAt(wallMs: number): void {
    this.requestId = newRequestId(this.#host.random, wallMs);
  }

  /** The request id as `metadata.request_id` and error bodies print it. */
  get requestIdText(): string {
    return requestIdText(this.requestId);
  }

  /** The request id as `X-Request-ID` and `meta.request_id` print it. */
  get requestUuid(): string {
    return uuidText(this.requestId);
  }

  /** The trace that the client named, if its `traceparent` is valid. */
  get trace(): Trace | undefined {
    const { traceparent } = this.head;
    return traceparent === '' ? undefined : parseTraceparent(traceparent);
  }

  /** The members that identify the request in a log line. */
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

  /** Returns an Ask for a JSON answer from which the caller makes the reply. */
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
   * Answers the request and records it. `head`, `body` and `owner` are those of `send`. `atMonotonicMs` is the time if the
   * caller knows it, which saves reading the clock.
   */
  reply(head: Uint8Array, body: Uint8Array, atMonotonicMs?: number, owner?: BodyOwner): void {
    const {
      pipeline: { record },
      fair,
    } = this;
    if (this.isAnswered || this.isAborted) {
      owner?.release();
      if (!this.isAnswered) record.aborted(); // otherwise the front has answered, because the deadline had passed
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

  /** Returns the fields that depend on the client: CORS, unless the resource is open to all origins, and the trace. */
  #fieldsBeside(head: Uint8Array): Field[] {
    const { trace } = this;
    const open = hasField(head, 'Access-Control-Allow-Origin');
    const fields = open ? [] : [...this.pipeline.cors.fields(this.head.origin)];
    if (trace !== undefined) fields.push(['traceparent', traceparentOf(trace, this.requestId)]);
    return fields;
  }

  /** True when the client connects from a loopback address and is not a proxy (it sends no field that proxies add). */
  get isFromThisMachine(): boolean {
    if (this.isAborted || this.head.isForwarded) return false;
    return this.#wire.isFromLoopback;
  }

  /** True when the client has disconnected, as far as the engine knows now. */
  get isGone(): boolean {
    if (this.#queue !== null && this.#wire.isGone) this.destroy();
    return this.isAborted;
  }

  /** The owner that the request's work and memory are charged to. */
  get owner(): Owner {
    if (this.account !== undefined) return this.account.record.number;
    return (this.#ownerWithoutKey ??= this.isFromThisMachine ? THIS_MACHINE : NO_KEY);
  }

  /** Makes the reply close the connection. Bytes that follow this request are never served. */
  closeAfterReply(): void {
    this.#closing = true;
  }

  /**
   * Sends the reply. `head` is made by headOf or a template, and is copied before this returns; `body` is the whole body. A HEAD
   * request gets the same head, with the length of the body. Does nothing after the first call, or when the client has gone. The
   * body must not change until `owner` is released, which happens exactly once; a body without an owner must never change.
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
      // after a reply without a body the library closes only if the client asked for it
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
   * Sends a line and a line feed. Resolves with true when the client has read it and the socket has room for more; with false when
   * the client has gone. The deadline of a reply applies to each line. `owner` is that of `send`.
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

  /** Writes a part of a reply. Cuts the connection if that throws, because the reply is then incomplete. */
  #orCut(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /** Restarts the deadline for the part of the reply that the client has not read. */
  restartDeadline(): void {
    if (this.#queue !== null) this.#enter(this.#host.sending);
  }

  get isDraining(): boolean {
    return this.#host.draining;
  }

  /**
   * Sets the listener for the body. A piece is valid only during the call. A piece that arrives after the reply has begun
   * cuts the connection. `take` must not throw, because the engine calls it.
   */
  onBody(take: (piece: Uint8Array, isLast: boolean) => void): void {
    this.#wire.onBody((piece, isLast) => {
      if (this.isAnswered) this.destroy();
      else take(piece, isLast);
    });
  }

  /** Cuts the connection, whatever is under way. */
  destroy(): void {
    if (this.#queue !== null) this.#wire.cut(); // this calls the `onGone` listener
  }

  /** Called when the engine has taken the whole reply. */
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
