import type { IncomingMessage } from 'node:http';
import { wipe } from './bytes.ts';

/**
 * Every HTTP request that the service and its commands send. It is made of node:http and not of fetch: while a body is
 * not being read, a server that ends the connection after 64 KiB kills the process through the fetch of Node 22
 * (https://github.com/nodejs/undici/issues/5360). The body is read here from the turn in which its head arrives.
 */

/** One request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** http or https. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The reply may have so many bytes; a longer one is given up. */
  readonly replyBytesMax: number;
  readonly signal: AbortSignal;
}

/** A reply, whole and verbatim. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The reply has more bytes than the caller takes, or comes in too many pieces. */
export class ReplyTooLong extends Error {
  override name = 'ReplyTooLong';
}

/**
 * A reply may come in so many pieces, and in one more for each `PIECE_BYTES_MIN`: each costs a call, so a server that sends 64 MiB
 * in chunks of one byte would keep a thread for a minute.
 */
const PIECES_MAX = 131_072;
const PIECE_BYTES_MIN = 64;

const FIELDS = {
  accept: '*/*',
  'accept-encoding': 'identity',
  'user-agent': 'quantum-random-number-service',
};

/**
 * Sends the request and resolves with the reply, whatever its status: a redirect is not followed, so that a secret goes
 * to the named host alone. Rejects with a TypeError when the request cannot be made, with ReplyTooLong, with the
 * signal's reason once it is aborted, and with the reason of the connection that failed or broke off.
 *
 * Each request has a connection of its own. A kept one may be closed by the server at the moment when it is used, and
 * nobody can say then whether the request was carried out; a source charges even for a GET.
 */
export async function sendRequest(request: HttpRequest): Promise<HttpReply> {
  const { method, url, headers, body, replyBytesMax, signal } = request;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // An import of node:http loads all of undici with it, 15 ms in each thread of every start (Node 22).
    const over = new URL(url).protocol === 'https:' ? 'node:https' : 'node:http';
    const sent = process.getBuiltinModule(over).request(url, {
      method,
      headers: { ...FIELDS, ...headers },
      signal,
    });
    sent.shouldKeepAlive = false;
    const fail = (error: Error) => {
      reject(signal.aborted ? signal.reason : error);
      sent.destroy();
    };
    sent.on('error', fail);
    // A reply of status 101 ends so, without an error.
    sent.on('close', () => fail(new Error('the connection ended without a whole reply')));
    sent.on('response', (response) => {
      const encoding = response.headers['content-encoding'] ?? 'identity';
      if (encoding !== 'identity')
        fail(new Error(`the reply is encoded as ${JSON.stringify(encoding)}, which was not asked for`));
      let bytes = new Uint8Array(0);
      let length = 0;
      let pieces = 0;
      response.on('error', fail);
      response.on('data', (piece: Uint8Array) => {
        const start = length;
        length += piece.length;
        if (length > replyBytesMax) {
          fail(new ReplyTooLong(`a reply of more than ${replyBytesMax} bytes`));
          return;
        }
        if (++pieces > PIECES_MAX + length / PIECE_BYTES_MIN) {
          fail(new ReplyTooLong(`a reply of ${pieces} pieces, of few bytes each`));
          return;
        }
        if (length > bytes.length) bytes = moved(bytes, Math.min(replyBytesMax, 2 * length));
        bytes.set(piece, start);
      });
      response.on('end', () => {
        const { statusCode: status = 0 } = response;
        resolve({ status, headers: headersOf(response), body: moved(bytes, length) });
      });
    });
    sent.end(body);
  });
}

/**
 * As many of the bytes as fit into so many, and erases those given. Pieces are not kept as they come: in chunks of one byte,
 * each byte of a reply would take 450 of memory.
 */
function moved(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const other = new Uint8Array(size);
  other.set(bytes.subarray(0, size));
  wipe(bytes);
  return other;
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}
