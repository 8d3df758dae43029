import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One reply as it came over the wire. */
export interface RawReply {
  readonly status: number;
  /** Status line and fields, without the empty line. */
  readonly head: string;
  readonly body: string;
}

export interface Conversation {
  readonly replies: readonly RawReply[];
  /** The server closed the connection. */
  readonly closed: boolean;
  /** Bytes that make up no whole reply. */
  readonly rest: string;
}

export interface TalkOptions {
  /** Stop when so many replies are whole; without it, wait for the close. */
  readonly replies?: number;
  /** Stop after this, whatever came: for what must stay silent. */
  readonly silenceMs?: number;
  /** The replies have no body: the requests were HEAD. */
  readonly head?: boolean;
}

/**
 * Sends bytes exactly as given (strings as latin1), each piece in a packet of its own, and reads what comes
 * back. `waitFor` says, between two pieces, what to wait for: the server having answered that many replies.
 */
export async function talk(
  port: number,
  pieces: string | readonly string[],
  options: TalkOptions = {},
): Promise<Conversation> {
  const socket = await open(port);
  const received: Buffer[] = [];
  let closed = false;
  const conversation = (): Conversation => {
    const text = Buffer.concat(received).toString('latin1');
    return { ...splitReplies(text, options.head === true), closed };
  };
  const done = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      received.push(chunk);
      if (options.replies !== undefined && conversation().replies.length >= options.replies) resolve();
    });
    socket.on('error', () => {}); // a reset shows as the close that follows
    socket.on('close', () => {
      closed = true;
      resolve();
    });
    if (options.silenceMs !== undefined) setTimeout(resolve, options.silenceMs);
  });
  for (const piece of typeof pieces === 'string' ? [pieces] : pieces) {
    if (socket.destroyed) break;
    socket.write(Buffer.from(piece, 'latin1'));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await done;
  socket.destroy();
  return conversation();
}

/** A connected socket without Nagle's delay. */
export async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

function splitReplies(text: string, bodiless: boolean): { replies: RawReply[]; rest: string } {
  const replies: RawReply[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return { replies, rest };
    const head = rest.slice(0, headEnd);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const declared = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    // replies that the library makes itself declare no length and close: all that is left is their body
    const left = rest.length - headEnd - 4;
    const length =
      bodiless || status < 200 || status === 204 ? 0 : declared === undefined ? left : Number(declared);
    if (left < length) return { replies, rest };
    replies.push({ status, head, body: rest.slice(headEnd + 4, headEnd + 4 + length) });
    rest = rest.slice(headEnd + 4 + length);
  }
}
