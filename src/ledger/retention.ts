import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Ledger } from './ledger.ts';

const DAY_MS = 86_400_000;

/**
 * Days of certificates that may be deleted for each day that the service runs. Retention catches up at this rate after a long
 * stop. A wrong clock cannot delete more than this. Restarts cannot either: the allowance is 0 at a start.
 */
const DAYS_PER_DAY = 3;

/**
 * Deletes certificates that are older than the retention, and stored answers that expired. Deleting cannot be undone, so no
 * single reading of the clock decides about it. Age counts back from the newest certificate in the ledger, never from a
 * later wall time. The deletions of a day are bounded. While the system's clock has jumped, or differs from the clock of the
 * database that nodes share, nothing is deleted.
 */
export class Retention {
  readonly #ledger: Pick<Ledger, 'segmentSpan' | 'expire' | 'integrity'>;
  readonly #retentionMs: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #startedMs: number;
  #firstMs: number | undefined;
  #isBehind = false;

  constructor(
    ledger: Pick<Ledger, 'segmentSpan' | 'expire' | 'integrity'>,
    retentionDays: number,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    this.#ledger = ledger;
    this.#retentionMs = retentionDays * DAY_MS;
    this.#clock = clock;
    this.#log = log;
    this.#startedMs = clock.monotonicMs();
  }

  async sweep(): Promise<void> {
    if (this.#clock.jumpMs() !== 0) return;
    if ((await this.#ledger.integrity()).database?.isSkewed === true) return;
    const nowMs = this.#clock.wallMs();
    const span = await this.#ledger.segmentSpan();
    const beforeMs = span === undefined ? 0 : this.#cutoffMs(span, nowMs);
    await this.#ledger.expire(nowMs, beforeMs);
  }

  #cutoffMs({ oldestMs, newestMs }: { oldestMs: number; newestMs: number }, nowMs: number): number {
    this.#firstMs ??= oldestMs;
    const wantedMs = Math.min(nowMs, newestMs) - this.#retentionMs;
    const runningMs = this.#clock.monotonicMs() - this.#startedMs;
    const allowedMs = this.#firstMs + DAYS_PER_DAY * runningMs;
    const isBehind = wantedMs > allowedMs;
    if (isBehind && !this.#isBehind) {
      const days = Math.ceil((wantedMs - allowedMs) / DAY_MS);
      this.#log.warn(
        { days },
        'retention is days behind QRN_CERTIFICATE_RETENTION: it deletes at most three days of certificates in a day',
      );
    }
    this.#isBehind = isBehind;
    return Math.min(wantedMs, allowedMs);
  }
}
