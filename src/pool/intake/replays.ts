import type { Backend, RawRead } from '../../backend/backend.ts';
import type { Clock } from '../../core/clock.ts';
import type { LotRecord } from '../../ledger/records.ts';
import type { Assessor } from './assessor.ts';
import type { HealthVerdict } from './health.ts';
import { type Lot, makeLot } from './lots.ts';

/** Lots whose raw results are remembered; those of earlier runs of the service are among them. */
const REMEMBERED_LOTS = 256;

/**
 * What recent lots of one source were made of. The health tests know the bits of this run's reads; a result that a provider
 * delivers again to a restarted service is known by its hash alone.
 */
export class RawResults {
  /** SHA-256 of the raw result to lot, oldest first. */
  readonly #lots = new Map<string, string>();

  add({ rawSha256, id }: LotRecord): void {
    if (this.#lots.has(rawSha256)) return; // the lot that had them first
    this.#lots.set(rawSha256, id);
    if (this.#lots.size > REMEMBERED_LOTS) this.#lots.delete(this.#lots.keys().next().value ?? '');
  }

  lotOf(rawSha256: string): string | undefined {
    return this.#lots.get(rawSha256);
  }
}

/** The refused lot of a read whose raw result is that of the lot `earlier`: evidence, like any lot that is refused. */
export async function replayedLot(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  earlier: string,
  assessor: Assessor,
  clock: Clock,
): Promise<Lot> {
  const failure = { test: 'replay', grade: 'intermittent', channel: null, observed: 1, cutoff: 1 } as const;
  const failed: HealthVerdict = { ...health, grade: 'intermittent', failures: [failure] };
  const lot = await makeLot(backend, read, failed, assessor, clock);
  return { ...lot, record: { ...lot.record, rejection: `the raw bits are those of lot ${earlier}` } };
}
