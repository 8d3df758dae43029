import type { QrnError } from './error.ts';

/** A request that is sent. Hooks are told nothing of keys, parameters and values. */
export interface RequestEvent {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** From 1. */
  readonly attempt: number;
}

export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  /** Of `X-Request-ID`. */
  readonly requestId: string | null;
  /** Until the whole body was there. */
  readonly durationMs: number;
  readonly bytes: number;
}

export interface RetryEvent extends RequestEvent {
  /** Why the attempt had no answer. */
  readonly error: QrnError;
  /** Until the next attempt. */
  readonly delayMs: number;
}

/** For logs and counters. They are called in turn and not awaited; the call rejects with what one throws. */
export interface Hooks {
  /** An attempt begins. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** An attempt has an answer, whatever its status. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** An attempt failed, and another follows. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** The service ignored a parameter; left out, `console.warn` is told. */
  readonly onWarning?: ((message: string) => void) | undefined;
}
