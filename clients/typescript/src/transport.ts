import { QrnError } from './error.ts';
import { retryAfterMs, retryDelayMs } from './retry.ts';
import { sleep } from './sleep.ts';
import { randomFraction } from './system-random.ts';

/** What the client asks of fetch. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly signal: AbortSignal;
  /** A random value is not served twice. */
  readonly cache: 'no-store';
  readonly credentials: 'omit';
  /** A key is not carried to where a redirect points. */
  readonly redirect: 'error';
}

export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

export interface TransportOptions {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly retryWaitMaxMs: number;
}

/** Of one call, over those of the client. */
export interface CallOptions {
  /** Ends the call, its waits included; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** For one attempt, its body included. */
  readonly timeoutMs?: number | undefined;
  /** Attempts after the first. */
  readonly retries?: number | undefined;
  /** 1 to 255 visible ASCII characters; matters in pure mode alone. Left out, the client makes one for each call. */
  readonly idempotencyKey?: string | undefined;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly idempotencyKey: string | null;
  /** Statuses besides 200 whose body is an answer unless it says that it is an error. */
  readonly alsoAnswers: readonly number[];
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Marks the abort of an attempt that took too long. */
const TIMED_OUT = Symbol('timed out');

/** Sends requests: one attempt after the other, as long as another may help and retries are left. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** The first answer. Rejects with a QrnError, or with the reason of an aborted signal. */
  async send(request: HttpRequest, call: CallOptions): Promise<HttpReply> {
    const retries = call.retries ?? this.#options.retries;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request, call);
      } catch (error) {
        if (!(error instanceof QrnError)) throw error;
        error.attempts = attempt;
        error.idempotencyKey = request.idempotencyKey;
        if (attempt > retries) throw error;
        const delayMs = retryDelayMs(error, attempt, await randomFraction(), this.#options.retryWaitMaxMs);
        if (delayMs === null) throw error;
        await sleep(delayMs, call.signal);
      }
    }
  }

  async #attempt(request: HttpRequest, call: CallOptions): Promise<HttpReply> {
    const reply = await this.#exchange(request, call);
    if (reply.status === 200) return reply;
    const error = errorOf(reply);
    if (error.code === 'invalid_answer' && request.alsoAnswers.includes(reply.status)) return reply;
    throw error;
  }

  /** One request and its whole answer, whatever its status. */
  async #exchange(request: HttpRequest, { signal, timeoutMs }: CallOptions): Promise<HttpReply> {
    signal?.throwIfAborted();
    const limitMs = timeoutMs ?? this.#options.timeoutMs;
    const attempt = new AbortController();
    const onAbort = () => attempt.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => attempt.abort(TIMED_OUT), limitMs);
    try {
      const { fetch } = this.#options;
      const response = await fetch(request.url, fetchInit(request, attempt.signal));
      const body = new Uint8Array(await response.arrayBuffer());
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (attempt.signal.reason === TIMED_OUT) {
        throw new QrnError('timeout', { message: `No answer within ${limitMs} ms.`, cause: error });
      }
      throw new QrnError('network_error', { message: networkMessage(error), cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

function fetchInit(request: HttpRequest, signal: AbortSignal): FetchInit {
  const { method, body, idempotencyKey } = request;
  const headers = { ...request.headers };
  if (idempotencyKey !== null) headers['Idempotency-Key'] = idempotencyKey;
  return { method, headers, body, signal, cache: 'no-store', credentials: 'omit', redirect: 'error' };
}

/** What fetch says is "fetch failed"; Node hides the reason in its cause. */
function networkMessage(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) if (at.message !== '') reasons.push(at.message);
  return `No answer: ${reasons.join(': ') || String(error)}.`;
}

/** The service's error in a reply, or `invalid_answer` when there is none. */
function errorOf({ status, headers, body }: HttpReply): QrnError {
  const waitMs = retryAfterMs(headers.get('retry-after'), Date.now());
  const error = memberOf(parseJson(body), 'error');
  const code = memberOf(error, 'code');
  const message = memberOf(error, 'message');
  if (typeof code !== 'string' || typeof message !== 'string') {
    const what = `HTTP ${status} without an error of the service: is the base URL right, or a proxy in the way?`;
    return new QrnError('invalid_answer', { message: what, status, retryAfterMs: waitMs });
  }
  const requestId = memberOf(error, 'request_id');
  const details = memberOf(error, 'details');
  return new QrnError(code, {
    message,
    status,
    requestId: typeof requestId === 'string' ? requestId : null,
    details: isObject(details) ? details : null,
    retryAfterMs: waitMs,
  });
}

const utf8 = new TextDecoder();

/** The parsed body; undefined when it is not JSON. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
