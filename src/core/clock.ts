import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from './log.ts';

/**
 * The one home of `Date.now` and `performance.now`. Everything that needs time is handed a Clock, so that tests
 * and the simulation can drive it.
 */
export interface Clock {
  /** Unix time in milliseconds; may jump when the operator or NTP sets the clock. */
  wallMs(): number;
  /** Milliseconds since an arbitrary point; never goes back. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Waits `ms` milliseconds; rejects with the signal's reason as soon as that is aborted. Injected: tests do not wait. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const systemWait: Wait = async (ms, signal) => {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
};

/** A clock that stands still until told otherwise. For tests and the simulation. */
export class ManualClock implements Clock {
  wall: number;
  monotonic: number;

  constructor(wallMs = 1_700_000_000_000, monotonicMs = 1_000) {
    this.wall = wallMs;
    this.monotonic = monotonicMs;
  }

  wallMs(): number {
    return this.wall;
  }

  monotonicMs(): number {
    return this.monotonic;
  }

  /** Lets `ms` milliseconds pass on both clocks. */
  advance(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }
}

/** Runs `work` at an interval, never twice at a time. A failure is logged and the next turn tries again. */
export function every(intervalMs: number, log: Log, work: () => Promise<unknown>): NodeJS.Timeout {
  let isRunning = false;
  return setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
    } catch (error) {
      log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'upkeep failed; it is tried again',
      );
    } finally {
      isRunning = false;
    }
  }, intervalMs);
}

/** The calendar month in UTC as `YYYYMM`, for example 202611: the period of quotas and credits. */
export function periodOf(wallMs: number): number {
  const at = new Date(wallMs);
  return at.getUTCFullYear() * 100 + at.getUTCMonth() + 1;
}

/** The first millisecond after the calendar month (UTC) that holds `wallMs`. */
export function periodEndMs(wallMs: number): number {
  const at = new Date(wallMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
}

/** The UTC day as a count of days since 1970-01-01. */
export function dayOf(wallMs: number): number {
  return Math.floor(wallMs / 86_400_000);
}
