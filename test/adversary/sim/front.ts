import type { ReplyHead, StartEngine, Wire } from '../../../src/http/engine.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import { type Front, type FrontOptions, startFront } from '../../../src/http/front.ts';
import type { NativeRequest } from '../../../src/http/request-head.ts';

/** A client's request. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  /** The query without `?`. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface WireReply {
  readonly status: number;
  /** Fields with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The front on an engine without a socket: each request has its own connection, which is the client's callback. */
export class SimFront {
  #engine: Parameters<StartEngine>[0] | undefined;
  #received: Exchange | undefined;

  listen(options: FrontOptions): Promise<Front> {
    return startFront({
      ...options,
      handle: (exchange, refused, isLate) => {
        this.#received = exchange;
        options.handle(exchange, refused, isLate);
      },
      engine: async (engine) => {
        this.#engine = engine;
        return { port: 3000, stopListening() {}, close() {} };
      },
    });
  }

  /** Passes the request on as the library would; `replied` may be called before this returns. */
  receive(request: WireRequest, connection: Connection): Exchange {
    const engine = this.#engine!;
    const closable = { close: () => connection.cut() };
    connection.opened(request.body, (change) => engine.connectionChanged(closable, change));
    engine.receive(connection, nativeRequest(request), request.method);
    return this.#received!;
  }
}

/** The client's end of one request. */
export class Connection implements Wire {
  readonly #replied: (reply: WireReply) => void;
  readonly #lost: () => void;
  readonly isFull = false;
  readonly isGone = false;
  readonly isFromLoopback = true;
  #begun = new Uint8Array(0);
  #gone: (() => void) | undefined;
  #isOver = false;
  #body = new Uint8Array(0);
  #changed: (change: number) => void = () => {};

  /** `lost` tells the client that the service has cut the connection of a request without a reply. */
  constructor(replied: (reply: WireReply) => void, lost: () => void) {
    this.#replied = replied;
    this.#lost = lost;
  }

  opened(body: Uint8Array, changed: (change: number) => void): void {
    this.#body = body.slice();
    this.#changed = changed;
    changed(1);
  }

  /** Disconnects the client. */
  hangUp(): void {
    if (this.#isOver) return;
    this.#end();
    this.#gone?.();
  }

  send(head: Uint8Array, body: Uint8Array): void {
    this.#finish(head, body.slice());
  }

  begin({ head }: ReplyHead): void {
    this.#begun = head.slice();
  }

  offer(body: Uint8Array): number {
    this.#finish(this.#begun, body.slice());
    return body.length;
  }

  /** Ends a reply without a body: the simulation asks for no stream. */
  end(): void {
    this.#finish(this.#begun, new Uint8Array(0));
  }

  onBody(take: (piece: Uint8Array, isLast: boolean) => void): void {
    take(this.#body, true);
  }

  onGone(gone: () => void): void {
    this.#gone = gone;
  }

  cut(): void {
    if (!this.#isOver) this.#lost();
    this.hangUp();
  }

  #finish(head: Uint8Array, body: Uint8Array): void {
    if (this.#isOver) throw new Error('a reply after the end of its connection');
    this.#end();
    const [status, ...lines] = Buffer.from(head).toString('latin1').split('\r\n');
    const fields = lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
    this.#replied({ status: Number(status.slice(0, 3)), headers: Object.fromEntries(fields), body });
  }

  #end(): void {
    this.#isOver = true;
    this.#changed(-1);
  }
}

function nativeRequest({ path, query, headers, body }: WireRequest): NativeRequest {
  const all = { host: 'sim', ...headers, ...(body.length > 0 ? { 'content-length': `${body.length}` } : {}) };
  return {
    getUrl: () => path,
    getQuery: () => (query === '' ? undefined : query),
    forEach: (each) => {
      for (const [name, value] of Object.entries(all)) each(name, value);
    },
  };
}
