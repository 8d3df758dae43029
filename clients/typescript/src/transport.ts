import { clientError, QrnError, type RawResponse, serviceError } from './error.ts';
import type { Hooks } from './hooks.ts';
import { retryAfterMs, retryDelayMs } from './retry.ts';
import { sleep } from './sleep.ts';
import { randomFraction } from './system-random.ts';

/** The options that the client passes to fetch. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly signal: AbortSignal;
  /** No cache may serve a random value twice. */
  readonly cache: 'no-store';
  readonly credentials: 'omit';
  /** A redirect must not send the API key to another host. */
  readonly redirect: 'error';
}

export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

export interface TransportOptions {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly retryWaitMaxMs: number;
  readonly hooks: Hooks;
}

/** The options of one call. They override those of the client. */
export interface CallOptions {
  /** When aborted, ends the call and its waits; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The time for one attempt, reading the body included. */
  readonly timeoutMs?: number | undefined;
  /** The number of attempts after the first. */
  readonly retries?: number | undefined;
  /**
   * 1 to 255 visible ASCII characters. Default: the client makes one for a call that costs credits or has a purpose.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly idempotencyKey: string | null;
  /** Statuses besides 200 that are answers, unless the body is an error of the service. */
  readonly alsoAnswers: readonly number[];
}

/** The reason of an abort because the attempt took too long. */
const TIMED_OUT = Symbol('timed out');

/** Sends requests, and sends a failed one again while that may help and retries are left. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** Resolves to the first answer. Rejects with a QrnError, or with the reason of an aborted signal. */
  async send(request: HttpRequest, call: CallOptions): Promise<RawResponse> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request, call, attempt);
      } catch (error) {
        await this.#waitFor(error, request, call, attempt);
      }
    }
  }

  /** Waits before the next attempt, or throws the error when there must be none. */
  async #waitFor(error: unknown, request: HttpRequest, call: CallOptions, attempt: number): Promise<void> {
    if (!(error instanceof QrnError)) throw error;
    error.attempts = attempt;
    error.idempotencyKey = request.idempotencyKey;
    if (attempt > (call.retries ?? this.#options.retries)) throw error;
    const delayMs = retryDelayMs(error, attempt, await randomFraction(), this.#options.retryWaitMaxMs);
    if (delayMs === null) throw error;
    this.#options.hooks.onRetry?.({ ...sentOf(request, attempt), error, delayMs });
    await sleep(delayMs, call.signal);
  }

  #warn(path: string, headers: Headers): void {
    const ignored = headers.get('x-ignored-parameters');
    if (ignored === null) return;
    const message = `qrn: the service ignored what it does not know in ${path}: ${ignored}`;
    const { onWarning } = this.#options.hooks;
    if (onWarning === undefined) console.warn(message);
    else onWarning(message);
  }

  async #attempt(request: HttpRequest, call: CallOptions, attempt: number): Promise<RawResponse> {
    const { hooks } = this.#options;
    const sent = sentOf(request, attempt);
    const startedMs = Date.now();
    hooks.onRequest?.(sent);
    const reply = await this.#exchange(request, call);
    const { status, headers } = reply;
    hooks.onResponse?.({
      ...sent,
      status,
      requestId: headers.get('x-request-id'),
      durationMs: Date.now() - startedMs,
      bytes: reply.body.length,
    });
    this.#warn(sent.path, headers);
    if (status === 200) return reply;
    const error = errorOf(reply);
    if (error.code === 'invalid_answer' && request.alsoAnswers.includes(reply.status)) return reply;
    throw error;
  }

  /**
   * Sends one request and resolves to its complete response, whatever its status. Rejects with the reason of the
   * caller's aborted signal, or with `timeout` or `network_error`.
   */
  async #exchange(
    request: HttpRequest,
    { signal, timeoutMs = this.#options.timeoutMs }: CallOptions,
  ): Promise<RawResponse> {
    signal?.throwIfAborted();
    const ending = new AbortController();
    const onAbort = () => ending.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => ending.abort(TIMED_OUT), timeoutMs);
    const { fetch } = this.#options;
    try {
      const response = await fetch(request.url, fetchInit(request, ending.signal));
      const body = new Uint8Array(await response.arrayBuffer());
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (ending.signal.reason === TIMED_OUT)
        throw clientError('timeout', { message: `No answer within ${timeoutMs} ms.`, cause: error });
      throw clientError('network_error', { message: networkMessage(error), cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

/** Returns what hooks get of a request, which holds neither the key nor parameters. */
function sentOf(
  { method, url }: HttpRequest,
  attempt: number,
): { method: string; path: string; attempt: number } {
  return { method, path: new URL(url).pathname, attempt };
}

function fetchInit(request: HttpRequest, signal: AbortSignal): FetchInit {
  const { method, body, idempotencyKey } = request;
  const headers = { ...request.headers };
  if (idempotencyKey !== null) headers['Idempotency-Key'] = idempotencyKey;
  return { method, headers, body, signal, cache: 'no-store', credentials: 'omit', redirect: 'error' };
}

/**
 * Returns the error's message with those of its causes: in Node the message is "fetch failed", and the cause has the
 * reason.
 */
function networkMessage(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) if (at.message !== '') reasons.push(at.message);
  return `No answer: ${reasons.join(': ') || String(error)}.`;
}

const HEAD_TOO_LARGE =
  'The request line and headers are too long: send at most 64 KiB, with fewer or shorter items.';

/** Returns the service's error in a reply, or `invalid_answer` when the reply has none. */
function errorOf(response: RawResponse): QrnError {
  const { status, headers, body } = response;
  const waitMs = retryAfterMs(headers.get('retry-after'), Date.now());
  const error = memberOf(parseJson(body), 'error');
  const code = memberOf(error, 'code');
  const message = memberOf(error, 'message');
  if (typeof code !== 'string' || typeof message !== 'string') {
    // the HTTP library refused the request before the service saw it, so the body is not the service's
    if (status === 431) return serviceError('head_too_large', { message: HEAD_TOO_LARGE, status, response });
    const what = `HTTP ${status} without an error of the service: is the base URL right, or a proxy in the way?`;
    return clientError('invalid_answer', { message: what, status, retryAfterMs: waitMs, response });
  }
  const requestId = memberOf(error, 'request_id');
  const details = memberOf(error, 'details');
  return serviceError(code, {
    message,
    status,
    requestId: typeof requestId === 'string' ? requestId : null,
    details: isObject(details) ? details : null,
    retryAfterMs: waitMs,
    response,
  });
}

const utf8 = new TextDecoder();

/** Returns the parsed body; undefined when it is not JSON. */
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
