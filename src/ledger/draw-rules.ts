import type { DrawRecord } from './draw-records.ts';
import { LedgerError } from './ledger.ts';

const STATES: readonly DrawRecord['state'][] = ['opening', 'committed', 'ended'];

/** Throws `refused` for a draw that was not opened first. */
export function requireOpening({ id, state }: DrawRecord): void {
  if (state === 'opening') return;
  throw new LedgerError('refused', `draw ${id} must be opened in the state opening, not ${state}`);
}

/** False when the stored draw has ended, or stands in a later state. Throws when there is none, or it is of another account. */
export function mayReplace(
  stored: Pick<DrawRecord, 'accountNumber' | 'state'> | undefined,
  { id, accountNumber, state }: DrawRecord,
): boolean {
  if (stored === undefined) throw new LedgerError('refused', `there is no draw ${id}`);
  if (stored.accountNumber !== accountNumber)
    throw new LedgerError('conflict', `draw ${id} belongs to another account`);
  return stored.state !== 'ended' && STATES.indexOf(state) >= STATES.indexOf(stored.state);
}
