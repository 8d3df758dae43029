import type { DrawLeaf, WaitingDrawLeaf } from '../ledger/draw-records.ts';
import type { DrawStore } from '../ledger/ledger.ts';
import type { LogReader } from './log-records.ts';

/** What the log reads of draws. */
export type DrawLeafStore = Pick<DrawStore, 'drawLeaves' | 'drawLeavesLogged'>;

/** Leaves taken into one batch of the log at most. */
const LEAVES_PER_BATCH = 256;

/** Where the log keeps a leaf of a draw. */
export function drawLeafKey({ drawId, kind }: Pick<DrawLeaf, 'drawId' | 'kind'>): string {
  return `draw/${drawId}/${kind}`;
}

/** Leaves of draws that are not logged yet, in the order in which they came. */
export async function newDrawLeaves(store: DrawLeafStore & LogReader): Promise<WaitingDrawLeaf[]> {
  const waiting = await store.drawLeaves(LEAVES_PER_BATCH);
  const fresh: WaitingDrawLeaf[] = [];
  for (const leaf of waiting) {
    if ((await store.getLog(drawLeafKey(leaf))) === undefined) fresh.push(leaf);
  }
  // a crash between a batch and what follows it leaves them behind
  await forgetDrawLeaves(
    store,
    waiting.filter((leaf) => !fresh.includes(leaf)),
  );
  return fresh;
}

/** These are logged: they wait no more. */
export async function forgetDrawLeaves(
  store: Pick<DrawLeafStore, 'drawLeavesLogged'>,
  leaves: readonly WaitingDrawLeaf[],
): Promise<void> {
  if (leaves.length > 0) await store.drawLeavesLogged(leaves.map(({ ordinal }) => ordinal));
}
