import { setTimeout as sleep } from 'node:timers/promises';
import { BackendError } from '../../backend/backend.ts';

/** Waits `ms` milliseconds; rejects with the signal's reason as soon as that is aborted. Injected: tests do not wait. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const systemWait: Wait = async (ms, signal) => {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
};

/** The deadline of one call on a backend. */
export function answerWithin(timeoutMs: number): { timeoutMs: number; late: () => BackendError } {
  return { timeoutMs, late: () => new BackendError('retryable', `no answer within ${timeoutMs / 1000} s`) };
}

/**
 * Settles as `work` does, unless `timeoutMs` pass first (rejects with `late()`) or the caller's signal is aborted
 * (rejects with its reason): then at once, whether or not `work` heeds the signal that it is handed.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  limit: { readonly timeoutMs: number; readonly late: () => Error },
  signal: AbortSignal,
  wait: Wait,
): Promise<T> {
  signal.throwIfAborted();
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const working = work(either);
  const late = wait(limit.timeoutMs, either).then(() => {
    throw limit.late();
  });
  try {
    return await Promise.race([working, late]); // which also hears of whatever the other one does afterwards
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    over.abort();
  }
}
