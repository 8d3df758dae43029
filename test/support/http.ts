import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/**
 * The HTTP client of tests, soak and benchmarks: it sends bytes exactly as given, where `fetch` would repair them, and
 * reads replies with a Content-Length, or without a body, or up to the end of their connection.
 */

/** One request. Strings are written as latin1: a character is a byte. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** The fields besides Host and Content-Length. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array | null;
}

export class HttpReply {
  readonly status: number;
  /** Status line and fields as they came (latin1), without the empty line. */
  readonly head: string;
  /** Empty when the connection only counts bodies. */
  readonly body: Buffer<ArrayBuffer>;
  readonly bodyBytes: number;
  /** The connection ends with this reply. */
  readonly closes: boolean;

  constructor(status: number, head: string, body: Buffer<ArrayBuffer>, bodyBytes: number, closes: boolean) {
    this.status = status;
    this.head = head;
    this.body = body;
    this.bodyBytes = bodyBytes;
    this.closes = closes;
  }

  /** The fields of the head by name in lower case; values of a repeated field are joined by `, `. */
  get headers(): ReadonlyMap<string, string> {
    const fields = new Map<string, string>();
    for (const line of this.head.split('\r\n').slice(1)) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      const before = fields.get(name);
      fields.set(name, before === undefined ? value : `${before}, ${value}`);
    }
    return fields;
  }
}

/** The connection ended before the reply was there: whoever asked cannot know what became of the request. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

/** The connection was never there: the request was not made. */
class NobodyListens extends ConnectionLost {
  override name = 'NobodyListens';
}

/**
 * Whether a refusal says that the answer may come to be all the same: nothing was heard of it in time. Whoever sent an
 * Idempotency-Key asks again.
 */
export function isUndecided(status: number, body: Uint8Array): boolean {
  return (
    status === 503 && /did not answer in time|database does not answer/.test(Buffer.from(body).toString())
  );
}

