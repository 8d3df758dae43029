import './front-environment.ts'; // first: the binary reads its environment when it is loaded
import * as uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import { DeadlineQueue } from './deadline-queue.ts';
import { clientError, errorReply } from './error-reply.ts';
import { Exchange, type ExchangeHost, type NativeResponse } from './exchange.ts';
import type { NativeRequest } from './request-head.ts';
import { newRequestId, type RequestId, requestIdText } from './request-id.ts';
import { METHOD_LENGTH_LOGGED } from './request-record.ts';
import { parseTraceparent } from './trace.ts';

/*
 * The HTTP front: the sole importer of uWebSockets.js, and where its edges are rounded off.
 *
 * Left to the library, with what it does (test/http/front-wire.test.ts pins what reaches a client): HTTP/1.0,
 * absolute-form, `*` and CONNECT targets 505; a head that it cannot parse waits for the rest and is cut after
 * 10 s; more than 100 fields or more than twice our head limit 431; Expect: 100-continue; a request that
 * follows one which is not answered yet closes the connection, so pipelining is not served; a request line that
 * comes in two packets, cut behind its target, 505 (uNetworking/uWebSockets issue 1776, mended upstream in 2024:
 * targets longer than a packet can meet it, a proxy on the same machine sends heads whole); idle connections
 * are closed after 10 s. It polls a listening socket that has no file descriptor to accept with at 100 % of a
 * core, hence `connectionsMax`. Not seen by any handler, hence a reason to keep a strict proxy in front: a field
 * with an empty name hides the fields after it; control bytes and bytes above ASCII around a value count as
 * blanks; the line ends of chunks are not checked, which is why a chunked request is the last of its connection.
 * A client that closes its half of the connection counts as gone, and its answer is lost.
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
  /**
   * Other fronts (threads) listen on the same port, which is not 0, and the system spreads connections over
   * them. Without it the port is ours alone: a second service on it fails to start instead of taking half the
   * requests.
   */
  readonly sharePort?: boolean;
  /** PEM files of the certificate chain and its key: the front then speaks TLS (1.2 and 1.3) alone. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | null;
  /**
   * Answers a request with `exchange.send`, now or later. What it throws or rejects with is answered: an
   * ApiError as it is, anything else logged and as a bare internal_error.
   */
  readonly handle: (exchange: Exchange) => void | Promise<void>;
  /**
   * Answers, at once, what the front itself refuses and what `handle` threw. Without it: error-reply.ts and a
   * new request id.
   */
  readonly fail?: (exchange: Exchange, error: ApiError) => void;
  readonly log: Log;
  readonly clock: Clock;
  readonly limits?: Partial<FrontLimits>;
}

export interface Front {
  /** The port listened on. */
  readonly port: number;
  readonly openConnections: number;
  /** Requests that are not answered yet. */
  readonly waitingRequests: number;
  /** Replies that their readers have not taken yet, and the bytes of bodies that are held for them. */
  readonly sendingReplies: number;
  readonly heldBytes: number;
  /**
   * Accepts no more connections, closes each connection with its next reply, waits until all requests are
   * answered and taken or `deadlineMs` has passed, then closes what is left: idle connections, and those whose
   * last reply was large, which the library cannot be told to close.
   */
  drain(deadlineMs: number): Promise<void>;
}

/**
 * LIBUS_LISTEN_EXCLUSIVE_PORT of the library's C layer; its default lets any process of the user share the
 * port.
 */
const LISTEN_EXCLUSIVE = 1;
const LISTEN_SHARED = 0;

/**
 * A body that is too large is read up to this, so that its sender sees the 413 and not a reset connection.
 */
const BODY_DISCARDED_BYTES_MAX = 1024 * 1024;

/**
 * A body may come in so many pieces: chunks of one byte each cost a call for every six bytes of the wire, and a client
 * that sends them without end would keep the loop for itself. Chunks of four bytes still bring a whole body.
 */
const BODY_PIECES_MAX = 16_384;

/** How long draining serves requests that idle connections have on the wire before it closes those. */
const LINGER_MS = 100;

const DRAIN_POLL_MS = 10;

