import type { MessagePort } from 'node:worker_threads';
import { ApiError } from '../core/errors.ts';
import { type PackedError, packError, unpackError } from '../ledger/packed-error.ts';

/**
 * Calls between threads, the only way in which threads talk. Each end of a MessagePort may serve an object and call the
 * methods of the object that the other end serves. A call is one message there and one back. The compiler checks the
 * interface that both ends share, so a method is declared once and needs no forwarding code.
 */

type Method = (...args: never[]) => unknown;
type ArgumentsOf<M> = M extends (...args: infer A) => unknown ? A : never;

export interface LinkOptions<Called, Served> {
  /** Methods of the other end that return nothing: no answer is sent, and the caller does not wait. All others return a promise. */
  readonly told?: readonly (keyof Called)[];
  /** The object whose methods the other end may call. */
  readonly serve?: Served;
  /** Runs a call to `serve`; without it calls run at once. */
  readonly schedule?: (run: () => Promise<void>) => void;
  /** Returns the buffers of a result that move to the caller instead of being copied. */
  readonly movesOf?: (result: unknown) => ArrayBuffer[];
  /** Functions that run with the arguments of a served call when it is over, e.g. to erase secrets. */
  readonly after?: { readonly [K in keyof Served]?: (...args: ArgumentsOf<Served[K]>) => void };
  /** Functions that replace the arguments of a call before it is sent, and name the buffers that move with them. */
  readonly hand?: {
    readonly [K in keyof Called]?: (...args: ArgumentsOf<Called[K]>) => {
      readonly args: ArgumentsOf<Called[K]>;
      readonly moves: ArrayBuffer[];
    };
  };
  /**
   * Calls of all methods together that may wait for their answer; one more is rejected with `overloaded`. Each single method
   * has a bound in any case, so that many calls of one method do not block the others.
   */
  readonly outstandingMax?: number;
  /** Makes the error for calls that can get no answer because the port is closed. */
  readonly closedError?: (why: string) => Error;
}

/** The messages on the port. A call with id 0 gets no answer. */
type Message =
  | { readonly call: number; readonly method: string; readonly args: readonly unknown[] }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: PackedError };

interface Waiting {
  readonly method: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Bound on the calls of one method that wait for their answer. */
const OUTSTANDING_MAX = 4_096;
const NO_ANSWER = 0;

/** One end of a port. The other end constructs one too, with the type arguments exchanged. */
export class Link<Called extends object, Served = object> {
  /** The object at the other end. */
  readonly calls: Called;
  readonly #port: MessagePort;
  readonly #options: LinkOptions<Called, Served>;
  readonly #waiting = new Map<number, Waiting>();
  /** The number of waiting calls of each method. */
  readonly #outstanding = new Map<string, number>();
  #nextId = NO_ANSWER + 1;
  #closed = false;
  #announceIdle: (() => void) | undefined;