/** The request as it goes over the wire. */
export function requestBytes({ method, target, headers, body }: HttpRequest, host = 'test'): Buffer {
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const bytes = Buffer.from((body ?? '') as string);
  const length = (body ?? undefined) === undefined ? '' : `Content-Length: ${bytes.length}\r\n`;
  const head = `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${fields}${length}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}

export interface ConnectionOptions {
  readonly host?: string;
  /** Bodies are counted and thrown away: a client that costs little beside the server that it measures. */
  readonly countsOnly?: boolean;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const START_LENGTH = 1_000;
const OPENED_AT_ONCE = 250;
/** Most bytes of a read where bodies are only counted. */
const READ_BYTES = 256 * 1024;
const SILENCE_MS = 30_000;

/** One connection, on which requests are sent one after the other, or bytes that are not requests. */
export class HttpConnection {
  readonly socket: Socket;
  receivedBytes = 0;
  /** The first bytes that came, as latin1. */
  start = '';
  /** The other side closed or reset the connection, or it was never let in. */
  readonly closed: Promise<void>;
  isClosed = false;
  /** Replies that nobody waits for. */
  readonly replies: HttpReply[] = [];
  /** The requests are HEAD: replies have no body, whatever length they tell. */
  isHead = false;
  readonly #keepsBodies: boolean;
  #answered: ((reply: HttpReply | ConnectionLost) => void) | undefined;
  /** Bytes of a head that has not come whole. */
  #pending: Buffer = Buffer.alloc(0);
  #head: { readonly status: number; readonly text: string } | undefined;
  #chunks: Buffer[] = [];
  #bodyBytes = 0;
  #bodyLeft = 0;

  constructor(port: number, { host = '127.0.0.1', countsOnly = false }: ConnectionOptions = {}) {
    this.#keepsBodies = !countsOnly;
    const buffer = Buffer.allocUnsafe(countsOnly ? READ_BYTES : 0);
    const onread = {
      buffer,
      callback: (size: number) => {
        this.#take(buffer.subarray(0, size));
        return true;
      },
    };
    this.socket = connect({ port, host, noDelay: true, allowHalfOpen: true, ...(countsOnly && { onread }) });
    this.socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.socket.on('error', () => {}); // a reset shows as the close that follows
    this.closed = new Promise((resolve) => {
      for (const event of ['end', 'close'])
        this.socket.once(event, () => {
          if (!this.isClosed) this.#end();
          resolve();
        });
    });
  }

  /** Rejects with a NobodyListens. */
  static async open(port: number, options: ConnectionOptions = {}): Promise<HttpConnection> {
    const connection = new HttpConnection(port, options);
    await Promise.race([once(connection.socket, 'connect'), connection.closed]).catch(() => {});
    if (connection.socket.connecting || connection.socket.pending) throw new NobodyListens('nobody listens');
    return connection;
  }

  /** Opens many at once, in groups that the queue of a listening socket takes. */
  static async openMany(port: number, count: number): Promise<HttpConnection[]> {
    const connections: HttpConnection[] = [];
    while (connections.length < count) {
      const group = Math.min(OPENED_AT_ONCE, count - connections.length);
      const opened = Array.from({ length: group }, () => HttpConnection.open(port));
      connections.push(...(await Promise.all(opened)));
    }
    return connections;
  }

  /** Sends bytes as they are (strings as latin1). */
  send(bytes: string | Uint8Array): void {
    if (typeof bytes === 'string') this.socket.write(bytes, 'latin1');
    else this.socket.write(bytes);
  }

  /** Sends a request; `answered` is called once, with its reply or the loss of the connection. */
  request(bytes: string | Uint8Array, answered: (reply: HttpReply | ConnectionLost) => void): void {
    this.#answered = answered;
    if (this.isClosed) this.#end();
    else this.send(bytes);
  }

  /**
   * Sends a request and resolves with its reply. Rejects with a ConnectionLost, which `lostAfterMs` without a reply is too, or when
   * nothing comes for long.
   */
  ask(
    bytes: string | Uint8Array,
    { isHead = false, lostAfterMs }: { readonly isHead?: boolean; readonly lostAfterMs?: number } = {},
  ): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const late =
        lostAfterMs === undefined ? new Error('no reply in time') : new ConnectionLost('no reply in time');
      const silence = setTimeout(() => reject(late), lostAfterMs ?? SILENCE_MS);
      this.isHead = isHead;
      this.request(bytes, (reply) => {
        clearTimeout(silence);
        if (reply instanceof ConnectionLost) return reject(reply);
        if (reply.closes) this.leave();
        resolve(reply);
      });
    });
  }

  /** Reads the first bytes that come and then no more, until `socket.resume()`. */
  restSoon(): void {
    this.socket.once('data', () => this.socket.pause());
  }

  /** Resolves once so many bytes came, or the connection has ended. */
  async received(bytes: number): Promise<void> {
    while (this.receivedBytes < bytes && !this.isClosed)
      await new Promise((resolve) => setTimeout(resolve, 2));
  }

  /** Bytes that make up no whole reply. */
  get rest(): string {
    const head = this.#head === undefined ? '' : `${this.#head.text}\r\n\r\n`;
    return head + Buffer.concat([...this.#chunks, this.#pending]).toString('latin1');
  }

  /** Goes away: with a FIN, or with a RST. */
  leave(how: 'close' | 'reset' = 'close'): void {
    this.isClosed = true;
    if (how === 'reset') this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.receivedBytes += chunk.length;
    if (this.start.length < START_LENGTH) this.start += chunk.toString('latin1');
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#head === undefined) {
        const from = this.#pending.length === 0 ? rest : Buffer.concat([this.#pending, rest]);
        const headEnd = from.indexOf(HEAD_END);
        if (headEnd < 0) {
          this.#pending = Buffer.from(from); // the chunk's memory may be read into again
          return;
        }
        this.#pending = Buffer.alloc(0);
        this.#readHead(from.toString('latin1', 0, headEnd));
        rest = from.subarray(headEnd + HEAD_END.length);
      } else {
        const body = rest.subarray(0, this.#bodyLeft);
        if (this.#keepsBodies) this.#chunks.push(body);
        this.#bodyBytes += body.length;
        this.#bodyLeft -= body.length;
        rest = rest.subarray(body.length);
      }
      if (this.#head !== undefined && this.#bodyLeft === 0) this.#reply(false);
    }
  }

  #readHead(text: string): void {
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
    const declared = /\r\ncontent-length: *(\d+)(?:\r\n|$)/i.exec(text)?.[1];
    const isBodiless = this.isHead || status < 200 || status === 204 || status === 304;
    this.#head = { status, text };
    this.#bodyBytes = 0;
    // replies that the library makes itself declare no length: their body ends with the connection
    this.#bodyLeft = isBodiless ? 0 : declared === undefined ? Number.POSITIVE_INFINITY : Number(declared);
  }

  #reply(closed: boolean): void {
    const { status, text: head } = this.#head!;
    const closes = closed || /\r\nconnection: *close(?:\r\n|$)/i.test(head);
    const body = Buffer.concat(this.#chunks);
    const reply = new HttpReply(status, head, body, this.#bodyBytes, closes);
    this.#head = undefined;
    this.#chunks = [];
    const answered = this.#answered;
    this.#answered = undefined;
    if (answered === undefined) this.replies.push(reply);
    else answered(reply);
  }

  #end(): void {
    this.isClosed = true;
    if (this.#head !== undefined && this.#bodyLeft === Number.POSITIVE_INFINITY) this.#reply(true);
    this.socket.destroy();
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(new ConnectionLost('the connection was closed before the reply'));
  }
}

/** Sends a request on a new connection. */
export async function askOnce(
  port: number,
  request: HttpRequest,
  options?: Parameters<HttpConnection['ask']>[1],
): Promise<HttpReply> {
  const connection = await HttpConnection.open(port);
  try {
    return await connection.ask(requestBytes(request), options);
  } finally {
    connection.leave();
  }
}

/** A connected socket that nobody reads, for tests that read it themselves. */
export async function openSocket(port: number, allowHalfOpen = false): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen });
  await once(socket, 'connect');
  return socket;
}

