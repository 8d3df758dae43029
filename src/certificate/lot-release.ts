import { parseProof, readTimestamped } from '../crypto/note.ts';
import type { EntropyStore, LogStore } from '../ledger/ledger.ts';
import type { LotRecord, SegmentRecord } from '../ledger/records.ts';
import { jsonRecord, type LogReader, readJson } from './log-records.ts';
import { CertificateLogError, noteOf } from './log-state.ts';
import { type CertifiedLot, certifiedLot } from './lot-leaf.ts';
import { firstWitnessed } from './witnessed.ts';

/** Lots read at a time. */
const HELD_READ_MAX = 64;
/** Lots that are kept at hand from one batch to the next. */
const KNOWN_MAX = 1_024;

/** The record of a lot's leaf, under `lot/<id>`. */
export interface LotLeafRecord {
  readonly leaf: number;
  /** Leaves of the checkpoint that it was logged with. */
  readonly size: number;
  /** Canonical JSON. */
  readonly text: string;
  /**
   * The number of the witnessed checkpoint on which the lot was released, null when the log's own signature was
   * enough; absent while the lot is held back.
   */
  readonly witnessed?: number | null;
  /** What it had been released on before other witnesses were asked for (UnseenLots): answers before then rest on it. */
  readonly earlier?: readonly (number | null)[];
}

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

export type HoldingStore = LogStore & Pick<EntropyStore, 'heldLots' | 'releaseLots'>;

export function readLotLeaf(store: LogReader, lotId: string): Promise<LotLeafRecord | undefined> {
  return readJson(store, lotLeafKey(lotId));
}

/** Lots that have no leaf yet, in the order in which they came, and how many of those that were read are held back. */
export async function newLots(store: HoldingStore): Promise<{ lots: LotRecord[]; held: number }> {
  const held = await store.heldLots(HELD_READ_MAX);
  const lots: LotRecord[] = [];
  for (const lot of held) {
    if ((await readLotLeaf(store, lot.id)) === undefined) lots.push(lot);
  }
  return { lots, held: held.length };
}

/**
 * Adds the lots that the segments name to those that are known from earlier batches. What was known may be forgotten, but
 * nothing that these segments name.
 */
export async function readLotsOf(
  segments: readonly SegmentRecord[],
  store: Pick<EntropyStore, 'lot'>,
  known: Map<string, CertifiedLot>,
): Promise<void> {
  if (known.size > KNOWN_MAX) known.clear();
  for (const { sequence, sources } of segments) {
    for (const id of sources.flatMap(({ lotIds }) => lotIds)) {
      if (known.has(id)) continue;
      const lot = await store.lot(id);
      if (lot === undefined) throw new CertificateLogError(`segment ${sequence} names the unknown lot ${id}`);
      known.set(id, certifiedLot(lot));
    }
  }
}

/**
 * Releases the lots whose leaf is in a signed checkpoint, with `isWitnessed` in one that enough witnesses have
 * cosigned. A crash in between changes nothing: the next call goes on. Resolves to how many of the lots that it read
 * are still held back.
 */
export async function releaseLots(store: HoldingStore, isWitnessed: boolean, atMs: number): Promise<number> {
  const held = await store.heldLots(HELD_READ_MAX);
  const free: string[] = [];
  for (const { id } of held) {
    const record = await readLotLeaf(store, id);
    if (record === undefined) break;
    const witnessed = isWitnessed ? (await firstWitnessed(store, record.size))?.n : null;
    if (witnessed === undefined) break;
    const released: LotLeafRecord = { ...record, witnessed };
    await store.putLog([jsonRecord(lotLeafKey(id), released)]);
    free.push(id);
  }
  if (free.length > 0) await store.releaseLots(free, atMs);
  return held.length - free.length;
}

export function lotLeafKey(lotId: string): string {
  return `lot/${lotId}`;
}
