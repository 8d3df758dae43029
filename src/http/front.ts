import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import { Fair } from '../fair/fair.ts';
import { DeadlineQueue } from './deadline-queue.ts';
import type { Engine, EngineName, ListenOptions, StartEngine, Wire } from './engine.ts';
import { errorReply } from './error-reply.ts';
import { Exchange } from './exchange.ts';
import type { NativeRequest } from './request-head.ts';
import { newRequestId, type RandomBytes, SYSTEM_RANDOM } from './request-id.ts';
import { METHOD_LENGTH_LOGGED } from './request-record.ts';

/*
 * The HTTP front stands between the engine that parses HTTP (engine.ts) and the router. It refuses ambiguous heads,
 * collects bodies, enforces deadlines, and drains connections.
 */

/** Bounds that are defined in LIMITS, and the interval between two checks of the deadlines, which exceed by up to twice this. */
type FrontLimits = Readonly<
  Record<
    | 'requestHeadBytesMax'
    | 'requestBodyBytesMax'
    | 'connectionsMax'
    | 'answerDeadlineMs'
    | 'replyDeadlineMs'
    | 'sweepMs',
    number
  >
>;

export interface FrontOptions extends ListenOptions {
  /** The engine that parses HTTP, or its name. */
  readonly engine: EngineName | StartEngine;
  /**
   * Answers a request, with `refused` if the front refuses it: at once if `isLate`, else in a later turn of the loop, because a
   * client whose requests were answered while they are read could keep the loop for itself. If it throws, the front logs the error
   * and cuts the connection.
   */
  readonly handle: (exchange: Exchange, refused?: ApiError, isLate?: boolean) => void;
  readonly log: Log;
  readonly clock: Clock;
  readonly limits?: Partial<FrontLimits>;
  /** The scheduler and memory budget of the loop; by default a new one. */
  readonly fair?: Fair;
  /** System entropy for request ids. */
  readonly random?: RandomBytes;
}

/** A body that is too large is read up to this, so that its sender gets the 413 and not a reset connection. */
const BODY_DISCARDED_BYTES_MAX = 1024 * 1024;

/**
 * Bound on the pieces of a body. A chunk of one byte costs a call for every six bytes received, and a client that sent
 * such chunks without end would keep the loop for itself. The largest body still fits in chunks of four bytes, with
 * a reserve for chunks that packets split and for the empty last piece.
 */
const BODY_PIECES_MAX = 20_000;

/** How long draining waits for requests that idle connections have already sent, before it closes those connections. */
const LINGER_MS = 100;

const DRAIN_POLL_MS = 10;

/** The bound of uWebSockets.js, which is fixed. node:http uses the same. */
const HEAD_FIELDS_MAX = 100;

/** Minimum interval between two log lines about connections that were turned away. */
const TURNED_AWAY_INTERVAL_MS = 60_000;
/** Characters of a path in a log line. A client may send a path of 64 KiB. */
const PATH_LENGTH_LOGGED = 256;

/** Starts listening. Rejects when listening fails. */
export function startFront(options: FrontOptions): Promise<Front> {
  return new Front(options).listen();
}

