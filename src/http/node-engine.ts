import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import {
  type Engine,
  type EngineOptions,
  LINE_FEED,
  listenFailure,
  type ReplyHead,
  readTlsFiles,
  type Wire,
} from './engine.ts';
import type { NativeRequest } from './request-head.ts';

/*
 * The engine on node:http. It needs no binary package and costs more CPU per request (bench `small`, row
 * `node`). Its parser is stricter than that of uWebSockets.js: it refuses folded fields, bad line ends and
 * unknown methods with 400.
 */

/**
 * The largest part of a body that is handed to the socket at once: as much as a stalled reader can hold here.
 */
const PIECE_BYTES = 128 * 1024;

/**
 * As uWebSockets.js does it: a head must arrive within this time, and an idle connection is closed after it.
 */
const IDLE_MS = 10_000;
/** The front answers before this; it ends requests whose body never ends. */
const REQUEST_MS = 60_000;

/** How long a connection stays behind a refusal whose client does not close it. */
const REFUSAL_LINGER_MS = 1_000;

export function startNodeEngine(options: EngineOptions): Promise<Engine> {
  const { host, port, sharePort, tls } = options;
  const http = {
    maxHeaderSize: options.headBytesMax,
    headersTimeout: IDLE_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false, // the front answers that in its own form
    noDelay: true,
  };
  const server =
    tls === null
      ? createServer(http)
      : createTlsServer({ ...http, ...readTlsFiles(tls), minVersion: 'TLSv1.2', handshakeTimeout: IDLE_MS });
  server.maxHeadersCount = 0; // node:http would drop the fields above a count without a word
  // A client that closes its half while its answer is made still gets it. The published types leave the
  // property out.
  Object.assign(server, { httpAllowHalfOpen: true });
  /** As they are accepted: a connection is counted, and closed, before its TLS handshake too. */
  const sockets = new Set<Socket>();
  /** Of the sockets that HTTP comes from: those of TLS stand on the accepted ones. */
  const connections = new WeakMap<Socket, Connection>();
  const connectionOf = (socket: Socket) => {
    const connection = connections.get(socket) ?? new Connection(socket, options);
    connections.set(socket, connection);
    return connection;
  };
  const receive = (request: IncomingMessage, response: ServerResponse) =>
    connectionOf(request.socket).receive(request, response);
  server.on('request', receive);
  // an expectation that nobody knows is ignored (RFC 9110, section 10.1.1): node:http itself answers 417 without a length
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

/** What node:http says of a head with too many bytes. */
const HEAD_TOO_LARGE = 'HPE_HEADER_OVERFLOW';

/** What may still be answered on a connection. */
class Connection {
  readonly #socket: Socket;
  readonly #options: EngineOptions;
  /** Of the latest request. */
  #wire: NodeWire | undefined;
  /** Its last reply announced that it is the last. */
  isClosing = false;

  constructor(socket: Socket, options: EngineOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    if (this.#socket.destroyed) return; // the parser goes on with what it has read
    // A request behind one that is not answered yet is not served, nor one behind the last of its connection.
    if (this.isClosing || this.#wire?.isOpen === true) this.#cut();
    else if (request.httpVersion !== '1.1' || !request.url!.startsWith('/')) {
      this.isClosing = true;
      response.writeHead(505, { Connection: 'close' }).end();
    } else if (request.rawHeaders.length > 2 * this.#options.headFieldsMax) this.refuse('head_too_large');
    else {
      this.#wire = new NodeWire(request, response, this);
      this.#options.receive(this.#wire, requestOf(request), request.method!);
    }
  }

  /**
   * The parser gave up on the connection: what it says is the last thing that is written to it. Behind a whole
   * request that is not answered yet it would be read as the answer to that request.
   */
  refuse(code: 'bad_request' | 'head_too_large'): void {
    const socket = this.#socket;
    if (!socket.writable || this.isClosing || this.#wire?.isUnderWay === true) {
      this.#cut();
      return;
    }
    this.isClosing = true;
    const { head, body } = this.#options.refusal(code);
    const rest = `\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.end(Buffer.concat([Buffer.from('HTTP/1.1 '), head, Buffer.from(rest), body]));
    // Nothing more is read from it. A client that goes on sending, or never closes, is cut when it can have read why.
    socket.pause();
    setTimeout(() => socket.destroy(), REFUSAL_LINGER_MS).unref();
  }

  refuseTunnel(): void {
    if (this.#wire?.isOpen === true) {
      this.#cut();
      return;
    }
    this.#socket.end('HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n');
    // node:http keeps no deadline for it: a client that never closes would keep it forever
    this.#socket.destroySoon();
  }

  #cut(): void {
    this.#socket.destroy();
    this.#wire?.cut();
  }
}

function requestOf({ url, rawHeaders }: IncomingMessage): NativeRequest {
  const [path, ...query] = url!.split('?');
  return {
    getUrl: () => path,
    getQuery: () => (query.length === 0 ? undefined : query.join('?')),
    // every field as it came: `headers` joins or drops repeated ones
    forEach: (each) => {
      for (let i = 0; i < rawHeaders.length; i += 2) each(rawHeaders[i].toLowerCase(), rawHeaders[i + 1]);
    },
  };
}

class NodeWire implements Wire {
  /** The reply is not complete yet. */
  isOpen = true;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: Connection;
  #gone: (() => void) | undefined;
  /** Bytes of the body that are not offered yet; NaN of a body in lines. */
  #left = Number.NaN;

  constructor(request: IncomingMessage, response: ServerResponse, connection: Connection) {
    this.#request = request;
    this.#response = response;
    this.#connection = connection;
  }

  /** Its reply has begun, or its request came whole, body included, and is not answered yet. */
  get isUnderWay(): boolean {
    return this.#response.headersSent || (this.isOpen && this.#request.complete);
  }

  /**
   * node:http learns of a reset in one turn of the loop and tells it in a later one. A client that has closed its half
   * counts as gone before anything is drawn for it, because closing both halves looks the same from here. What is under
   * way is still written, for a client that does read on.
   */
  get isGone(): boolean {
    const { socket } = this.#request;
    return socket.destroyed || socket.readableEnded;
  }

  get isFull(): boolean {
    return this.#response.writableNeedDrain;
  }

  send(head: Uint8Array, body: Uint8Array, saysClose: boolean): void {
    this.#writeHead({ head, length: body.length, saysClose, isLast: false });
    this.#finish(Buffer.from(body)); // a copy: the caller may write into `body` as soon as this returns
  }

  sendHead(reply: ReplyHead): void {
    this.#writeHead(reply);
    this.#finish();
  }

  begin(reply: ReplyHead, hasRoom: () => void): void {
    this.#writeHead(reply);
    this.#left = reply.length ?? Number.NaN;
    this.#response.on('drain', () => {
      if (this.isOpen) hasRoom();
    });
  }

  #writeHead({ head, length, saysClose, isLast }: ReplyHead): void {
    const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
    const [status, ...lines] = text.split('\r\n');
    // names and values in turns, as node:http takes them
    const fields = lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    if (saysClose) fields.push('Connection', 'close');
    if (length !== undefined) fields.push('Content-Length', String(length));
    if (saysClose) this.#connection.isClosing = true;
    if (isLast) this.#request.socket.pause();
    this.#response.writeHead(Number(status.slice(0, 3)), status.slice(4), fields);
  }

  /**
   * What is not constant is copied, as in `send`. Copies of all documents, 56 MB a second of the 200 KB one of OpenAPI, made paid
   * requests beside them wait 3.8 times as long (p99; 2.6 times without: test/adversary/abuse, "unpaid: the OpenAPI document").
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

  get isFromLoopback(): boolean {
    return /^(::ffff:)?127\.|^::1$/.test(this.#response.socket?.remoteAddress ?? '');
  }

  onBody(take: (piece: Uint8Array, isLast: boolean) => void): void {
    this.#request.on('data', (piece: Buffer) => {
      if (this.isOpen) take(piece, false);
    });
    this.#request.once('end', () => {
      if (this.isOpen) take(new Uint8Array(0), true);
    });
  }

  onGone(gone: () => void): void {
    this.#gone = gone;
    this.#response.once('close', () => this.#tellGone());
  }

  /** node:http itself would tell it in a later turn, and by then an answer that nobody can get would be drawn and charged. */
  cut(): void {
    this.#request.socket.destroy();
    this.#tellGone();
  }

  #tellGone(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#gone?.();
  }

  #finish(body?: Buffer): void {
    this.isOpen = false;
    this.#response.end(body);
  }
}
