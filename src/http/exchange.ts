import type { Account } from '../account/directory.ts';
import { retryAfterS } from '../account/meter.ts';
import type { Reservation } from '../account/reservation.ts';
import type { Answer, Ask, Keeping, Listener, Requester } from '../answer/answer.ts';
import { type FirstAnswer, Idempotency } from '../answer/idempotency.ts';
import { assert } from '../core/assert.ts';
import { periodOf } from '../core/clock.ts';
import { ApiError, type ErrorCode } from '../core/errors.ts';
import { uuidText } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import type { EntropyMode, Scope } from '../core/vocabulary.ts';
import { type Hold, NO_KEY, type Owner, THIS_MACHINE } from '../fair/budget.ts';
import type { Fair, Piece, Turn } from '../fair/fair.ts';
import { type AnswerOffer, AS_JSON, fieldsHead, replyTemplateOf } from './answer-reply.ts';
import type { DeadlineQueue, Linked, Timed } from './deadline-queue.ts';
import type { Wire } from './engine.ts';
import { clientError, errorReply } from './error-reply.ts';
import type { Front } from './front.ts';
import { type Field, hasField, hasNoContent, statusOf, withFields } from './head.ts';
import { corsFields, type RateFacts, rateFacts, rateFields } from './reply-fields.ts';
import { type NativeRequest, RequestHead } from './request-head.ts';
import { newRequestId, type RequestId, requestIdText, traceIdOf, traceparentOf } from './request-id.ts';
import type { Route } from './route-table.ts';
import type { RouterOptions } from './router.ts';

/** A step of a request, which runs in its owner's turn. `nowMs` is the monotonic time at the start of the turn. */
export type Step = (exchange: Exchange, nowMs: number) => void;

/** Processor time for reading a request and sending its reply, which is not measured. */
export const REQUEST_US = 25;
/**
 * Charged for a request without an account. It is higher, so that beside requests of accounts about one a millisecond is
 * served.
 */
const UNPAID_US = 250;
/** Charged to an account for a refusal beside its measured time, because a refusal costs no credits. */
const REFUSAL_US = 250;
/** Memory that a request without an account holds while it waits for its turn, about. */
const WAITING_BYTES = 4 * 1_024;
/** Up to this size a waiting request is not counted: the rate bounds the requests of an account, and most have no body. */
const WAITING_BYTES_UNCOUNTED = 1_024;

/** The owner of the memory of a body. */
export interface BodyOwner {
  /** Called once when nobody reads the body any more: it was sent or copied, or the client has gone. */
  release(): void;
}

/**
 * A body of at least this size is offered to the socket piece by piece. The part that the socket does not take stays in our
 * memory, under a deadline. The library copies smaller bodies into its send buffer at once. 20 stalled readers of 64 MB took
 * 1340 MB of memory with `end` and 1 MB with `tryEnd` (test/http/front-replies.test.ts holds the bound).
 */
const OFFERED_FROM_BYTES = 16 * 1024;
/**
 * An unread rest of at least this size is held as a view, a smaller one as a copy. So a larger body must not change once it
 * is sent.
 */
