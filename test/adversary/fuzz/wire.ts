import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One request, byte for byte: strings are written as latin1, so a character is a byte. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Beside Host, Authorization and Content-Length. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | null;
}

export interface WireReply {
  readonly status: number;
  /** By name in lower case; values of a repeated field are joined by `, `. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  readonly closed: boolean;
}

const SILENCE_MS = 30_000;
/** The library closes idle connections after 10 s; one that is as old as this is not used again. */
const IDLE_MAX_MS = 5_000;

/** One connection that is kept for the next request. `fetch` would repair what a fuzzer sends. */
export class Wire {
  readonly #port: number;
  #socket: Socket | undefined;
  #usedAtMs = 0;

  constructor(port: number) {
    this.#port = port;
  }

  async send(request: WireRequest): Promise<WireReply> {
    const socket = await this.#open();
    const reply = reading(socket, request.method === 'HEAD');
    socket.write(bytesOf(request));
    const got = await reply;
    this.#usedAtMs = performance.now();
    if (got.closed) {
      socket.destroy();
      this.#socket = undefined;
    }
    return got;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #open(): Promise<Socket> {
    const kept = this.#socket;
    if (kept !== undefined && !kept.destroyed && performance.now() - this.#usedAtMs < IDLE_MAX_MS)
      return kept;
    kept?.destroy();
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => {}); // a reset shows as the close that follows
    await once(socket, 'connect');
    this.#socket = socket;
    return socket;
  }
}

/** The request as it goes over the wire. */
export function bytesOf({ method, target, headers, body }: WireRequest): Buffer {
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = body === null ? '' : `Content-Length: ${body.length}\r\n`;
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: fuzz\r\n${fields}${length}\r\n`, 'latin1');
  return body === null ? head : Buffer.concat([head, body]);
}

/** Resolves with the next whole reply; rejects when none comes. */
function reading(socket: Socket, isHead: boolean): Promise<WireReply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const end = (act: () => void) => {
      clearTimeout(timer);
      socket.off('data', take);
      socket.off('close', closed);
      act();
    };
    const timer = setTimeout(() => end(() => reject(new Error('no reply in time'))), SILENCE_MS);
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      const reply = parsed(Buffer.concat(chunks), isHead, false);
      if (reply !== undefined) end(() => resolve(reply));
    };
    const closed = () => {
      const reply = parsed(Buffer.concat(chunks), isHead, true);
      if (reply === undefined) end(() => reject(new Error('the connection was closed without a reply')));
      else end(() => resolve(reply));
    };
    socket.on('data', take);
    socket.once('close', closed);
  });
}

/** Undefined when it is not whole. What the library answers by itself has no length and ends with the connection. */
function parsed(bytes: Buffer, isHead: boolean, ended: boolean): WireReply | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [line, ...fields] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
  const headers = new Map<string, string>();
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  const bodyAt = headEnd + 4;
  const declared = headers.get('content-length');
  const has =
    isHead || status === 204 || status === 304 ? 0 : declared === undefined ? null : Number(declared);
  if (has === null && !ended) return undefined;
  const end = has === null ? bytes.length : bodyAt + has;
  if (bytes.length < end) return undefined;
  const closed = ended || headers.get('connection')?.toLowerCase() === 'close';
  return { status, headers, body: bytes.subarray(bodyAt, end), closed };
}