export class Front {
  /** True once the front is going down: every reply then closes its connection. */
  draining = false;
  /** Monotonic time of the last sweep: a coarse clock that costs nothing to read. */
  nowMs: number;
  openConnections = 0;
  /** The port that the front listens on. */
  port = -1;
  /** Its memory budget counts the held bytes that have no owner: copies, and bodies that came without one. */
  readonly fair: Fair;
  /** System entropy for request ids, not for values. */
  readonly random: RandomBytes;
  /** Requests that nobody has answered yet, oldest first. */
  readonly waiting = new DeadlineQueue<Exchange>();
  /** Replies that their clients have not read yet, oldest first. */
  readonly sending = new DeadlineQueue<Exchange>();
  readonly #options: FrontOptions;
  readonly #limits: FrontLimits;
  #engine: Engine | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #drained: Promise<void> | undefined;
  /** Connections that were turned away since the last log line about them. */
  #turnedAway = 0;
  #logTurnedAwayAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.fair = options.fair ?? new Fair(options.clock);
    this.random = options.random ?? SYSTEM_RANDOM;
    this.#limits = { ...LIMITS, sweepMs: 250, ...options.limits };
    this.nowMs = options.clock.monotonicMs();
  }

  /** Bytes of memory that are held for replies that their clients have not read yet. */
  get heldBytes(): number {
    return this.sending.before().reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  }

  async listen(): Promise<Front> {
    const { engine } = this.#options;
    const start = typeof engine === 'string' ? await engineOf(engine) : engine;
    this.#engine = await start({
      ...this.#options,
      receive: (wire, request, method) => this.#receive(wire, request, method),
      connectionChanged: (connection, change) => this.#connectionChanged(connection, change),
      refusal: (code) => this.#refusalOf(code),
      headBytesMax: this.#limits.requestHeadBytesMax + LIMITS.requestHeadSpareBytes,
      headFieldsMax: HEAD_FIELDS_MAX,
    });
    this.port = this.#engine.port;
    this.#sweeper = setInterval(() => this.#sweep(), this.#limits.sweepMs).unref();
    return this;
  }

  #refusalOf(code: 'bad_request' | 'head_too_large'): { head: Uint8Array; body: Uint8Array } {
    const requestId = newRequestId(this.random, this.#options.clock.wallMs());
    return errorReply(new ApiError(code), { requestId, accept: '' });
  }

  #connectionChanged(connection: { close(): unknown }, change: number): void {
    this.openConnections += change;
    if (change < 0 || this.openConnections <= this.#limits.connectionsMax) return;
    this.#turnedAway++;
    connection.close();
  }

  /**
   * Stops accepting connections, and closes each connection with its next reply. Waits until all requests are answered
   * and all replies read, or `deadlineMs` has passed. Then closes the remaining connections: idle ones, and those
   * whose last reply was large, which the library cannot close by itself.
   */
  drain(deadlineMs: number): Promise<void> {
    this.#drained ??= this.#drain(deadlineMs);
    return this.#drained;
  }

  async #drain(deadlineMs: number): Promise<void> {
    this.draining = true;
    const { clock, log } = this.#options;
    const start = clock.monotonicMs();
    this.#engine?.stopListening();
    for (;;) {
      const passedMs = clock.monotonicMs() - start;
      const busy = this.waiting.size + this.sending.size;
      if (passedMs >= deadlineMs || this.openConnections === 0) break;
      if (busy === 0 && passedMs >= LINGER_MS) break;
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    }
    const unanswered = this.waiting.size;
    const untaken = this.sending.size;
    if (unanswered + untaken > 0) log.warn({ unanswered, untaken }, 'drain deadline passed: connections cut');
    clearInterval(this.#sweeper);
    await this.#engine?.close();
  }

  /**
   * Logs an error that a handler or listener of this project threw, and cuts the connection. Never throws, because most
   * callers are called by the library.
   */
  fault(exchange: Exchange, error: unknown): void {
    this.#options.log.error(
      { err: error, ...this.#namesOf(exchange) },
      'request failed: its connection is cut',
    );
    exchange.closeAfterReply();
    exchange.destroy();
  }

  #receive(wire: Wire, request: NativeRequest, method: string): void {
    const exchange = new Exchange(this, wire, method, request);
    const refused = exchange.head.refusal(this.#limits.requestHeadBytesMax);
    // bytes after the first kind must not be served (RFC 9112 §9.6); bytes after the second might belong to its body
    if (exchange.head.asksToClose || exchange.head.isChunked) exchange.closeAfterReply();
    if (refused === undefined && method === 'POST') this.#receiveBody(exchange);
    else {
      // the body is not read, so its bytes must not be taken for the next request
      if (exchange.head.hasBody) exchange.closeAfterReply();
      this.#handle(exchange, refused);
    }
  }

  /**
   * Collects the body. Allocates memory as bytes arrive, not by Content-Length, because the client is not authenticated
   * yet.
   */
  #receiveBody(exchange: Exchange): void {
    const max = this.#limits.requestBodyBytesMax;
    const { contentLength, isEncoded } = exchange.head;
    if (contentLength === 0 || contentLength > BODY_DISCARDED_BYTES_MAX) {
      // uWebSockets.js never ends an empty body when the head came in several packets
      this.#handle(exchange, contentLength === 0 ? undefined : new ApiError('payload_too_large'));
      return;
    }
    let body: Uint8Array<ArrayBuffer> = new Uint8Array(0);
    let size = 0;
    let pieces = 0;
    let isRefused = false;
    exchange.onBody((piece, isLast) => {
      const start = size;
      pieces++;
      size += piece.length;
      if (isRefused) {
        // the reply is sent in a later turn and closes the connection; a client that sends much more meanwhile is cut
        if (size > 2 * BODY_DISCARDED_BYTES_MAX || pieces > 2 * BODY_PIECES_MAX) exchange.destroy();
        return;
      }
      if (size <= max && pieces <= BODY_PIECES_MAX) {
        if (size > body.length) body = grown(body, isLast ? size : Math.min(max, 2 * size));
        body.set(piece, start);
        if (!isLast) return;
        exchange.complete(body.subarray(0, size));
        this.#handle(exchange, isEncoded ? new ApiError('unsupported_media_type', ENCODED) : undefined);
      } else if (isLast || size > BODY_DISCARDED_BYTES_MAX || pieces > BODY_PIECES_MAX) {
        isRefused = true;
        this.#handle(exchange, new ApiError('payload_too_large'));
      }
    });
  }

  #handle(exchange: Exchange, refused?: ApiError, isLate?: boolean): void {
    if (refused !== undefined) exchange.closeAfterReply();
    try {
      this.#options.handle(exchange, refused, isLate);
    } catch (error) {
      this.fault(exchange, error);
    }
  }

  /**
   * Returns the members that identify a request in the log. The query is not among them: it may hold the items that a client
   * shuffles.
   */
  #namesOf(exchange: Exchange): object {
    const method = exchange.method.slice(0, METHOD_LENGTH_LOGGED);
    const path = exchange.path.slice(0, PATH_LENGTH_LOGGED);
    return { ...exchange.logNames, method, path };
  }

  #sweep(): void {
    this.nowMs = this.#options.clock.monotonicMs();
    const { log } = this.#options;
    for (const late of this.waiting.before(this.nowMs - this.#limits.answerDeadlineMs)) {
      log.warn(this.#namesOf(late), 'request not answered in time');
      // an answer that waits to be durable is charged: a refusal would promise that it is not
      if (!late.isDrawn)
        this.#handle(late, new ApiError('overloaded', { message: UNANSWERED, retryAfterS: 1 }), true);
      // if `handle` did not answer, the request would stay in the queue forever
      if (!late.isAnswered) late.destroy();
    }
    for (const slow of this.sending.before(this.nowMs - this.#limits.replyDeadlineMs)) {
      log.warn(this.#namesOf(slow), 'reply not taken in time');
      slow.destroy();
    }
    this.#logTurnedAway();
  }

  #logTurnedAway(): void {
    if (this.#turnedAway === 0 || this.nowMs < this.#logTurnedAwayAtMs) return;
    const facts = { connections: this.openConnections, turned_away: this.#turnedAway };
    this.#options.log.warn(facts, 'connections at their limit: new ones are closed');
    this.#turnedAway = 0;
    this.#logTurnedAwayAtMs = this.nowMs + TURNED_AWAY_INTERVAL_MS;
  }
}

/**
 * The binary of uWebSockets.js reads this variable once, when it is loaded; there is no other way to set the limit. In
 * a worker thread `process.env` is a copy that the binary cannot see, so the main thread must load this file before it
 * starts front threads.
 *
 * The limit is a little above LIMITS.requestHeadBytesMax. The front refuses a head between the two with a JSON 431; above
 * the limit the library itself answers 431 with a line of HTML and closes. For every connection with an unfinished head
 * the library may hold this many bytes.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(LIMITS.requestHeadBytesMax + LIMITS.requestHeadSpareBytes);

/**
 * Loads the engine of this name. Engines are loaded on demand, so that a service on node:http does not need the binary of the
 * other.
 */
async function engineOf(name: EngineName): Promise<StartEngine> {
  if (name === 'node') return (await import('./node-engine.ts')).startNodeEngine;
  return (await import('./uws-engine.ts')).startUwsEngine;
}

/** Sent with the refusal of an encoded body: the service reads no content coding (RFC 9110 §15.5.16). */
const ENCODED = { field: ['Accept-Encoding', 'identity'] } as const;
const UNANSWERED = 'The service did not answer in time. Retry after the number of seconds in Retry-After.';

function grown(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}