  constructor(port: MessagePort, options: LinkOptions<Called, Served> = {}) {
    this.#port = port;
    this.#options = options;
    const told: readonly PropertyKey[] = options.told ?? [];
    this.calls = proxyOf((method) =>
      told.includes(method)
        ? (...args) => this.#send(NO_ANSWER, method, args)
        : (...args) => this.#call(method, args),
    );
    port.on('message', (message: Message) => this.#receive(message));
    port.on('close', () => this.#onClose());
  }

  /** Waits for the answers to its calls, then closes the port. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => (this.#announceIdle = resolve));
    this.#port.close();
  }

  #call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#closedError('the connection to it is closed'));
    const outstanding = this.#outstanding.get(method) ?? 0;
    const isFull = this.#waiting.size >= (this.#options.outstandingMax ?? Number.POSITIVE_INFINITY);
    if (isFull || outstanding >= OUTSTANDING_MAX) {
      return Promise.reject(new ApiError('overloaded', { retryAfterS: 1 }));
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = this.#nextId++;
    this.#send(id, method, args);
    this.#waiting.set(id, { method, resolve, reject });
    this.#outstanding.set(method, outstanding + 1);
    return promise;
  }

  #send(call: number, method: string, given: readonly unknown[]): void {
    const hand = this.#options.hand?.[method as keyof Called] as
      | ((...args: readonly unknown[]) => { args: readonly unknown[]; moves: ArrayBuffer[] })
      | undefined;
    const { args, moves } = hand === undefined ? { args: given, moves: [] } : hand(...given);
    this.#port.postMessage({ call, method, args } satisfies Message, moves);
  }

  #receive(message: Message): void {
    if ('call' in message) this.#serve(message.call, message.method, message.args);
    else this.#settle(message);
  }

  #settle(answer: Extract<Message, { answer: number }>): void {
    const waiting = this.#waiting.get(answer.answer);
    if (waiting === undefined) return; // rejected before, when the port closed
    this.#waiting.delete(answer.answer);
    this.#outstanding.set(waiting.method, this.#outstanding.get(waiting.method)! - 1);
    if ('error' in answer) waiting.reject(unpackError(answer.error));
    else waiting.resolve(answer.value);
    if (this.#waiting.size === 0) this.#announceIdle?.();
  }

  #serve(id: number, method: string, args: readonly unknown[]): void {
    const { serve, schedule } = this.#options;
    // the compiler has checked name and arguments at the caller
    const target = serve as Readonly<Record<string, Method>>;
    const run = () => target[method](...(args as never[]));
    if (id === NO_ANSWER) {
      run(); // a throw ends this thread: nobody waits for an answer that could carry it
      this.#after(method, args);
      return;
    }
    const answer = () => this.#answer(id, method, args, run);
    if (schedule === undefined) void answer();
    else schedule(answer);
  }

  async #answer(id: number, method: string, args: readonly unknown[], run: () => unknown): Promise<void> {
    try {
      const value = await run();
      this.#port.postMessage({ answer: id, value } satisfies Message, this.#options.movesOf?.(value) ?? []);
    } catch (error) {
      this.#port.postMessage({ answer: id, error: packError(error) } satisfies Message);
    } finally {
      this.#after(method, args);
    }
  }

  #after(method: string, args: readonly unknown[]): void {
    const after = this.#options.after?.[method as keyof Served] as
      | ((...args: readonly unknown[]) => void)
      | undefined;
    after?.(...args);
  }

  #onClose(): void {
    const error = this.#closedError('the thread is gone');
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#outstanding.clear();
    this.#announceIdle?.();
  }

  #closedError(why: string): Error {
    return this.#options.closedError?.(why) ?? new Error(`no answer from another thread: ${why}`);
  }
}

/**
 * Runs one piece of work in each turn of the event loop, so that timers, other ports and group commits get their turn even
 * if the queue never empties. The bounds on outstanding calls bound the queue.
 */
export class OneEachTurn {
  readonly #queue: (() => Promise<void>)[] = [];
  #running = false;

  add(run: () => Promise<void>): void {
    this.#queue.push(run);
    if (this.#running) return;
    this.#running = true;
    setImmediate(() => this.#next());
  }

  async #next(): Promise<void> {
    const run = this.#queue.shift();
    if (run !== undefined) await run();
    if (this.#queue.length > 0) setImmediate(() => this.#next());
    else this.#running = false;
  }
}

/** Returns an object that makes each method at its first use. It has no `then`, so that `await` does not take it for a promise. */
function proxyOf<T extends object>(methodOf: (name: string) => (...args: unknown[]) => unknown): T {
  const methods = new Map<string, (...args: unknown[]) => unknown>();
  return new Proxy({} as T, {
    get(_target, name) {
      if (typeof name === 'symbol' || name === 'then') return undefined;
      let method = methods.get(name);
      if (method === undefined) methods.set(name, (method = methodOf(name)));
      return method;
    },
  });
}
