import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, isIPv4, type Socket } from 'node:net';
import { type Engine, type EngineOptions, type NativeResponse, readTlsFiles } from './engine.ts';
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
  return new NodeEngine(options).listen();
}

class NodeEngine implements Engine {
  port = -1;
  readonly #options: EngineOptions;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  /** The latest request of each connection that is still to be answered. */
  readonly #unanswered = new WeakMap<Socket, NodeResponse>();
  /** Connections whose last reply announced that it is the last. */
  readonly #closing = new WeakSet<Socket>();

  constructor(options: EngineOptions) {
    this.#options = options;
    const http = {
      maxHeaderSize: options.headBytesMax,
      headersTimeout: IDLE_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false, // the front answers that in its own form
      noDelay: true,
    };
    const { tls } = options;
    this.#server =
      tls === null
        ? createServer(http)
        : createTlsServer({ ...http, ...readTlsFiles(tls), minVersion: 'TLSv1.2' });
    this.#server.maxHeadersCount = 0; // node:http would drop the fields above a count without a word
    // A client that closes its half while its answer is made still gets it. The published types leave the
    // property out.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    this.#server.on('request', (request, response) => this.#receive(request, response));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      this.#refuse(socket as Socket, error),
    );
    this.#server.on('connect', (_request, stream) => {
      const socket = stream as Socket;
      if (this.#unanswered.get(socket)?.isOpen === true) {
        this.#cut(socket);
        return;
      }
      socket.end('HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n');
      // node:http keeps no deadline for it: a client that never closes would keep it forever
      socket.destroySoon();
    });
    this.#server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
      const connection = { close: () => socket.destroy() };
      this.#connections.add(socket);
      socket.once('close', () => {
        this.#connections.delete(socket);
        options.connectionChanged(connection, -1);
      });
      options.connectionChanged(connection, 1);
    });
  }

  listen(): Promise<Engine> {
    const { host, port, sharePort } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error) => {
        const why = 'the port is taken or the address is not ours';
        reject(new Error(`cannot listen on ${host}:${port}: ${why}`, { cause: error }));
      });
      this.#server.listen({ host, port, reusePort: sharePort }, () => {
        this.port = (this.#server.address() as AddressInfo).port;
        resolve(this);
      });
    });
  }

  stopListening(): void {
    this.#server.close();
  }

  async close(): Promise<void> {
    const closed = [...this.#connections].map((socket) => once(socket, 'close'));
    this.#server.closeAllConnections();
    await Promise.all(closed);
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    if (socket.destroyed) return; // the parser goes on with what it has read
    const pending = this.#unanswered.get(socket);
    // What follows the last request of a connection is dropped: the reply to that one ends the connection. Only one is,
    // because node:http keeps each for as long as that reply takes.
    if (pending?.isOpen === true && pending.isLast && !pending.hasFollower) {
      pending.hasFollower = true;
      return;
    }
    // A request behind one that is not answered yet is not served, nor one behind the last of its connection.
    if (this.#closing.has(socket) || pending?.isOpen === true) {
      this.#cut(socket);
      return;
    }
    if (request.httpVersion !== '1.1' || !request.url!.startsWith('/')) {
      this.#closing.add(socket);
      response.writeHead(505, { Connection: 'close' }).end();
      return;
    }
    if (request.rawHeaders.length > 2 * this.#options.headFieldsMax) {
      this.#refuse(socket, { code: 'HPE_HEADER_OVERFLOW' });
      return;
    }
    const native = new NodeResponse(request, response, () => this.#closing.add(socket));
    this.#unanswered.set(socket, native);
    this.#options.receive(native, new NodeRequest(request), request.method!);
  }

  /**
   * The parser gave up on a connection: what it says is the last thing that is written to it. Behind a whole
   * request that is not answered yet it would be read as the answer to that request.
   */
  #refuse(socket: Socket, error: { readonly code?: string | undefined }): void {
    const pending = this.#unanswered.get(socket);
    const isBehindRequest = pending?.isOpen === true && pending.isReceived;
    if (!socket.writable || this.#closing.has(socket) || isBehindRequest || pending?.hasBegun === true) {
      this.#cut(socket);
      return;
    }
    this.#closing.add(socket);
    const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
    const { head, body } = this.#options.refusal(isTooLarge ? 'head_too_large' : 'bad_request');
    const rest = `\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.end(Buffer.concat([Buffer.from('HTTP/1.1 '), head, Buffer.from(rest), body]));
    // Nothing more is read from it. A client that goes on sending, or never closes, is cut when it can have read why.
    socket.pause();
    setTimeout(() => socket.destroy(), REFUSAL_LINGER_MS).unref();
  }

  /**
   * Cuts a connection and tells the request that waits on it at once: node:http tells it in a later turn, and
   * by then an answer that nobody can get would be drawn and charged.
   */
  #cut(socket: Socket): void {
    socket.destroy();
    this.#unanswered.get(socket)?.close();
  }
}

class NodeRequest implements NativeRequest {
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  getUrl(): string {
    return this.#request.url!.split('?', 1)[0];
  }

  getQuery(): string | undefined {
    const { url } = this.#request;
    const at = url!.indexOf('?');
    return at < 0 ? undefined : url!.slice(at + 1);
  }

  forEach(each: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#request; // every field as it came: `headers` joins or drops repeated ones
    for (let i = 0; i < rawHeaders.length; i += 2) each(rawHeaders[i].toLowerCase(), rawHeaders[i + 1]);
  }
}

class NodeResponse implements NativeResponse {
  /** A part of the reply was handed to the socket. */
  hasBegun = false;
  /** The reply is not complete yet. */
  isOpen = true;
  /** A request came behind it, although it is the last of its connection. */
  hasFollower = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #lastOfConnection: () => void;
  #abort: (() => void) | undefined;
  #status = '';
  /** Names and values in turns, as node:http takes them. */
  readonly #fields: string[] = [];
  #offset = 0;

  constructor(request: IncomingMessage, response: ServerResponse, lastOfConnection: () => void) {
    this.#request = request;
    this.#response = response;
    this.#lastOfConnection = lastOfConnection;
  }

  /** The front closes the connection behind the reply to such a request (front.ts). */
  get isLast(): boolean {
    const { headers } = this.#request;
    return headers['transfer-encoding'] !== undefined || /\bclose\b/i.test(headers.connection ?? '');
  }

  /** The request came whole, body included. */
  get isReceived(): boolean {
    return this.#request.complete;
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

  writeStatus(head: Uint8Array): void {
    const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
    const [status, ...lines] = text.split('\r\n');
    this.#status = status;
    for (const line of lines) {
      const colon = line.indexOf(':');
      this.writeHeader(line.slice(0, colon), line.slice(colon + 1).trim());
    }
  }

  writeHeader(name: string, value: string): void {
    this.#fields.push(name, value);
  }

  end(body: Uint8Array, closeConnection = false): void {
    if (this.hasBegun) {
      this.#finish(); // what was written in parts
      return;
    }
    if (closeConnection) this.writeHeader('Connection', 'close');
    this.writeHeader('Content-Length', String(body.length));
    this.#begin();
    this.#finish(Buffer.from(body)); // a copy: the caller may write into `body` as soon as this returns
  }

  endWithoutBody(): void {
    this.#begin();
    this.#finish();
  }

  write(part: Uint8Array): boolean {
    if (!this.hasBegun) this.#begin();
    // Corked, node:http would count the part against its own bound and never tell when the socket takes more.
    this.#response.uncork();
    const hasRoom = this.#response.write(Buffer.from(part)); // a copy, as in `end`
    this.#response.cork();
    return hasRoom;
  }

  /**
   * What is not constant is copied, as in `end`. Copies of all documents, 56 MB a second of the 200 KB one of OpenAPI, made paid
   * requests beside them wait 3.8 times as long (p99; 2.6 times without: test/adversary/abuse, "unpaid: the OpenAPI document").
   */
  tryEnd(rest: Uint8Array, totalBytes: number, isConstant: boolean): [wroteAll: boolean, finished: boolean] {
    if (!this.hasBegun) {
      this.writeHeader('Content-Length', String(totalBytes));
      this.#begin();
    }
    let taken = 0;
    while (taken < rest.length && !this.#response.writableNeedDrain) {
      const part = rest.subarray(taken, taken + PIECE_BYTES);
      const piece = isConstant ? part : part.slice();
      taken += piece.length;
      this.#offset += piece.length;
      this.#response.write(piece);
    }
    const finished = this.#offset === totalBytes;
    if (finished) this.#finish();
    return [taken === rest.length, finished];
  }

  getWriteOffset(): number {
    return this.#offset;
  }

  /** IPv4 addresses and the loopback one of IPv6; nobody asks for others. */
  getRemoteAddress(): ArrayBuffer {
    const text = (this.#response.socket?.remoteAddress ?? '').replace(/^::ffff:/, '');
    if (isIPv4(text)) return Uint8Array.from(text.split('.').map(Number)).buffer;
    return text === '::1' ? Uint8Array.from([...new Array(15).fill(0), 1]).buffer : new ArrayBuffer(0);
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#response.on('drain', () => {
      if (this.isOpen) handler(this.#offset);
    });
  }

  onAborted(handler: () => void): void {
    this.#abort = handler;
    this.#response.once('close', () => this.#aborted());
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.#request.on('data', ({ buffer, byteOffset, length }: Buffer) => {
      if (this.isOpen) handler(buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer, false);
    });
    this.#request.once('end', () => {
      if (this.isOpen) handler(new ArrayBuffer(0), true);
    });
  }

  pause(): void {
    this.#request.socket.pause();
  }

  cork(write: () => void): void {
    this.#response.cork();
    write();
    this.#response.uncork();
  }

  /**
   * Calls the abort handler before it returns, as uWebSockets.js does; node:http tells it in a later turn.
   */
  close(): void {
    this.#request.socket.destroy();
    this.#aborted();
  }

  #aborted(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#abort?.();
  }

  #begin(): void {
    if (this.#fields.includes('Connection')) this.#lastOfConnection(); // nothing but `close` is written
    this.hasBegun = true;
    this.#response.writeHead(Number(this.#status.slice(0, 3)), this.#status.slice(4), this.#fields);
  }

  #finish(body?: Buffer): void {
    this.isOpen = false;
    this.#response.end(body);
  }
}
