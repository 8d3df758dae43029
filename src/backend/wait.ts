import { setTimeout as sleep } from 'node:timers/promises';

/** Waits `ms` milliseconds; rejects with the signal's reason as soon as that is aborted. Injected: tests do not wait. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const systemWait: Wait = async (ms, signal) => {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
};
