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
 * Returns a sweep that deletes certificates older than the retention, and stored answers that expired. Deleting cannot be
 * undone, so no single reading of the clock decides about it. Age counts back from the newest certificate in the ledger, never
 * from a later wall time. The deletions of a day are bounded. While the system's clock has jumped, or differs from the clock of
 * the database that nodes share, nothing is deleted.
 */
export function retention(
  ledger: Pick<Ledger, 'segmentSpan' | 'expire' | 'integrity'>,
  retentionDays: number,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): () => Promise<void> {
  const startedMs = clock.monotonicMs();
  let firstMs: number | undefined;
  let wasBehind = false;
  const cutoffMs = ({ oldestMs, newestMs }: { oldestMs: number; newestMs: number }, nowMs: number) => {
    firstMs ??= oldestMs;
    const wantedMs = Math.min(nowMs, newestMs) - retentionDays * DAY_MS;
    const allowedMs = firstMs + DAYS_PER_DAY * (clock.monotonicMs() - startedMs);
    const isBehind = wantedMs > allowedMs;
    if (isBehind && !wasBehind) {
      const days = Math.ceil((wantedMs - allowedMs) / DAY_MS);
      log.warn(
        { days },
        'retention is days behind QRN_CERTIFICATE_RETENTION: it deletes at most three days of certificates in a day',
      );
    }
    wasBehind = isBehind;
    return Math.min(wantedMs, allowedMs);
  };
  return async () => {
    if (clock.jumpMs() !== 0) return;
    if ((await ledger.integrity()).database?.isSkewed === true) return;
    const nowMs = clock.wallMs();
    const span = await ledger.segmentSpan();
    await ledger.expire(nowMs, span === undefined ? 0 : cutoffMs(span, nowMs));
  };
}