export interface Conversation {
  readonly replies: readonly { readonly status: number; readonly head: string; readonly body: string }[];
  /** The server closed the connection. */
  readonly closed: boolean;
  /** Bytes that make up no whole reply. */
  readonly rest: string;
}

export interface TalkOptions {
  /** Stop when so many replies are whole; without it, wait for the close, or with `probe` for none. */
  readonly replies?: number;
  /** Give up after this. */
  readonly silenceMs?: number;
  /** For what must stay silent: asks the same server on another connection, twice, before it stops. */
  readonly probe?: () => Promise<unknown>;
  /** The replies have no body: the requests were HEAD. */
  readonly head?: boolean;
  /** True if each piece is a request that is sent when the one before is answered. */
  readonly inTurn?: boolean;
}

/** A server with one thread has read all that came before the first probe when it answers the second. */
const PROBES = 2;

/** Sends bytes exactly as given, each piece in a packet of its own, and reads what comes back. */
export async function talk(
  port: number,
  pieces: string | readonly string[],
  { replies, silenceMs, probe, head = false, inTurn = false }: TalkOptions = {},
): Promise<Conversation> {
  const connection = await HttpConnection.open(port);
  connection.isHead = head;
  for (const [i, piece] of (typeof pieces === 'string' ? [pieces] : pieces).entries()) {
    while (inTurn && connection.replies.length < i && !connection.isClosed)
      await new Promise((resolve) => setTimeout(resolve, 2));
    if (connection.isClosed) break;
    connection.send(piece);
    if (!inTurn) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const wanted = replies ?? (probe === undefined ? Number.POSITIVE_INFINITY : 0);
  const end = silenceMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + silenceMs;
  while (connection.replies.length < wanted && !connection.isClosed && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 2));
  for (let i = 0; probe !== undefined && i < PROBES; i++) await probe();
  const { isClosed: closed, rest } = connection;
  const received = connection.replies.map((reply) => ({
    status: reply.status,
    head: reply.head,
    body: reply.body.toString('latin1'),
  }));
  connection.leave();
  return { replies: received, closed, rest };
}

