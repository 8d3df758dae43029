import type { EntropyStore, LogStore } from '../../src/ledger/ledger.ts';
import type { BlockKind, LotRecord } from '../../src/ledger/records.ts';
import { NOON_MS } from './ledger-records.ts';

/** Stores a lot and releases it, as a service does whose log has signed the leaf of the lot. */
export async function addReleased(
  ledger: Pick<EntropyStore, 'addLot'> & Pick<LogStore, 'putLog'>,
  lot: LotRecord,
  blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
  jobKey?: string,
): Promise<boolean> {
  const isStored = await ledger.addLot(lot, blocks, jobKey);
  await release(ledger, lot.id);
  return isStored;
}

export function release(ledger: Pick<LogStore, 'putLog'>, lotId: string, atMs = NOON_MS): Promise<void> {
  return ledger.putLog([], undefined, { lotIds: [lotId], atMs });
}
