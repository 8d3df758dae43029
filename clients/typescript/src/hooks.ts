import type { QrnError } from './error.ts';

/** A request that is sent. No event holds keys, parameters or values. */
export interface RequestEvent {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
}

export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  /** The value of `X-Request-ID`. */
  readonly requestId: string | null;
  /** From sending the request to the end of the body. */
  readonly durationMs: number;
  readonly bytes: number;
}

export interface RetryEvent extends RequestEvent {
  /** The failure of this attempt. */
  readonly error: QrnError;
  /** The wait before the next attempt. */
  readonly delayMs: number;
}

/**
 * Functions for logs and counters. The client does not await them. When one throws, the call rejects with its error.
 */
export interface Hooks {
  /** Called when an attempt begins. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called when an attempt has a complete response, whatever its status. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** Called when an attempt has failed and another follows. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Called when the service has ignored a parameter. Default: `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}