/** Lines about slow clients: at most 100 a second with the default sweep. What is left out is counted. */
const LINES_PER_SWEEP = 25;
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
  readonly waiting: DeadlineQueue<Exchange>;
  readonly sending: DeadlineQueue<Exchange>;
  readonly #options: FrontOptions;
  readonly #limits: FrontLimits;
  readonly #app: uws.TemplatedApp;
  #listening: uws.us_listen_socket | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #drained: Promise<void> | undefined;
  /** Connections closed at once, since that was last told. */
  #turnedAway = 0;
  #tellTurnedAwayAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#app = appOf(options.tls ?? null);
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

  listen(): Promise<Front> {
    const { host, port, sharePort } = this.#options;
    // Typed as AnyApp: the published types leave out the form with host and options, and the direction of
    // filter
    const app = this.#app as unknown as AnyApp;
    app.get('/*', (response, request) => this.#receive(response, request, 'GET'));
    app.any('/*', (response, request) => this.#receive(response, request, request.getCaseSensitiveMethod()));
    app.filter((response, change) => this.#connectionChanged(response, change));
    return new Promise((resolve, reject) => {
      app.listen(host, port, sharePort === true ? LISTEN_SHARED : LISTEN_EXCLUSIVE, (socket) => {
        if (socket === false) {
          reject(new Error(`cannot listen on ${host}:${port}: the port is taken or the address is not ours`));
          return;
        }
        this.#listening = socket;
        this.port = uws.us_socket_local_port(socket as unknown as uws.us_socket);
        this.#sweeper = setInterval(() => this.#sweep(), this.#limits.sweepMs).unref();
        resolve(this);
      });
    });
  }

  #connectionChanged(response: NativeResponse, change: number): void {
    this.openConnections += change;
    if (change < 0 || this.openConnections <= this.#limits.connectionsMax) return;
    this.#turnedAway++;
    response.close();
  }

  drain(deadlineMs: number): Promise<void> {
    this.#drained ??= this.#drain(deadlineMs);
    return this.#drained;
  }

  async #drain(deadlineMs: number): Promise<void> {
    this.draining = true;
    const { clock, log } = this.#options;
    const start = clock.monotonicMs();
    if (this.#listening !== undefined) uws.us_listen_socket_close(this.#listening);
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
    this.#app.close();
  }

  /**
   * A listener or handler of ours failed: what failed is logged, what the client learns is only that it did.
   */
  fault(exchange: Exchange, error: unknown): void {
    if (!(error instanceof ApiError)) {
      this.#options.log.error({ err: error, ...this.#namesOf(exchange) }, 'request failed');
    }
    this.#fail(exchange, clientError(error));
  }

  #receive(response: NativeResponse, request: NativeRequest, method: string): void {
    const exchange = new Exchange(this, response, method, request);
    try {
      const refused = exchange.refusal(this.#limits.requestHeadBytesMax);
      // what follows such a request is not served (RFC 9112 §9.6), or might be a piece of it
      if (exchange.asksToClose || exchange.isChunked) exchange.closeAfterReply();
      if (refused !== undefined) this.#refuse(exchange, refused);
      else if (method === 'POST') this.#receiveBody(exchange);
      else {
        if (exchange.hasBody) exchange.closeAfterReply(); // nobody reads it, so it must not precede another request
        this.#dispatch(exchange);
      }
    } finally {
      exchange.leaveHandler(); // or the process ends
    }
  }

  /** Collects the body. Memory for it is taken as it comes, not as it is announced: whoever asks has shown no key yet. */
  #receiveBody(exchange: Exchange): void {
    const max = this.#limits.requestBodyBytesMax;
    if (exchange.contentLength === 0) {
      this.#dispatch(exchange); // the library never ends such a body when the head came in several packets
      return;
    }
    if (exchange.contentLength > BODY_DISCARDED_BYTES_MAX) {
      this.#refuse(exchange, new ApiError('payload_too_large'));
      return;
    }
    let body: Uint8Array<ArrayBuffer> = new Uint8Array(0);
    let size = 0;
    let pieces = 0;
    exchange.onBody((piece, isLast) => {
      const start = size;
      pieces++;
      size += piece.length;
      if (size <= max && pieces <= BODY_PIECES_MAX) {
        if (size > body.length) body = grown(body, isLast ? size : Math.min(max, 2 * size));
        body.set(piece, start);
        if (!isLast) return;
        exchange.body = body.subarray(0, size);
        this.#dispatch(exchange);
      } else if (isLast || size > BODY_DISCARDED_BYTES_MAX || pieces > BODY_PIECES_MAX) {
        this.#refuse(exchange, new ApiError('payload_too_large'));
      }
    });
  }

  #dispatch(exchange: Exchange): void {
    try {
      const handled = this.#options.handle(exchange);
      if (handled !== undefined) handled.catch((error: unknown) => this.fault(exchange, error));
    } catch (error) {
      this.fault(exchange, error);
    }
  }

  #refuse(exchange: Exchange, error: ApiError): void {
    exchange.closeAfterReply();
    this.#fail(exchange, error);
  }

  /** Answers an error; never throws, for most callers stand on the library's stack. */
  #fail(exchange: Exchange, error: ApiError): void {
    const { fail, log } = this.#options;
    try {
      if (fail !== undefined) fail(exchange, error);
      else this.#failPlainly(exchange, error);
    } catch (fault) {
      log.error({ err: fault, code: error.code }, 'the error could not be answered; the connection is cut');
      exchange.closeAfterReply();
      exchange.destroy();
    }
  }

  #failPlainly(exchange: Exchange, error: ApiError): void {
    const reply = errorReply(error, { requestId: this.#requestIdOf(exchange), accept: exchange.accept });
    exchange.send(reply.head, reply.body);
  }

  #requestIdOf(exchange: Exchange): RequestId {
    exchange.requestId ??= newRequestId(this.#options.clock.wallMs());
    return exchange.requestId;
  }

  /** What names a request in the log. Never the query: it may hold what a client shuffles. */
  #namesOf(exchange: Exchange): object {
    const method = exchange.method.slice(0, METHOD_LENGTH_LOGGED);
    const path = exchange.path.slice(0, PATH_LENGTH_LOGGED);
    const trace = parseTraceparent(exchange.traceparent);
    const names = { request_id: requestIdText(this.#requestIdOf(exchange)), method, path };
    return trace === undefined ? names : { ...names, trace_id: trace.traceId };
  }

  #sweep(): void {
    this.nowMs = this.#options.clock.monotonicMs();
    const { log } = this.#options;
    let lines = 0;
    const tell = (exchange: Exchange, what: string) => {
      if (lines++ < LINES_PER_SWEEP) log.warn(this.#namesOf(exchange), what);
    };
    for (let late = this.waiting.overdue(this.nowMs); late; late = this.waiting.overdue(this.nowMs)) {
      tell(late, 'request not answered in time');
      this.#refuse(late, new ApiError('overloaded', { message: UNANSWERED, retryAfterS: 1 }));
      if (!late.answered) late.destroy(); // a `fail` that does not answer at once must not keep it here for ever
    }
    for (let slow = this.sending.overdue(this.nowMs); slow; slow = this.sending.overdue(this.nowMs)) {
      tell(slow, 'reply not taken in time');
      slow.destroy();
    }
    if (lines > LINES_PER_SWEEP)
      log.warn({ lines: lines - LINES_PER_SWEEP }, 'lines about slow requests left out');
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

/** The library serves nothing and says nothing when it cannot read a file, so they are looked at first. */
function appOf(tls: (FrontOptions['tls'] & object) | null): uws.TemplatedApp {
  if (tls === null) return uws.App();
  const { certFile, keyFile } = tls;
  try {
    createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
  } catch (error) {
    throw new Error(`${certFile} and ${keyFile} are no certificate with its key`, { cause: error });
  }
  return uws.SSLApp({ cert_file_name: certFile, key_file_name: keyFile });
}

const UNANSWERED = 'The service did not answer in time; retry after Retry-After.';

function grown(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}

type AnyHandler = (
  response: NativeResponse,
  request: NativeRequest & { getCaseSensitiveMethod(): string },
) => void;

interface AnyApp {
  get(pattern: string, handler: AnyHandler): void;
  any(pattern: string, handler: AnyHandler): void;
  /** `change` is 1 for a new connection and -1 for a closed one. */
  filter(listener: (response: NativeResponse, change: number) => void): void;
  listen(
    host: string,
    port: number,
    options: number,
    done: (socket: uws.us_listen_socket | false) => void,
  ): void;
}
