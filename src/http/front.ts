import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import { Fair } from '../fair/fair.ts';
import { DeadlineQueue } from './deadline-queue.ts';
import type { Engine, EngineName, StartEngine, Wire } from './engine.ts';
import { errorReply } from './error-reply.ts';
import { Exchange, type ExchangeHost } from './exchange.ts';
import type { NativeRequest } from './request-head.ts';
import { newRequestId, type RandomBytes, SYSTEM_RANDOM } from './request-id.ts';
import { METHOD_LENGTH_LOGGED } from './request-record.ts';

/*
 * The HTTP front: everything between the engine that parses HTTP (engine.ts) and the handler of requests. It
 * refuses ambiguous heads, collects bodies, keeps deadlines, and drains connections.
 */

interface FrontLimits {
  readonly requestHeadBytesMax: number;
  readonly requestBodyBytesMax: number;
  /** A connection beyond this is closed as soon as it is accepted. */
  readonly connectionsMax: number;
  /** A request that is not answered after this is answered 503 by the front. */
  readonly answerDeadlineMs: number;
  /** A reader that has not taken a reply after this is cut off. */
  readonly replyDeadlineMs: number;
  /** How often deadlines are looked at; one is kept to within twice this. */
  readonly sweepMs: number;
}

export interface FrontOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Named when the port cannot be listened on; `QRN_PORT` without it. */
  readonly portSetting?: string;
  /**
   * Other fronts (threads) listen on the same port, which is not 0, and the system spreads connections over
   * them. Without it the port is ours alone: a second service on it fails to start instead of taking half the
   * requests.
   */
  readonly sharePort?: boolean;
  /** PEM files of the certificate chain and its key: the front then speaks TLS (1.2 and 1.3) alone. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | null;
  /** What parses HTTP, by name or as it is; `uws` without it. */
  readonly engine?: EngineName | StartEngine;
  /**
   * Answers a request, failures included, in a later turn of the loop: a client whose requests were answered as they are read could
   * keep the loop for itself. What it throws all the same is logged and cuts the connection.
   */
  readonly handle: (exchange: Exchange) => void;
  /** Answers what the front itself refuses: past the deadline at once, else in a later turn too. The same holds for what it throws. */
  readonly fail: (exchange: Exchange, error: ApiError, isLate: boolean) => void;
  readonly log: Log;
  readonly clock: Clock;
  readonly limits?: Partial<FrontLimits>;
  /** Bounds the replies that are held for slow readers; one of its own without it. */
  readonly fair?: Fair;
  /** System entropy for request ids. */
  readonly random?: RandomBytes;
}

export interface Front {
  /** The port listened on. */
  readonly port: number;
  readonly openConnections: number;
  /** Requests that are not answered yet. */
  readonly waitingRequests: number;
  /** Replies that wait for their readers, and the bytes of bodies that are held for the latter. */
  readonly sendingReplies: number;
  readonly heldBytes: number;
  /**
   * Accepts no more connections, closes each connection with its next reply, waits until all requests are
   * answered and taken or `deadlineMs` has passed, then closes what is left: idle connections, and those
   * whose last reply was large, which the library cannot be told to close.
   */
  drain(deadlineMs: number): Promise<void>;
}

/**
 * A body that is too large is read up to this, so that its sender sees the 413 and not a reset connection.
 */
const BODY_DISCARDED_BYTES_MAX = 1024 * 1024;

/**
 * A body may come in so many pieces: chunks of one byte each cost a call for every six bytes of the wire, and
 * a client that sends them without end would keep the loop for itself. Chunks of four bytes still bring a
 * whole body, though packets cut some of them and the end comes by itself.
 */
const BODY_PIECES_MAX = 20_000;

/** How long draining serves requests that idle connections have on the wire before it closes those. */
const LINGER_MS = 100;

const DRAIN_POLL_MS = 10;

/** Fixed in uWebSockets.js; node:http is held to the same. */
const HEAD_FIELDS_MAX = 100;

/** A line about connections turned away comes at most so often. */
const TURNED_AWAY_INTERVAL_MS = 60_000;
/** Of a path in a log line; a client may send one of 64 KiB. */
const PATH_LENGTH_LOGGED = 256;

/** Starts listening. Rejects when the address cannot be listened on. */
export function startFront(options: FrontOptions): Promise<Front> {
  return new ListeningFront(options).listen();
}

