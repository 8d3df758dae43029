import { ApiError } from '../../../src/core/errors.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import { Budget } from '../../../src/fair/budget.ts';
import { DeadlineQueue } from '../../../src/http/deadline-queue.ts';
import type { NativeResponse } from '../../../src/http/engine.ts';
import { Exchange, type ExchangeHost } from '../../../src/http/exchange.ts';
import type { Front, FrontOptions } from '../../../src/http/front.ts';
import type { NativeRequest } from '../../../src/http/request-head.ts';

import { TurnClock } from '../../../src/http/turn-clock.ts';

/** What a client sends. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface WireReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const SWEEP_MS = 250;
const DRAIN_POLL_MS = 10;

/** A front without a socket: the real exchange over a connection that is the client's own callback. */
export class SimFront implements Front, ExchangeHost {
  readonly port = 3000;
  readonly openConnections = 0;
  draining = false;
  nowMs: number;
  heldBytes = 0;
  readonly memory: Budget;
  readonly turns: TurnClock;
  readonly waiting = new DeadlineQueue<Exchange>(LIMITS.answerDeadlineMs);
  readonly sending = new DeadlineQueue<Exchange>(LIMITS.replyDeadlineMs);
  readonly #options: FrontOptions;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.memory = options.memory ?? new Budget(LIMITS.largeReplyBytesMax);
    this.turns = new TurnClock(options.clock);
    this.nowMs = options.clock.monotonicMs();
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  get waitingRequests(): number {
    return this.waiting.size;
  }

  get sendingReplies(): number {
    return this.sending.size;
  }

  /** Hands the request over as the library would; `replied` may be called before this returns. */
  receive(request: WireRequest, connection: Connection): Exchange {
    const exchange = new Exchange(this, connection, request.method, nativeRequest(request));
    try {
      exchange.body = request.body;
      const refused = exchange.refusal(LIMITS.requestHeadBytesMax);
      if (refused === undefined) this.#options.handle(exchange);
      else this.#refuse(exchange, refused);
    } finally {
      exchange.leaveHandler();
    }
    return exchange;
  }

  fault(_exchange: Exchange, error: unknown): void {
    throw error;
  }

  async drain(deadlineMs: number): Promise<void> {
    this.draining = true;
    const { clock } = this.#options;
    const start = clock.monotonicMs();
    while (this.waiting.size > 0 && clock.monotonicMs() - start < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    }
    clearInterval(this.#sweeper);
  }

  #refuse(exchange: Exchange, error: ApiError): void {
    exchange.closeAfterReply();
    this.#options.fail?.(exchange, error);
  }

  #sweep(): void {
    this.nowMs = this.#options.clock.monotonicMs();
    for (let late = this.waiting.overdue(this.nowMs); late; late = this.waiting.overdue(this.nowMs)) {
      this.#refuse(late, new ApiError('overloaded', { message: 'not answered in time', retryAfterS: 1 }));
    }
  }
}

/** The client's end of one request. */
export class Connection implements NativeResponse {
  readonly #replied: (reply: WireReply) => void;
  #head = '';
  #abort: (() => void) | undefined;
  #isOver = false;

  constructor(replied: (reply: WireReply) => void) {
    this.#replied = replied;
  }

  /** The client goes away. */
  hangUp(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abort?.();
  }

  writeStatus(head: Uint8Array): void {
    this.#head = Buffer.from(head).toString('latin1');
  }

  writeHeader(name: string, value: string): void {
    this.#head += `\r\n${name}: ${value}`;
  }

  end(body: Uint8Array): void {
    this.#finish(body.slice());
  }

  endWithoutBody(): void {
    this.#finish(new Uint8Array(0));
  }

  write(): boolean {
    throw new Error('the simulation asks for no stream');
  }

  tryEnd(body: Uint8Array): [boolean, boolean] {
    this.#finish(body.slice());
    return [true, true];
  }

  getRemoteAddress(): ArrayBuffer {
    return Uint8Array.of(127, 0, 0, 1).buffer;
  }
  getWriteOffset(): number {
    return 0;
  }

  onWritable(): void {}

  onAborted(handler: () => void): void {
    this.#abort = handler;
  }

  onData(): void {}

  pause(): void {}

  cork(write: () => void): void {
    write();
  }

  close(): void {
    this.hangUp();
  }

  #finish(body: Uint8Array): void {
    if (this.#isOver) throw new Error('a reply after the end of its connection');
    this.#isOver = true;
    const [status, ...lines] = this.#head.split('\r\n');
    const fields = lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
    this.#replied({ status: Number(status.slice(0, 3)), headers: Object.fromEntries(fields), body });
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
