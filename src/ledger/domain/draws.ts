import { isDeepStrictEqual } from 'node:util';
import type { DrawRecord } from '../draw-records.ts';
import { type DrawStore, LedgerError } from '../ledger.ts';
import { type Store, tx } from '../store.ts';
import { DRAW_LEAVES, DRAWS, increase, OPEN_DRAWS } from '../tables.ts';
import type { Auditor } from './auditor.ts';

const STATES: readonly DrawRecord['state'][] = ['opening', 'committed', 'ended'];
/** One lock for all draws is enough: they are rare. */
const LOCKS = ['draws'];

/** Committed draws, the list of those that have not ended, and the leaves that wait to be logged. */
export function drawsIn(store: Store): DrawStore {
  return {
    openDraw: (draw, openMax) =>
      store.write(LOCKS, function* () {
        const { id, accountNumber, state } = draw;
        if (state !== 'opening')
          throw new LedgerError('refused', `draw ${id} must be opened in the state opening, not ${state}`);
        const stored = yield* tx.get(DRAWS, id);
        if (isDeepStrictEqual(stored, draw)) return true;
        if (stored !== undefined) throw new LedgerError('conflict', `draw ${id} exists`);
        const ofAccount = { from: [accountNumber, ''], before: [accountNumber + 1, ''], limit: openMax };
        const open = yield* tx.range(OPEN_DRAWS, ofAccount);
        if (open.length >= openMax) return false;
        yield* tx.put(DRAWS, id, draw);
        yield* tx.put(OPEN_DRAWS, [accountNumber, id], 0);
        yield* increase('draws', 1);
        return true;
      }),

    putDraw: (draw, leaf) =>
      store.write(LOCKS, function* () {
        const { id, accountNumber, state } = draw;
        const stored = yield* tx.get(DRAWS, id);
        if (stored === undefined) throw new LedgerError('refused', `there is no draw ${id}`);
        if (stored.accountNumber !== accountNumber)
          throw new LedgerError('conflict', `draw ${id} belongs to another account`);
        if (isDeepStrictEqual(stored, draw)) return true;
        if (stored.state === 'ended' || STATES.indexOf(state) < STATES.indexOf(stored.state)) return false;
        yield* tx.put(DRAWS, id, draw);
        if (state === 'ended') yield* tx.remove(OPEN_DRAWS, [[accountNumber, id]]);
        if (leaf !== undefined) yield* tx.put(DRAW_LEAVES, yield* increase('drawLeaves', 1), leaf);
        return true;
      }),

    dropDraw: (id) =>
      store.write(LOCKS, function* () {
        const stored = yield* tx.get(DRAWS, id);
        if (stored?.state !== 'opening') return;
        yield* tx.remove(DRAWS, [id]);
        yield* tx.remove(OPEN_DRAWS, [[stored.accountNumber, id]]);
        yield* increase('draws', -1);
      }),

    draw: (id) => store.read(() => tx.get(DRAWS, id)),

    openDraws: (limit) =>
      store.read(function* () {
        const ids = (yield* tx.range(OPEN_DRAWS, { limit })).map(({ key }) => key[1]);
        return [...(yield* tx.getAll(DRAWS, ids))];
      }),

    drawLeaves: (limit) =>
      store.read(function* () {
        const waiting = yield* tx.range(DRAW_LEAVES, { limit });
        return waiting.map(({ key, value }) => ({ ...value, ordinal: key }));
      }),

    drawLeavesLogged: (ordinals) =>
      store.write(LOCKS, function* () {
        yield* tx.remove(DRAW_LEAVES, ordinals);
      }),
  };
}

/** Checks that no draw is missing, and that exactly the open ones are listed. */
export async function auditDraws(auditor: Auditor): Promise<void> {
  const draws = await auditor.records(DRAWS, 'draws');
  const open = [...draws].filter(([, { state }]) => state !== 'ended');
  await auditor.implied(
    OPEN_DRAWS,
    new Map(open.map(([id, { accountNumber }]) => [String([accountNumber, id]), 0])),
  );
  await auditor.walk(DRAW_LEAVES, (ordinal, { drawId }) => {
    if (!draws.has(drawId)) auditor.problem(`leaf ${ordinal} is of the unknown draw ${drawId}`);
  });
}
