import { toHex } from '../../core/bytes.ts';
import type { BlockRun } from '../parcel-box.ts';
import type { BlockKind, LotCommitment, LotRecord } from '../records.ts';
import type { Session } from './connection.ts';

/** Blocks of one lot that came to this node in a parcel. */
export interface LotPart {
  /** The key that it was sealed to, which no other parcel has. */
  readonly parcel: Uint8Array;
  readonly kind: BlockKind;
  readonly lot: LotRecord;
  readonly run: BlockRun;
  readonly blocks: readonly Uint8Array[];
}

const ADD = {
  name: 'lot_parts_add',
  text: `INSERT INTO qrn.lot_part (id, parcel, lot_id, kind, first, count, node, from_node) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
};

/** Has the folder hold a lot back, whatever its record says. */
export const HELD_BACK: LotCommitment = { pureBytes: 0, blockRoots: '', seedHashes: '' };

/** Notes in PostgreSQL which node has the blocks now. */
export async function storePart(
  session: Session,
  part: Pick<LotPart, 'parcel' | 'kind' | 'run'> & { readonly node: number; readonly from: number },
): Promise<void> {
  const { parcel, kind, run, node, from } = part;
  const { lotId, first, count } = run;
  await session.run(ADD, [partId(run, parcel), parcel, lotId, kind, first, count, node, from]);
}

/**
 * The part as a lot of the folder, which knows nothing of parts: one of its own, under a name that tells which blocks of
 * which lot it holds. What is proved of a lot is read in PostgreSQL, under the lot's own id.
 */
export function folderRecordOf({ lot, run, parcel }: LotPart): LotRecord {
  return { ...lot, id: partId(run, parcel), assessments: [], commitment: HELD_BACK };
}

/** Which blocks a lot of the folder holds: all of its kind from `first` on. */
export function placeOf(folderLotId: string): { lotId: string; first: number } {
  const [lotId, first = '0'] = folderLotId.split('/');
  return { lotId, first: Number(first) };
}

function partId({ lotId, first }: BlockRun, parcel: Uint8Array): string {
  return `${lotId}/${first}/${toHex(parcel)}`;
}
