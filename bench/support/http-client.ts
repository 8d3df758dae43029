import { connect, type Socket } from 'node:net';

/** What reads take at most at once: large answers come in few pieces. */
const READ_BYTES = 256 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

/** Called when an answer is whole, with its status and the size of its body. */
export type Answered = (status: number, bodyBytes: number) => void;

/** The bytes of an HTTP/1.1 request. */
export function requestBytes(request: {
  readonly origin: string;
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}): Buffer {
  const fields: Record<string, string> = { host: new URL(request.origin).host, ...request.headers };
  if (request.body !== undefined) fields['content-length'] = String(Buffer.byteLength(request.body));
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `${request.method} ${request.path} HTTP/1.1\r\n${lines.join('')}\r\n${request.body ?? ''}`,
  );
}

/**
 * One connection that asks again and again and reads no more of an answer than its end: a client that costs little
 * beside the server it measures. One request at a time, HTTP/1.1 with Content-Length, keep-alive.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #answered: Answered | undefined;
  /** Bytes of a head that did not come in one piece. */
  #head: Buffer | undefined;
  #status = 0;
  #bodyBytes = 0;
  #bodyLeft = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** `lost` is called when the connection breaks or what comes is not HTTP; then it answers no more. */
  static open(port: number, host: string, lost: (error: Error) => void): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      let connection: HttpConnection | undefined;
      const socket = connect({
        port,
        host,
        onread: {
          buffer: Buffer.allocUnsafe(READ_BYTES),
          callback: (size, buffer) => {
            try {
              connection!.#take(Buffer.from(buffer.buffer, buffer.byteOffset, size));
            } catch (error) {
              socket.destroy(error as Error);
            }
            return true;
          },
        },
      });
      socket.setNoDelay(true);
      socket.once('connect', () => {
        connection = new HttpConnection(socket);
        resolve(connection);
      });
      socket.once('error', (error) => {
        if (connection === undefined) reject(error);
        else lost(error);
      });
      socket.once('end', () => lost(new Error('the server closed the connection')));
    });
  }

  send(request: Uint8Array, answered: Answered): void {
    this.#answered = answered;
    this.#socket.write(request);
  }

  close(): void {
    this.#answered = undefined;
    this.#socket.removeAllListeners('error');
    this.#socket.on('error', () => {}); // it is given up
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    let body = chunk;
    if (this.#bodyLeft === 0) {
      const start = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
      const headEnd = start.indexOf(HEAD_END);
      if (headEnd < 0) {
        this.#head = Buffer.from(start); // the chunk's memory is read into again
        return;
      }
      this.#head = undefined;
      this.#readHead(start.toString('latin1', 0, headEnd + 2));
      body = start.subarray(headEnd + HEAD_END.length);
    }
    this.#bodyLeft -= body.length;
    if (this.#bodyLeft < 0) throw new Error('the server sent more than it announced');
    if (this.#bodyLeft > 0) return;
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(this.#status, this.#bodyBytes);
  }

  #readHead(head: string): void {
    const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head);
    if (!head.startsWith('HTTP/1.1 ') || length === null)
      throw new Error(`not an answer we can read: ${head}`);
    this.#status = Number(head.slice(9, 12));
    this.#bodyBytes = Number(length[1]);
    this.#bodyLeft = this.#bodyBytes;
  }
}
