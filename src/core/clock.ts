import { platform, uptime } from 'node:os';
import { performance } from 'node:perf_hooks'; // the global of this name is a getter, which each reading would call
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from './assert.ts';
import type { Log } from './log.ts';

/**
 * The one home of `Date.now` and `performance.now`. Everything that needs time is handed a Clock, so that
 * tests and the simulation can drive it.
 */
export interface Clock {
  /** Unix time in milliseconds. Small corrections by NTP are followed; see GuardedClock for jumps. */
  wallMs(): number;
  /** Milliseconds since an arbitrary point, the same for all threads of a process; never goes back. */
  monotonicMs(): number;
  /** How far the system's clock is from `wallMs()` because a jump of it was not accepted; 0 otherwise. */
  jumpMs(): number;
}

/** Each thread's performance.now() begins at its own start. */
const THREAD_STARTED_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => THREAD_STARTED_MS + performance.now(),
  jumpMs: () => 0,
};

/** A larger difference between wall time and monotonic time is a jump and not a correction by NTP. */
const JUMP_MIN_MS = 120_000;
/** How often a jump is compared with the time since the machine booted. */
const BOOT_TIME_CHECK_MS = 1_000;

/**
 * A clock whose wall time does not follow jumps. A wrong reading of the system's clock, even for a minute,
 * would expire certificates and start another month of quotas, and neither can be undone. So wall time is
 * held against monotonic time: a difference of up to two minutes is followed, a larger one is reported by
 * `jumpMs` while `wallMs` goes on from where it was. A jump is accepted when the machine was suspended for
 * that long, which the time since boot shows, and by a restart of the service. When the system's clock comes
 * back, nothing has happened.
 */
export class GuardedClock implements Clock {
  readonly #source: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  readonly #sinceBootMs: () => number | undefined;
  /** A moment that was accepted, on each of the three clocks. */
  #wallMs: number;
  #monotonicMs: number;
  #bootMs: number | undefined;
  #jumpMs = 0;
  #bootTimeCheckedMs = Number.NEGATIVE_INFINITY;

  constructor(source: Pick<Clock, 'wallMs' | 'monotonicMs'> = systemClock, sinceBootMs = sinceBoot) {
    this.#source = source;
    this.#sinceBootMs = sinceBootMs;
    this.#wallMs = source.wallMs();
    this.#monotonicMs = source.monotonicMs();
    this.#bootMs = sinceBootMs();
  }

  wallMs(): number {
    const wallMs = this.#source.wallMs();
    const monotonicMs = this.#source.monotonicMs();
    const expectedMs = Math.floor(this.#wallMs + monotonicMs - this.#monotonicMs);
    const jumpMs = wallMs - expectedMs;
    if (Math.abs(jumpMs) > JUMP_MIN_MS && !this.#wasSuspended(wallMs, monotonicMs)) {
      this.#jumpMs = jumpMs;
      return expectedMs;
    }
    if (this.#jumpMs !== 0 || jumpMs !== 0) {
      // `#bootMs` stays with the moment it was read for; both move together below
      this.#bootMs = this.#bootMs === undefined ? undefined : this.#bootMs + (wallMs - this.#wallMs);
      this.#wallMs = wallMs;
      this.#monotonicMs = monotonicMs;
    }
    this.#jumpMs = 0;
    return wallMs;
  }

  monotonicMs(): number {
    return this.#source.monotonicMs();
  }

  jumpMs(): number {
    this.wallMs();
    return this.#jumpMs;
  }

  /** Linux stops monotonic time while the machine sleeps, and goes on counting the time since boot. */
  #wasSuspended(wallMs: number, monotonicMs: number): boolean {
    if (this.#bootMs === undefined || monotonicMs - this.#bootTimeCheckedMs < BOOT_TIME_CHECK_MS)
      return false;
    this.#bootTimeCheckedMs = monotonicMs;
    const nowMs = this.#sinceBootMs();
    return nowMs !== undefined && Math.abs(wallMs - this.#wallMs - (nowMs - this.#bootMs)) <= JUMP_MIN_MS;
  }
}

/**
 * Milliseconds since the machine booted, sleep included; undefined but on Linux, where no wall clock moves it. Not read
 * from /proc/uptime, which the systemd unit hides (ProcSubset=pid).
 */
function sinceBoot(): number | undefined {
  return platform() === 'linux' ? uptime() * 1_000 : undefined;
}

/**
 * Waits `ms` milliseconds; rejects with the signal's reason as soon as that is aborted. Injected: tests do
 * not wait.
 */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const systemWait: Wait = async (ms, signal) => {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
};

/** How often a failure that lasts is logged. */
const REPEAT_LOG_MS = 60_000;

/**
 * Runs `work` at an interval, never twice at a time. A failure is logged and the next turn tries again; one that lasts is logged
 * once a minute, or it would bury the rest of the log.
 */
export function every(intervalMs: number, log: Log, work: () => Promise<unknown>): NodeJS.Timeout {
  const turnsPerLine = Math.ceil(REPEAT_LOG_MS / intervalMs);
  let isRunning = false;
  let failure: { readonly reason: string; turns: number } | undefined;
  return setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
      failure = undefined;
    } catch (error) {
      const reason = messageOf(error);
      if (failure?.reason !== reason) failure = { reason, turns: 0 };
      if (failure.turns++ % turnsPerLine === 0) log.error({ reason }, 'upkeep failed; it is tried again');
    } finally {
      isRunning = false;
    }
  }, intervalMs);
}

/** Makes a value at most once in an interval, however often it is asked for. A failure is not kept. */
export function atMostEvery<T>(intervalMs: number, clock: Clock, make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  let madeAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonicMs();
    if (made === undefined || nowMs - madeAtMs >= intervalMs) {
      const fresh = make();
      made = fresh;
      madeAtMs = nowMs;
      fresh.catch(() => {
        if (made === fresh) made = undefined;
      });
    }
    return made;
  };
}

/** The calendar month in UTC as `YYYYMM`, for example 202611: the period of quotas and credits. */
export function periodOf(wallMs: number): number {
  if (wallMs >= month.startMs && wallMs < month.endMs) return month.period;
  const at = new Date(wallMs);
  const period = at.getUTCFullYear() * 100 + at.getUTCMonth() + 1;
  const startMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  month = { period, startMs, endMs: periodEndMs(wallMs) };
  return period;
}

/** The month that was asked for last: nearly every request asks for the same. */
let month = { period: 0, startMs: 0, endMs: 0 };

/** The first millisecond after the calendar month (UTC) that holds `wallMs`. */
export function periodEndMs(wallMs: number): number {
  const at = new Date(wallMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
}

/** The moment of the month `YYYYMM` that is closest to `atMs`. */
export function withinPeriod(atMs: number, period: number): number {
  if (periodOf(atMs) === period) return atMs;
  const startMs = Date.UTC(Math.floor(period / 100), (period % 100) - 1, 1);
  return Math.min(Math.max(atMs, startMs), periodEndMs(startMs) - 1);
}

/** The UTC day as a count of days since 1970-01-01. */
export function dayOf(wallMs: number): number {
  return Math.floor(wallMs / 86_400_000);
}

/** ISO 8601 in UTC; null for what has not happened. */
export function isoTime(atMs: number): string;
export function isoTime(atMs: number | null): string | null;
export function isoTime(atMs: number | null): string | null {
  if (atMs === null) return null;
  if (atMs !== printed.atMs) printed = { atMs, text: new Date(atMs).toISOString() };
  return printed.text;
}

/** The time that was printed last: answers and leaves come many to a millisecond. */
let printed = { atMs: Number.NaN, text: '' };