/** Statuses of replies that must not have a body (the Fetch standard's "null body status"). */
const BODILESS: readonly number[] = [204, 205, 304];

/** The library closes idle connections after 10 s; one that is as old as this is not used again. */
const IDLE_MAX_MS = 5_000;

const keptAgents = () => ({
  'http:': new HttpAgent({ keepAlive: true, timeout: IDLE_MAX_MS }),
  'https:': new HttpsAgent({ keepAlive: true, timeout: IDLE_MAX_MS }),
});
let agents = keptAgents();
let askedAtMs = 0;

/**
 * Returns the agent that keeps connections: none if the other side may have closed them while this process was busy.
 */
function agentFor(url: URL, headers: Headers): HttpAgent | false {
  const now = performance.now();
  if (now - askedAtMs > IDLE_MAX_MS) agents = keptAgents();
  askedAtMs = now;
  // node:http would keep a connection that its request said to close, unless the reply says so too
  return headers.get('connection') === 'close' ? false : agents[url.protocol as keyof typeof agents];
}

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/**
 * Sends a request on a connection of its own and resolves with the head of the reply. Nothing of the body is read before
 * somebody does; `destroy` of the reply cuts the connection.
 */
export async function fetchHead(
  url: string | URL,
  { body = null, method = 'GET', headers }: RequestInit = {},
  options: RequestOptions = { agent: false },
): Promise<IncomingMessage> {
  const address = new URL(url);
  const content = new Response(body);
  const bytes = Buffer.from(await content.arrayBuffer());
  const fields = new Headers(content.headers);
  for (const [name, value] of new Headers(headers)) fields.set(name, value);
  if (body !== null) fields.set('content-length', String(bytes.length));
  const send = address.protocol === 'https:' ? httpsRequest : httpRequest;
  const asked = send(address, { ...options, method, headers: Object.fromEntries(fields) });
  asked.end(bytes);
  const [reply] = (await once(asked, 'response')) as [IncomingMessage];
  return reply;
}

/**
 * Asks as `fetch` does, without following redirects, and resolves once the body has come whole. By node:http, for the client
 * behind the `fetch` of Node 22.23 (undici 6.28) throws where nobody can catch it: an assertion when a connection with an unread
 * body of 64 KiB is closed (https://github.com/nodejs/undici/issues/5360), and a TypeError from a timer minutes after its server
 * has stopped.
 */
export async function fetchWhole(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers({ accept: '*/*', 'accept-encoding': 'gzip, deflate' });
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
  const agent = agentFor(new URL(url), headers);
  const reply = await fetchHead(url, { ...init, headers }, { agent });
  const whole = await buffer(reply);
  const fields = new Headers();
  for (let i = 0; i < reply.rawHeaders.length; i += 2)
    fields.append(reply.rawHeaders[i], reply.rawHeaders[i + 1]);
  const decode = whole.length === 0 ? undefined : DECODERS[fields.get('content-encoding') ?? ''];
  const status = reply.statusCode!;
  return new Response(
    BODILESS.includes(status) ? null : ((decode?.(whole) ?? whole) as Buffer<ArrayBuffer>),
    {
      status,
      statusText: reply.statusMessage ?? '',
      headers: fields,
    },
  );
}