export const HELD_BODY_FROM_BYTES = 256 * 1024;

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
  /** Set by routing: the route that serves it, or that of its path when none does. */
  route: Route | undefined = undefined;
  /** True when the client has disconnected: no reply can reach it. */
  isAborted = false;
  /** True when the reply was passed to `send`, by the handler or, past the deadline, by the front, or its last line was sent. */
  isAnswered = false;
  /** True when an answer was drawn for it. */
  isDrawn = false;
  #closing = false;
  /** 16 bytes: UUIDv7 layout. */
  requestId: RequestId;
  #turn: Turn;
  #step: Step = undefined!;
  /** What it holds of the memory budget: for a request that waits for its turn, or for a reply without an owner that is read. */
  #memory: Hold | undefined = undefined;
  costUs = 0;
  isLate = false;
  /** Set by routing. */
  service: RouterOptions = undefined!;
  readonly #front: Front;
  readonly #wire: Wire;
  /** The queue that it is a member of; null once the reply is finished or the client is gone. */
  #queue: DeadlineQueue<Exchange> | null = null;
  queuedAtMs = 0;
  previous: Linked = this;
  next: Linked = this;
  /** The owner of the body or the line that is being sent, until it is released. */
  #bodyOwner: BodyOwner | undefined = undefined;
  /** The bytes of a large body or of a line that the client has not read yet. */
  #rest: Uint8Array = NO_BYTES;
  /** Bytes of memory that the rest keeps alive. A view keeps the whole body alive. */
  heldBytes = 0;
  /** True when a reply of lines has begun. */
  isInLines = false;
  /** Called with true when the client has read the line, with false when it has gone. */
  #lineTaken: ((isTaken: boolean) => void) | undefined = undefined;
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
  #keeping: Keeping | undefined = undefined;
  // members of the head that many read
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly accept: string;
  readonly contentType: string;
  readonly idempotencyKey: string | undefined;

  constructor(front: Front, wire: Wire, method: string, request: NativeRequest) {
    const head = new RequestHead(method, request);
    this.head = head;
    this.method = method;
    this.path = head.path;
    this.query = head.query;
    this.accept = head.accept;
    this.contentType = head.contentType;
    this.idempotencyKey = head.idempotencyKey;
    this.#front = front;
    this.#wire = wire;
    this.#turn = front.fair.now();
    this.requestId = newRequestId(front.random, this.atMs);
    wire.onGone(() => {
      this.isAborted = true;
      this.#release();
    });
    this.#enter(front.waiting);
  }

  get fair(): Fair {
    return this.#front.fair;
  }

  /** Runs the step in the owner's turn, unless the client is gone by then. An error that the step throws is answered. */
  inTurn(step: Step, costUs = this.owner < 0 ? UNPAID_US : REQUEST_US): void {
    const { owner, body, fair } = this;
    const bytes = body.length + (owner < 0 ? WAITING_BYTES : 0);
    if (bytes > WAITING_BYTES_UNCOUNTED) {
      if (!fair.memory.fits(owner, bytes)) {
        this.destroy(); // the client can repeat the request: nothing was charged
        return;
      }
      this.#hold(bytes);
    }
    this.#step = step;
    this.costUs = costUs;
    fair.run(owner, this);
  }

  /** Called by Fair in the owner's turn. When the client is gone or the front has refused the request, nothing must be drawn. */
  run(nowMs: number): void {
    this.#hold(0);
    if (this.isGone) this.service.record.aborted();
    if (this.isAborted || this.isAnswered) return;
    this.isLate = nowMs - this.startedMonotonicMs > LIMITS.largeQueueMs;
    try {
      this.#step(this, nowMs);
    } catch (error) {
      this.refused(error);
    }
  }

  /** Counts these bytes of memory, and no others, against the budget. */
  #hold(bytes: number): void {
    this.#memory?.resize(0);
    this.#memory = bytes === 0 ? undefined : this.fair.memory.add(this.owner, bytes);
  }

  requireScope(scope: Scope | null): void {
    if (scope === null || this.scopes.includes(scope)) return;
    throw new ApiError('auth_scope', {
      message: `The API key does not have the scope ${scope}.`,
      details: { scope },
    });
  }

  /** Counts the request against the account's rate, for requests that draw nothing. Throws `rate_limited`. */
  admit(account: Account, nowMs = this.service.clock.monotonicMs()): void {
    account.meter.admit(nowMs);
    this.#requireRate(account);
  }

  /** Counts the request against the account's rate, and reserves one request of its month. Throws `rate_limited`. */
  enter(account: Account, nowMs = this.service.clock.monotonicMs()): Reservation {
    const reservation = account.meter.enter(nowMs, periodOf(this.atMs));
    this.#requireRate(account);
    return reservation;
  }

  /** Notes the account's rate limit for the reply. */
  #requireRate({ meter: { decision, limit } }: Account): void {
    this.rate = rateFacts(decision, limit, this.atMs, this.service.rateLimitFields);
    if (!decision.allowed) throw new ApiError('rate_limited', { retryAfterS: retryAfterS(decision) });
  }

  /** Does some of this request's work, and charges its time to the owner. */
  spend<T>(work: () => T): T {
    return this.fair.spend(this.owner, work);
  }

  /** Called when the whole body has arrived. Restarts the request's time: the time that the client took does not count. */
  complete(body: Uint8Array): void {
    this.body = body;
    this.restart();
  }

  /** Gives the request a new time, and an id that begins with it: each block of a stream is a request of its own. */
  restart(): void {
    this.#turn = this.fair.now();
    this.requestId = newRequestId(this.#front.random, this.atMs);
  }

  /** Unix time at which the whole request had arrived. It decides the month, and is the timestamp of the answer. */
  get atMs(): number {
    return this.#turn.wallMs;
  }

  get startedMonotonicMs(): number {
    return this.#turn.monotonicMs;
  }

  /** The request id as `metadata.request_id` and error bodies print it. */
  get requestIdText(): string {
    return requestIdText(this.requestId);
  }

  /** The request id as `X-Request-ID` and `meta.request_id` print it. */
  get requestUuid(): string {
    return uuidText(this.requestId);
  }

  /** The members that identify the request in a log line: both spellings of its id, because a client may quote either. */
  get logNames(): object {
    const names = { request_id: this.requestIdText, x_request_id: this.requestUuid };
    const traceId = traceIdOf(this.head.traceparent);
    return traceId === undefined ? names : { ...names, trace_id: traceId };
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
    const { record, names } = this.service;
    const { rate } = this;
    record.answered(answer);
    const { fields, body } = answer;
    if (fields !== undefined && body !== undefined) {
      this.reply(fieldsHead(fields, rate), body, atMonotonicMs, answer);
      return;
    }
    const template = replyTemplateOf(answer.from, rate!, names);
    try {
      const printed = answer.print(template, rate!);
      this.reply(template.head, printed, atMonotonicMs, answer);
    } finally {
      template.forget();
    }
  }

  replayed(first: FirstAnswer): void {
    this.replayOf = first.fields.find(([name]) => name === 'X-Request-ID')?.[1];
    this.reply(fieldsHead(first.fields, this.rate), first.body);
  }

  /** Answers with the error, in the form that the request accepts. */
  refused(thrown: unknown): void {
    const error = this.explain(thrown);
    this.error = error.code;
    const { head, body } = errorReply(error, this, rateFields(this.rate));
    this.reply(head, body);
  }

  /** Returns the error that the client gets for anything that was thrown. Logs faults. */
  explain(thrown: unknown): ApiError {
    if (!(thrown instanceof ApiError)) {
      const fault = thrown instanceof Error ? thrown : new Error(String(thrown));
      this.service.log.error({ ...this.logNames, fault: fault.stack }, 'fault');
    }
    return clientError(thrown);
  }

  /**
   * Answers the request and records it. `head`, `body` and `owner` are those of `send`. `atMonotonicMs` is the time if the
   * caller knows it, which saves reading the clock.
   */
  reply(head: Uint8Array<ArrayBuffer>, body: Uint8Array, atMonotonicMs?: number, owner?: BodyOwner): void {
    const { record } = this.service;
    const { fair } = this;
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
    const isOpen = hasField(head, 'Access-Control-Allow-Origin');
    const fields = isOpen ? [] : corsFields(this.service.corsOrigins, this.head.origin);
    const traceparent = traceparentOf(this.head.traceparent, this.requestId);
    if (traceparent !== undefined) fields.push(['traceparent', traceparent]);
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
    this.#bodyOwner = owner;
    try {
      if (this.method === 'HEAD' || hasNoContent(head)) this.#sendHead(head, body.length);
      else if (body.length >= OFFERED_FROM_BYTES) {
        this.#begin(head, body.length);
        this.#offer(body);
        return;
      } else this.#wire.send(head, body, this.#closing || this.#front.draining);
    } catch (error) {
      this.destroy(); // a reply that breaks off half-way cuts its connection
      throw error;
    }
    this.#release();
  }

  #sendHead(head: Uint8Array, length: number): void {
    // after a reply without a body the library closes only if the client asked for it
    if (this.method === 'HEAD' && this.#closing && !this.head.asksToClose)
      this.#wire.send(head, NO_BYTES, true);
    else {
      // only drawing would tell the length of an answer
      const isUndrawn = this.route?.data !== undefined && this.error === undefined;
      this.#begin(head, hasNoContent(head) || isUndrawn ? undefined : length);
      this.#wire.end();
    }
  }

  #begin(head: Uint8Array, length?: number): void {
    const saysClose = this.#closing || this.#front.draining;
    this.#wire.begin({ head, length, saysClose, isLast: this.#closing }, () => {
      try {
        if (this.#rest.length > 0) this.spend(() => this.#offer(this.#rest));
        else this.#tellTaken(true);
      } catch (error) {
        this.#front.fault(this, error);
      }
    });
  }

  /** Begins a reply of lines, whose length is not known, and records it. */
  beginLines(head: Uint8Array<ArrayBuffer>): void {
    assert(!this.isAnswered && !this.isInLines, 'a request is answered once');
    this.isInLines = true;
    this.#orCut(() => this.#begin(withFields(head, this.#fieldsBeside(head))));
    this.service.record.replied(this, 200);
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
    this.#bodyOwner = owner;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#lineTaken = resolve;
    try {
      this.#offer(line);
    } catch (error) {
      this.#lineTaken = undefined; // reject, and do not resolve as if the client had gone
      this.destroy();
      return Promise.reject(error);
    }
    return promise;
  }

  /** Ends a body in lines. */
  endLines(): void {
    if (this.isAborted) return;
    this.isAnswered = true;
    this.#orCut(() => this.#wire.end());
    this.#release();
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

  #tellTaken(isTaken: boolean): void {
    const resolveLine = this.#lineTaken;
    this.#lineTaken = undefined;
    resolveLine?.(isTaken);
  }

  /**
   * Offers the rest of a body or of a line to the socket. The library cannot close the connection after an offered body. So
   * it reads nothing more from a connection that is to close, which serves no further request, and cuts it after 10 s of
   * idleness.
   */
  #offer(rest: Uint8Array): void {
    // a large body counts as changing, so that the engine copies its pieces: a view of a piece would keep the whole body alive
    const isConstant = this.#bodyOwner === undefined && rest.buffer.byteLength < HELD_BODY_FROM_BYTES;
    const taken = this.#wire.offer(rest, isConstant);
    if (taken < rest.length) this.#keep(rest, taken);
    else if (!this.isInLines) this.#release();
    else {
      this.#letGo();
      if (!this.#wire.isFull) this.#tellTaken(true);
    }
  }

  /**
   * Keeps the bytes that the client has not read. Copies a small rest, because a view would keep the whole body in memory while the
   * client does not read. Cuts a document or a replay whose account already holds its share of memory: the client can ask again
   * at no charge. Never cuts an answer for this, because answers were admitted before they were paid for (answer/answers.ts).
   */
  #keep(unsent: Uint8Array, taken: number): void {
    const rest = unsent.subarray(taken);
    const isCopied = rest.length < HELD_BODY_FROM_BYTES;
    const isKept = this.#rest.length > 0;
    if (isKept && isCopied === this.#rest.length < HELD_BODY_FROM_BYTES) {
      this.#rest = rest;
      return;
    }
    if (!isKept) {
      if (this.#bodyOwner === undefined && !this.fair.memory.fits(this.owner, rest.length)) {
        this.destroy();
        return;
      }
      this.restartDeadline();
    }
    this.#rest = isCopied ? rest.slice() : rest;
    if (isCopied) this.#releaseBody();
    this.heldBytes = isCopied ? rest.length : unsent.length;
    this.#hold(this.#bodyOwner === undefined ? this.heldBytes : 0);
  }

  /** Gives up the rest and releases the body. */
  #letGo(): void {
    if (this.heldBytes > 0) {
      this.heldBytes = 0;
      this.#hold(0);
    }
    this.#rest = NO_BYTES;
    this.#releaseBody();
  }

  #releaseBody(): void {
    const owner = this.#bodyOwner;
    this.#bodyOwner = undefined;
    owner?.release();
  }

  /** Restarts the deadline for the part of the reply that the client has not read. */
  restartDeadline(): void {
    if (this.#queue !== null) this.#enter(this.#front.sending);
  }

  get isDraining(): boolean {
    return this.#front.draining;
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

  /** Releases everything. Called when the engine has taken the whole reply or the client has gone. */
  #release(): void {
    this.#queue?.leave(this);
    this.#queue = null;
    this.#letGo();
    this.#tellTaken(false);
  }

  #enter(queue: DeadlineQueue<Exchange>): void {
    this.#queue?.leave(this);
    this.#queue = queue;
    queue.join(this, this.#front.nowMs);
  }
}
