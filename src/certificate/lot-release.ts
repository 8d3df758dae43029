import { parseProof, readTimestamped } from '../crypto/note.ts';
import type { EntropyStore, LogRecord, LogStore } from '../ledger/ledger.ts';
import type { LotRecord } from '../ledger/records.ts';
import { noteOf } from './log-state.ts';
import { leafRecord, lotLeafKey, namedLeaf } from './public-leaves.ts';
import { firstWitnessed } from './witnessed.ts';

/** Lots read at a time. */
const PENDING_READ_MAX = 64;

/** The leaf of a lot, and its proof against each checkpoint on whose signatures the lot was released, in order. */
export interface LoggedLot {
  /** Canonical JSON: the leaf. */
  readonly text: string;
  /** c2sp.org/tlog-proof; at least one. */
  readonly proofs: readonly string[];
}

/** The proof for an answer of this time: the newest that the log had signed by then. */
export function proofFor({ proofs }: LoggedLot, issuedAtMs: number): string {
  if (proofs.length === 1) return proofs[0];
  return proofs.findLast((proof) => signedAtMs(proof) <= issuedAtMs) ?? proofs[0];
}

/** When the log says that it signed the checkpoint of a proof. */
function signedAtMs(proof: string): number {
  const { text, signatures } = noteOf(parseProof(proof)?.note ?? '');
  const origin = text.slice(0, text.indexOf('\n'));
  const times = signatures
    .filter(({ name }) => name === origin)
    .map(({ signature }) => readTimestamped(signature)?.atS)
    .filter((atS) => atS !== undefined);
  return Math.max(...times) * 1_000;
}

export type PendingStore = LogStore & Pick<EntropyStore, 'pendingLots'>;

/** What the next batch does with lots that are pending. */
export interface PendingLots {
  /** Those without a leaf, in the order in which they came. */
  readonly unlogged: readonly LotRecord[];
  /** Those that the batch releases. */
  readonly released: readonly string[];
  /** Says on what those of them are released that have a leaf already. */
  readonly records: readonly LogRecord[];
}

/**
 * Looks through the oldest pending lots. A lot is released by the batch that logs it, with `isWitnessed` by the first one
 * after enough witnesses have cosigned a checkpoint with its leaf.
 */
export async function pendingLots(store: PendingStore, isWitnessed: boolean): Promise<PendingLots> {
  const unlogged: LotRecord[] = [];
  const released: string[] = [];
  const records: LogRecord[] = [];
  for (const lot of await store.pendingLots(PENDING_READ_MAX)) {
    const leaf = await namedLeaf(store, lotLeafKey(lot.id));
    const witnessed = !isWitnessed ? null : leaf && (await firstWitnessed(store, leaf.size))?.n;
    if (leaf === undefined) unlogged.push(lot);
    if (witnessed === undefined) continue;
    released.push(lot.id);
    if (leaf !== undefined) records.push(leafRecord({ ...leaf, witnessed }));
  }
  return { unlogged, released, records };
}
