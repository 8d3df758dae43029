import { LedgerError, type LogRecord, type LogStep, type ReleasedLots } from '../ledger.ts';
import { type Body, type Store, tx } from '../store.ts';
import { increase, LOG } from '../tables.ts';
import type { Auditor } from './auditor.ts';
import { LOTS_LOCK, releaseLots } from './lots.ts';

/** The lock for writing to the log, and for adding sealed segments to the counters. */
export const LOG_LOCK = 'log';
/** The locks for a put that releases lots. */
export const LOG_LOCKS: readonly string[] = [LOG_LOCK, LOTS_LOCK];
/**
 * Matches the keys of the records that state the size of a log or of one incarnation's log. Such a record is read only when a
 * standby has it: else a failover could lose it after the read, and a different tree of the same size would be signed.
 */
const STATE = /(?:^|\/)state$/;

export async function readLog(store: Store, key: string): Promise<Uint8Array | undefined> {
  const body = () => tx.get(LOG, key);
  const value = await (STATE.test(key) ? store.kept(body) : store.read(body));
  return value && new Uint8Array(value);
}

/** Returns false when the step was taken already. Throws `conflict` when another step was taken from the same state. */
export function* mayStep(records: readonly LogRecord[], { key, expected }: LogStep): Body<boolean> {
  const stored = yield* tx.get(LOG, key);
  if (isSame(stored, expected)) return true;
  if (isSame(stored, records.find((record) => record.key === key)?.value)) return false;
  throw new LedgerError('conflict', `another writer has changed the record ${key} of the log`);
}

export function* putLogRecords(records: readonly LogRecord[], released?: ReleasedLots): Body<void> {
  const newest = new Map(records.map(({ key, value }) => [key, value]));
  const known = yield* tx.getMany(LOG, [...newest.keys()]);
  const added = known.filter((value) => value === undefined).length;
  if (added > 0) yield* increase('logRecords', added);
  yield* tx.putAll(LOG, [...newest]);
  if (released !== undefined) yield* releaseLots(released);
}

export async function auditLog(auditor: Auditor): Promise<void> {
  let records = 0; // counted, not gathered: the tiles may be larger than memory
  await auditor.walk(LOG, () => records++);
  await auditor.checkCount('logRecords', records);
}

function isSame(stored: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (stored === undefined || other === undefined) return stored === other;
  return Buffer.compare(stored, other) === 0;
}
