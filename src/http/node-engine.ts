import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import {
  type Engine,
  type EngineOptions,
  isLoopback,
  LINE_FEED,
  listenFailure,
  type ReplyHead,
  readTlsFiles,
  type Wire,
} from './engine.ts';
import type { NativeRequest } from './request-head.ts';

/*
 * The engine on node:http. It needs no binary package, but costs more CPU per request (bench `engines`). Its
 * parser is stricter than that of uWebSockets.js: it refuses folded fields, bad line ends and unknown methods with 400.
 */

/** The largest part of a body that is written to the socket at once. A client that stops reading makes node:http hold this much. */
const PIECE_BYTES = 128 * 1024;

/** A head must arrive within this time, and an idle connection is closed after it. uWebSockets.js has the same limits. */
const IDLE_MS = 10_000;
/** A whole request must arrive within this time. The front answers earlier; this ends requests whose body never ends. */
const REQUEST_MS = 60_000;

/** How long a connection stays open after a refusal if the client does not close it. */
const REFUSAL_LINGER_MS = 1_000;

export function startNodeEngine(options: EngineOptions): Promise<Engine> {
  const { host, port, sharePort, tls } = options;
  const http = {
    maxHeaderSize: options.headBytesMax,
    headersTimeout: IDLE_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false, // the front refuses such a request itself, with an error in its own form
    noDelay: true,
    // A client that closes its half of the connection while its answer is made still gets the answer. node:http sets this by
    // itself, node:https does not.
    allowHalfOpen: true,
  };
  const server =
    tls === null
      ? createServer(http)
      : createTlsServer({ ...http, ...readTlsFiles(tls), minVersion: 'TLSv1.2', handshakeTimeout: IDLE_MS });
  server.maxHeadersCount = 0; // a bound would make node:http drop the fields above it silently
  // the HTTP part of the same; the published types lack this property
  Object.assign(server, { httpAllowHalfOpen: true });
  /** The accepted sockets. With TLS they exist before the handshake, so that connections are counted and cut from then on. */
  const sockets = new Set<Socket>();
  /** By the socket that HTTP is read from, which with TLS is another one than the accepted socket. */
  const connections = new WeakMap<Socket, Connection>();
  const connectionOf = (socket: Socket) => {
    const connection = connections.get(socket) ?? new Connection(socket, options);
    connections.set(socket, connection);
    return connection;
  };
  const receive = (request: IncomingMessage, response: ServerResponse) =>
    connectionOf(request.socket).receive(request, response);
  server.on('request', receive);
  // ignores an unknown expectation, as RFC 9110 §10.1.1 allows: node:http itself would answer 417 without a length
  server.on('checkExpectation', receive);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    connectionOf(socket as Socket).refuse(error.code === HEAD_TOO_LARGE ? 'head_too_large' : 'bad_request'),
  );
  server.on('connect', (_request, stream) => connectionOf(stream as Socket).refuseTunnel());
  server.on('connection', (socket: Socket) => {
    const connection = { close: () => socket.destroy() };
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      options.connectionChanged(connection, -1);
    });
    options.connectionChanged(connection, 1);
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenFailure(options, error)));
    server.listen({ host, port, reusePort: sharePort }, () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        stopListening: () => void server.close(),
        close: async () => {
          const closed = [...sockets].map((socket) => once(socket, 'close'));
          for (const socket of sockets) socket.destroy();
          await Promise.all(closed);
        },
      }),
    );
  });
}

/** The error code of node:http for a head with too many bytes. */
const HEAD_TOO_LARGE = 'HPE_HEADER_OVERFLOW';

/**
 * A connection, and the wire of its latest request. Pipelining is not served, so no other request of it is answered at the same
 * time.
 */
class Connection implements Wire {
  readonly #socket: Socket;
  readonly #options: EngineOptions;
  #request: IncomingMessage = undefined!;
  #response: ServerResponse = undefined!;
  /** True until the reply to the latest request is complete or the client is gone. */
  #isOpen = false;
  /** True when a reply has announced that the connection closes. */
  #isClosing = false;
  #gone: (() => void) | undefined;
  /** Bytes of the body that are not written yet; NaN for a body in lines. */
  #left = Number.NaN;