class ListeningFront implements Front, ExchangeHost {
  draining = false;
  nowMs: number;
  openConnections = 0;
  heldBytes = 0;
  port = -1;
  readonly fair: Fair;
  readonly random: RandomBytes;
  readonly waiting: DeadlineQueue<Exchange>;
  readonly sending: DeadlineQueue<Exchange>;
  readonly #options: FrontOptions;
  readonly #limits: FrontLimits;
  #engine: Engine | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #drained: Promise<void> | undefined;
  /** Connections closed at once, since that was last told. */
  #turnedAway = 0;
  #tellTurnedAwayAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.fair = options.fair ?? new Fair(options.clock);
    this.random = options.random ?? SYSTEM_RANDOM;
    this.#limits = { ...LIMITS, sweepMs: 250, ...options.limits };
    this.waiting = new DeadlineQueue(this.#limits.answerDeadlineMs);
    this.sending = new DeadlineQueue(this.#limits.replyDeadlineMs);
    this.nowMs = options.clock.monotonicMs();
  }

  get waitingRequests(): number {
    return this.waiting.size;
  }

  get sendingReplies(): number {
    return this.sending.size;
  }

  async listen(): Promise<Front> {
    const {
      host,
      port,
      portSetting = 'QRN_PORT',
      sharePort = false,
      tls = null,
      engine = 'uws',
    } = this.#options;
    const start = typeof engine === 'string' ? await engineOf(engine) : engine;
    this.#engine = await start({
      host,
      port,
      portSetting,
      sharePort,
      tls,
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

  /** A listener or handler of ours failed. Never throws, for most callers stand on the library's stack. */
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
    // what follows such a request is not served (RFC 9112 §9.6), or might be a piece of it
    if (exchange.head.asksToClose || exchange.head.isChunked) exchange.closeAfterReply();
    if (refused !== undefined) this.#refuse(exchange, refused);
    else if (method === 'POST') this.#receiveBody(exchange);
    else {
      // nobody reads it, so it must not precede another request
      if (exchange.head.hasBody) exchange.closeAfterReply();
      this.#dispatch(exchange);
    }
  }

  /**
   * Collects the body. Memory for it is taken as it comes, not as it is announced: whoever asks has shown no
   * key yet.
   */
  #receiveBody(exchange: Exchange): void {
    const max = this.#limits.requestBodyBytesMax;
    if (exchange.head.contentLength === 0) {
      this.#dispatch(exchange); // the library never ends such a body when the head came in several packets
      return;
    }
    if (exchange.head.contentLength > BODY_DISCARDED_BYTES_MAX) {
      this.#refuse(exchange, new ApiError('payload_too_large'));
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
        // its reply waits for a later turn, and closes the connection
        if (size > 2 * BODY_DISCARDED_BYTES_MAX || pieces > 2 * BODY_PIECES_MAX) exchange.destroy();
        return;
      }
      if (size <= max && pieces <= BODY_PIECES_MAX) {
        if (size > body.length) body = grown(body, isLast ? size : Math.min(max, 2 * size));
        body.set(piece, start);
        if (!isLast) return;
        exchange.complete(body.subarray(0, size));
        if (exchange.head.isEncoded) this.#refuse(exchange, new ApiError('unsupported_media_type', ENCODED));
        else this.#dispatch(exchange);
      } else if (isLast || size > BODY_DISCARDED_BYTES_MAX || pieces > BODY_PIECES_MAX) {
        isRefused = true;
        this.#refuse(exchange, new ApiError('payload_too_large'));
      }
    });
  }

  #dispatch(exchange: Exchange): void {
    try {
      this.#options.handle(exchange);
    } catch (error) {
      this.fault(exchange, error);
    }
  }

  #refuse(exchange: Exchange, error: ApiError, isLate = false): void {
    exchange.closeAfterReply();
    try {
      this.#options.fail(exchange, error, isLate);
    } catch (fault) {
      this.fault(exchange, fault);
    }
  }

  /** What names a request in the log. Never the query: it may hold what a client shuffles. */
  #namesOf(exchange: Exchange): object {
    const method = exchange.method.slice(0, METHOD_LENGTH_LOGGED);
    const path = exchange.path.slice(0, PATH_LENGTH_LOGGED);
    return { ...exchange.logNames, method, path };
  }

  #sweep(): void {
    this.nowMs = this.#options.clock.monotonicMs();
    const { log } = this.#options;
    for (let late = this.waiting.overdue(this.nowMs); late; late = this.waiting.overdue(this.nowMs)) {
      log.warn(this.#namesOf(late), 'request not answered in time');
      this.#refuse(late, new ApiError('overloaded', { message: UNANSWERED, retryAfterS: 1 }), true);
      // a `fail` that does not answer at once, and a reply that failed half-way, must not keep it here forever
      if (this.waiting.overdue(this.nowMs) === late) late.destroy();
    }
    for (let slow = this.sending.overdue(this.nowMs); slow; slow = this.sending.overdue(this.nowMs)) {
      log.warn(this.#namesOf(slow), 'reply not taken in time');
      slow.destroy();
    }
    this.#tellTurnedAway();
  }

  #tellTurnedAway(): void {
    if (this.#turnedAway === 0 || this.nowMs < this.#tellTurnedAwayAtMs) return;
    const facts = { connections: this.openConnections, turned_away: this.#turnedAway };
    this.#options.log.warn(facts, 'connections at their limit: new ones are closed');
    this.#turnedAway = 0;
    this.#tellTurnedAwayAtMs = this.nowMs + TURNED_AWAY_INTERVAL_MS;
  }
}

/**
 * The binary of uWebSockets.js reads this variable once, when it is loaded; the library offers no other way
 * to set it. In a worker thread `process.env` is a copy that the binary cannot see, so the main thread must
 * load this file before it starts front threads.
 *
 * A little more than LIMITS.requestHeadBytesMax: the library holds so much for every connection with an
 * unfinished head. The front refuses a head between the two with a JSON 431; beyond, the library itself
 * answers 431 with a line of HTML and closes.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(LIMITS.requestHeadBytesMax + LIMITS.requestHeadSpareBytes);

/**
 * Loads an engine when it is asked for, so that a service on node:http does without the binary of the other.
 */
async function engineOf(name: EngineName): Promise<StartEngine> {
  if (name === 'node') return (await import('./node-engine.ts')).startNodeEngine;
  return (await import('./uws-engine.ts')).startUwsEngine;
}

/** No coding of a body is read (RFC 9110 §15.5.16). */
const ENCODED = { field: ['Accept-Encoding', 'identity'] } as const;
const UNANSWERED = 'The service did not answer in time; retry after Retry-After.';

function grown(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}
