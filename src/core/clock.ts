import { platform, uptime } from 'node:os';
import { performance } from 'node:perf_hooks'; // the global `performance` is a getter, which would run at each reading
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from './assert.ts';
import type { Log } from './log.ts';

/**
 * Only this file calls `Date.now` and `performance.now`. All other code receives a Clock, so that tests and the
 * simulation can control time.
 */
export interface Clock {
  /** Returns Unix time in milliseconds. It follows small corrections by NTP; see GuardedClock for jumps. */
  wallMs(): number;
  /** Returns milliseconds since an arbitrary moment, which all threads of a process share. It never goes back. */
  monotonicMs(): number;
  /** Returns the system's clock minus `wallMs()` while a jump of the system's clock is not accepted; 0 otherwise. */
  jumpMs(): number;
}

/** The start of this thread by the clock that all threads share; `performance.now()` counts from it. */
const THREAD_STARTED_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => THREAD_STARTED_MS + performance.now(),
  jumpMs: () => 0,
};

/** A larger difference between wall time and monotonic time is a jump, not a correction by NTP. */
const JUMP_MIN_MS = 120_000;
/** The shortest time between two comparisons of a jump with the time since boot. */
const BOOT_TIME_CHECK_MS = 1_000;

/**
 * A clock whose wall time does not follow jumps. If the system's clock were wrong for even a minute, certificates would
 * expire and a new month of quotas would begin, and neither can be undone. So this clock compares wall time with
 * monotonic time. It follows a difference of up to two minutes. It reports a larger one by `jumpMs`, while `wallMs`
 * continues by monotonic time. It accepts a jump when the time since boot shows that the machine was suspended for that
 * long. A restart of the service accepts any jump. When the system's clock is set right again, `wallMs` follows it
 * again.
 */
export class GuardedClock implements Clock {
  readonly #source: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  readonly #sinceBootMs: () => number | undefined;
  /** The last accepted moment, on each of the three clocks. */
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
      // `#bootMs` is moved by as much as `#wallMs`, so that both name the same moment
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

  /**
   * Returns whether suspension explains the jump: on Linux, monotonic time stops meanwhile and the time since boot does
   * not.
   */
  #wasSuspended(wallMs: number, monotonicMs: number): boolean {
    if (this.#bootMs === undefined || monotonicMs - this.#bootTimeCheckedMs < BOOT_TIME_CHECK_MS)
      return false;
    this.#bootTimeCheckedMs = monotonicMs;
    const nowMs = this.#sinceBootMs();
    return nowMs !== undefined && Math.abs(wallMs - this.#wallMs - (nowMs - this.#bootMs)) <= JUMP_MIN_MS;
  }
}

/**
 * Returns milliseconds since the machine booted, suspension included; undefined on systems other than Linux, where
 * setting the wall clock may change the figure. Does not read /proc/uptime, which the systemd unit hides
 * (ProcSubset=pid).
 */
function sinceBoot(): number | undefined {
  return platform() === 'linux' ? uptime() * 1_000 : undefined;
}

/**
 * Resolves after `ms` milliseconds; rejects with the signal's reason as soon as the signal is aborted. Callers receive
 * it as a parameter, so that tests need not wait.
 */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const systemWait: Wait = async (ms, signal) => {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
};

/** Settles like `work`, or with what `late` returns or throws after `ms` milliseconds. */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  const { promise: timeUp, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    return await Promise.race([work, timeUp.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** The time between two log lines about the same failure. */
const REPEAT_LOG_MS = 60_000;

/**
 * Runs `work` at an interval, never twice at a time. It logs a failure, and runs `work` again at the next turn. While
 * the same failure repeats, it logs one line a minute, so that the rest of the log stays readable. `task` says what
 * the work does, for the log: `could not TASK`.
 */
export function every(
  intervalMs: number,
  log: Log,
  task: string,
  work: () => Promise<unknown>,
): NodeJS.Timeout {
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
      if (failure.turns++ % turnsPerLine === 0) log.error({ reason }, `could not ${task}; trying again`);
    } finally {
      isRunning = false;
    }
  }, intervalMs);
}

/**
 * Returns a function that calls `make` at most once in an interval and returns the kept value otherwise. It keeps no
 * failure.
 */
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

/** Returns the calendar month in UTC as `YYYYMM`, for example 202611: the period of quotas and credits. */
export function periodOf(wallMs: number): number {
  if (wallMs >= month.startMs && wallMs < month.endMs) return month.period;
  const at = new Date(wallMs);
  const period = at.getUTCFullYear() * 100 + at.getUTCMonth() + 1;
  const startMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  month = { period, startMs, endMs: periodEndMs(wallMs) };
  return period;
}

/** The result of the last call: nearly every request asks for the same month. */
let month = { period: 0, startMs: 0, endMs: 0 };

/** Returns the first millisecond after the calendar month (UTC) that holds `wallMs`. */
export function periodEndMs(wallMs: number): number {
  const at = new Date(wallMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
}

/** Returns the moment within the month `YYYYMM` that is closest to `atMs`. */
export function withinPeriod(atMs: number, period: number): number {
  if (periodOf(atMs) === period) return atMs;
  const startMs = Date.UTC(Math.floor(period / 100), (period % 100) - 1, 1);
  return Math.min(Math.max(atMs, startMs), periodEndMs(startMs) - 1);
}

/** Returns the UTC day as the number of days since 1970-01-01. */
export function dayOf(wallMs: number): number {
  return Math.floor(wallMs / 86_400_000);
}

/** Returns the time in ISO 8601 and UTC; null for null. */
export function isoTime(atMs: number): string;
export function isoTime(atMs: number | null): string | null;
export function isoTime(atMs: number | null): string | null {
  if (atMs === null) return null;
  if (atMs !== printed.atMs) printed = { atMs, text: new Date(atMs).toISOString() };
  return printed.text;
}

/** The result of the last call: many answers and leaves fall into the same millisecond. */
let printed = { atMs: Number.NaN, text: '' };
