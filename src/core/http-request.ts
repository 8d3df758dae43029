import type { IncomingMessage } from 'node:http';
import { wipe } from './bytes.ts';

/**
 * Sends every HTTP request of the service and of its commands. It uses node:http and not the fetch of Node 22, with
 * which a server can kill the process: it ends the connection after 64 KiB of a body that nobody is reading
 * (https://github.com/nodejs/undici/issues/5360). This file begins to read a body in the turn in which its head
 * arrives.
 */

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** An http or https URL. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The largest body of a reply, in bytes; a larger one rejects with ReplyTooLong. */
  readonly replyBytesMax: number;
  readonly signal: AbortSignal;
}

/** A complete reply. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The reply has more bytes than the caller allows, or comes in too many pieces. */
export class ReplyTooLong extends Error {
  override name = 'ReplyTooLong';
}

/**
 * A reply may come in `PIECES_MAX` pieces, and one more for each `PIECE_BYTES_MIN` bytes. Each piece costs a call:
 * without the bound, a server that sends 64 MiB in chunks of one byte would occupy a thread for a minute.
 */
const PIECES_MAX = 131_072;
const PIECE_BYTES_MIN = 64;

const FIELDS = {
  accept: '*/*',
  'accept-encoding': 'identity',
  'user-agent': 'quantum-random-number-service',
};

/**
 * Sends the request and resolves with the reply, whatever its status. Redirects are not followed, so that a secret goes
 * only to the named host. Rejects with a TypeError when the request is not valid, with ReplyTooLong, with the signal's
 * reason when it is aborted, and with the connection's error when that fails or breaks off.
 *
 * Each request has its own connection. A server may close a kept connection at the moment when it is used again, and
 * then nobody knows whether it carried out the request; a source charges even for a GET.
 */
export async function sendRequest(request: HttpRequest): Promise<HttpReply> {
  const { method, url, headers, body, replyBytesMax, signal } = request;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // An import of node:http would load all of undici too, 15 ms in each thread at every start (Node 22).
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
    // A reply with status 101 ends in this way, without an error.
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
 * Copies the first `size` bytes to new memory of that size and erases the old. Pieces are copied rather than kept,
 * because a piece of one byte takes 450 bytes of memory.
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
