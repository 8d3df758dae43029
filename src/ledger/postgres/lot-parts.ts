import { toHex } from '../../core/bytes.ts';
import type { BlockRun } from '../parcel-box.ts';
import type { BlockKind, LotCommitment, LotRecord } from '../records.ts';
import type { Database, Session } from './connection.ts';
import { type NamedEpoch, requireEpoch } from './node.ts';

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

/** Those of this node, in the order of their age. */
const OLD = {
  name: 'lot_parts_old',
  text: `SELECT id, at_ms FROM qrn.lot_part WHERE node = $1 AND at_ms < $2 AND (at_ms, id) > ($3, $4) AND NOT burned
ORDER BY at_ms, id LIMIT 256`,
};
const DROP = { name: 'lot_parts_drop', text: 'DELETE FROM qrn.lot_part WHERE node = $1 AND id = ANY($2)' };
const DROP_BURNED = {
  name: 'lot_parts_drop_burned',
  text: 'DELETE FROM qrn.lot_part WHERE burned AND at_ms < $1',
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
 * Forgets parts that came before: those of this node of which no block is left, and those of any node that were burned. One
 * that has blocks stays, so that a withdrawal of its lot reaches them.
 */
export async function dropParts(
  database: Database,
  node: NamedEpoch,
  beforeMs: number,
  unclaimedBlocks: (folderLotId: string) => Promise<number>,
): Promise<void> {
  for (let last = { at_ms: -1, id: '' }; ; ) {
    const old = await database.run<typeof last>(OLD, [node.number, beforeMs, last.at_ms, last.id]);
    if (old.length === 0) break;
    const empty: string[] = [];
    for (const { id } of old) if ((await unclaimedBlocks(id)) === 0) empty.push(id);
    if (empty.length > 0)
      await database.transact(async (session) => {
        await requireEpoch(session, node);
        await session.run(DROP, [node.number, empty]);
      });
    last = old[old.length - 1];
  }
  await database.run(DROP_BURNED, [beforeMs]);
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
