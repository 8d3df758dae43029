import type { HttpResponse } from 'uWebSockets.js';

/** Reads a request's body, then calls `use`; does nothing when the client disconnects. */
export function readBody(response: HttpResponse, use: (body: Buffer) => void): void {
  const pieces: Buffer[] = [];
  response.onAborted(() => {});
  response.onData((chunk, isLast) => {
    pieces.push(Buffer.from(new Uint8Array(chunk))); // a copy, because the chunk's memory is freed after this call
    if (isLast) use(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  });
}
