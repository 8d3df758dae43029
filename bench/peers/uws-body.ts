import type { HttpResponse } from 'uWebSockets.js';

/** Reads a request's body, then calls `use`; a client that goes away is forgotten. */
export function readBody(response: HttpResponse, use: (body: Buffer) => void): void {
  const pieces: Buffer[] = [];
  response.onAborted(() => {});
  response.onData((chunk, isLast) => {
    pieces.push(Buffer.from(new Uint8Array(chunk))); // its memory is gone after this call
    if (isLast) use(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  });
}
