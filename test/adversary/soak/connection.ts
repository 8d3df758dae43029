import { connect, type Socket } from 'node:net';

export interface SoakReply {
  readonly status: number;
  /** The head as it came, with CRLF. */
  readonly head: string;
  readonly body: Buffer<ArrayBuffer>;
}

/** The connection ended before the answer was there: whoever asked cannot know what became of the request. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

const HEAD_END = Buffer.from('\r\n\r\n');

/** One keep-alive connection, one request at a time, whole answers: HTTP/1.1 with Content-Length and nothing else. */
export class SoakConnection {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Of the answer under way: its head, and how long the whole is. */
  #head: string | undefined;
  #wholeBytes = 0;
  #waiting: { resolve: (reply: SoakReply) => void; reject: (error: Error) => void } | undefined;
  /** It is closed, or will be with its last answer. */
  ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    for (const event of ['error', 'end', 'close']) socket.on(event, () => this.close());
  }

  /** Rejects with a ConnectionLost when nobody listens. */
  static open(port: number): Promise<SoakConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', () => reject(new ConnectionLost('nobody listens')));
      socket.once('connect', () => resolve(new SoakConnection(socket)));
    });
  }

  ask(request: Uint8Array): Promise<SoakReply> {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new ConnectionLost('the connection is closed'));
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.ended = true;
    this.#socket.destroy();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(new ConnectionLost('the connection was closed before the answer'));
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#head === undefined && !this.#readHead()) return;
    if (this.#bytes < this.#wholeBytes) return;
    const whole = Buffer.concat(this.#chunks);
    const head = this.#head!;
    const waiting = this.#waiting;
    this.#chunks = [];
    this.#bytes = 0;
    this.#head = undefined;
    this.#waiting = undefined;
    if (/\r\nconnection: *close\r\n/i.test(head)) this.ended = true;
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, body: whole.subarray(head.length + 2) });
  }

  #readHead(): boolean {
    const start = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const end = start.indexOf(HEAD_END);
    if (end < 0) return false;
    this.#chunks = [start];
    this.#head = start.toString('latin1', 0, end + 2);
    const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(this.#head);
    this.#wholeBytes = end + HEAD_END.length + Number(length?.[1] ?? 0);
    return true;
  }
}