  constructor(socket: Socket, options: EngineOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    if (this.#socket.destroyed) return; // the parser still delivers requests that it had read before
    // a request that follows an unanswered one, or one after which the connection closes, is cut
    if (this.#isClosing || this.#isOpen) this.cut();
    else if (request.httpVersion !== '1.1' || !request.url!.startsWith('/')) {
      this.#isClosing = true;
      response.writeHead(505, { Connection: 'close' }).end();
    } else if (request.rawHeaders.length > 2 * this.#options.headFieldsMax) this.refuse('head_too_large');
    else {
      this.#request = request;
      this.#response = response;
      this.#isOpen = true;
      this.#left = Number.NaN;
      response.once('close', () => {
        if (response === this.#response) this.#tellGone();
      });
      this.#options.receive(this, requestOf(request), request.method!);
    }
  }

  /**
   * Called when the parser gives up on the connection. Sends the refusal as the last reply. If a reply has begun, or a whole
   * request is still unanswered, cuts the connection instead: the client would take the refusal for the answer to that request.
   */
  refuse(code: 'bad_request' | 'head_too_large'): void {
    const socket = this.#socket;
    const isUnderWay = this.#response?.headersSent || (this.#isOpen && this.#request.complete);
    if (!socket.writable || this.#isClosing || isUnderWay) {
      this.cut();
      return;
    }
    this.#isClosing = true;
    const { head, body } = this.#options.refusal(code);
    const rest = `\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.end(Buffer.concat([Buffer.from('HTTP/1.1 '), head, Buffer.from(rest), body]));
    // Reads nothing more. A client that goes on sending, or never closes, is cut when it has had time to read the refusal.
    socket.pause();
    setTimeout(() => socket.destroy(), REFUSAL_LINGER_MS).unref();
  }

  refuseTunnel(): void {
    if (this.#isOpen) {
      this.cut();
      return;
    }
    this.#socket.end('HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n');
    // node:http has no deadline for such a socket, so a client that never closes it would keep it forever
    this.#socket.destroySoon();
  }

  /**
   * node:http reports a reset one turn of the loop after it learns of it, so this asks the socket. A client that has closed
   * its half of the connection counts as gone, so nothing is drawn for it: the server cannot tell this from a client that
   * closed both halves. A reply that has begun is still written, in case the client reads on.
   */
  get isGone(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  get isFull(): boolean {
    return this.#response.writableNeedDrain;
  }

  get isFromLoopback(): boolean {
    return isLoopback(this.#socket.remoteAddress ?? '');
  }

  send(head: Uint8Array, body: Uint8Array, saysClose: boolean): void {
    this.#writeHead({ head, length: body.length, saysClose, isLast: false });
    this.#finish(Buffer.from(body)); // a copy, because the caller may overwrite `body` once this returns
  }

  begin(reply: ReplyHead, hasRoom: () => void): void {
    this.#writeHead(reply);
    this.#left = reply.length ?? Number.NaN;
    const response = this.#response;
    response.on('drain', () => {
      if (this.#isOpen && response === this.#response) hasRoom();
    });
  }

  #writeHead({ head, length, saysClose, isLast }: ReplyHead): void {
    const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
    const [status, ...lines] = text.split('\r\n');
    // node:http takes a flat list in which names and values alternate
    const fields = lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    if (saysClose) fields.push('Connection', 'close');
    if (length !== undefined) fields.push('Content-Length', String(length));
    if (saysClose) this.#isClosing = true;
    if (isLast) this.#socket.pause();
    this.#response.writeHead(Number(status.slice(0, 3)), status.slice(4), fields);
  }

  /**
   * Copies the bytes unless they are constant. Copying documents too (56 MB a second, for the OpenAPI document of 200 KB)
   * made the paid requests beside them wait 3.8 times as long at p99, instead of 2.6 times (test/adversary/abuse, "unpaid:
   * the OpenAPI document").
   */
  offer(rest: Uint8Array, isConstant: boolean): number {
    let taken = 0;
    do {
      const piece = rest.subarray(taken, taken + PIECE_BYTES);
      this.#response.write(isConstant ? piece : piece.slice());
      taken += piece.length;
    } while (taken < rest.length && !this.isFull);
    if (Number.isNaN(this.#left) && taken === rest.length) this.#response.write(LINE_FEED);
    this.#left -= taken;
    if (this.#left === 0) this.#finish();
    return taken;
  }

  end(): void {
    this.#finish();
  }

  #finish(body?: Buffer): void {
    this.#isOpen = false;
    this.#response.end(body);
  }

  onBody(take: (piece: Uint8Array, isLast: boolean) => void): void {
    this.#request.on('data', (piece: Buffer) => {
      if (this.#isOpen) take(piece, false);
    });
    this.#request.once('end', () => {
      if (this.#isOpen) take(new Uint8Array(0), true);
    });
  }

  onGone(gone: () => void): void {
    this.#gone = gone;
  }

  /**
   * Calls the listener itself: node:http would report it in a later turn, after an answer that nobody can get was drawn and
   * charged.
   */
  cut(): void {
    this.#socket.destroy();
    this.#tellGone();
  }

  #tellGone(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#gone?.();
  }
}

function requestOf({ url, rawHeaders }: IncomingMessage): NativeRequest {
  const [path, ...query] = url!.split('?');
  return {
    getUrl: () => path,
    getQuery: () => (query.length === 0 ? undefined : query.join('?')),
    // reads rawHeaders, because `headers` joins or drops repeated fields
    forEach: (each) => {
      for (let i = 0; i < rawHeaders.length; i += 2) each(rawHeaders[i].toLowerCase(), rawHeaders[i + 1]);
    },
  };
}
