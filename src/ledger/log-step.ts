import { LedgerError, type LogRecord, type LogStep } from './ledger.ts';

/** False when the step was taken already. Throws `conflict` when `stored`, the record of the step, shows that another one was. */
export function mayStep(
  stored: Uint8Array | undefined,
  records: readonly LogRecord[],
  { key, expected }: LogStep,
): boolean {
  if (isSame(stored, expected)) return true;
  if (isSame(stored, records.find((record) => record.key === key)?.value)) return false;
  throw new LedgerError('conflict', `another writer has changed the record ${key} of the log`);
}

function isSame(stored: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (stored === undefined || other === undefined) return stored === other;
  return Buffer.compare(stored, other) === 0;
}
