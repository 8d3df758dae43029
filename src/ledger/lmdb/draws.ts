import type { DrawLeaf, DrawRecord, WaitingDrawLeaf } from '../draw-records.ts';
import { mayReplace, requireOpening } from '../draw-rules.ts';
import { type DrawStore, LedgerError } from '../ledger.ts';
import type { Auditor } from './audit-sources.ts';
import type { GroupWriter } from './group-writer.ts';
import { increase, type Tables } from './tables.ts';

type DrawTables = Pick<Tables, 'draws' | 'openDraws' | 'drawLeaves' | 'meta'>;

/** Committed draws, those of them that have not ended by account, and the leaves that wait to be logged. */
export class LmdbDrawStore implements DrawStore {
  readonly #tables: DrawTables;
  readonly #writer: GroupWriter;

  constructor(tables: DrawTables, writer: GroupWriter) {
    this.#tables = tables;
    this.#writer = writer;
  }

  openDraw(draw: DrawRecord, openMax: number): Promise<boolean> {
    return this.#writer.submit(() => {
      const { draws, openDraws, meta } = this.#tables;
      const { id, accountNumber } = draw;
      requireOpening(draw);
      if (draws.has(id)) throw new LedgerError('conflict', `draw ${id} exists`);
      const open = openDraws.entries({
        from: [accountNumber, ''],
        before: [accountNumber + 1, ''],
        limit: openMax,
      });
      if ([...open].length >= openMax) return false;
      draws.put(id, draw);
      openDraws.put([accountNumber, id], 0);
      increase(meta, 'draws', 1);
      return true;
    });
  }

  putDraw(draw: DrawRecord, leaf?: DrawLeaf): Promise<boolean> {
    return this.#writer.submit(() => {
      const { draws, openDraws, drawLeaves, meta } = this.#tables;
      const { id, accountNumber } = draw;
      if (!mayReplace(draws.get(id), draw)) return false;
      draws.put(id, draw);
      if (draw.state === 'ended') openDraws.remove([accountNumber, id]);
      if (leaf !== undefined) drawLeaves.put(increase(meta, 'drawLeaves', 1), leaf);
      return true;
    });
  }

  dropDraw(id: string): Promise<void> {
    return this.#writer.submit(() => {
      const { draws, openDraws, meta } = this.#tables;
      const stored = draws.get(id);
      if (stored?.state !== 'opening') return;
      draws.remove(id);
      openDraws.remove([stored.accountNumber, id]);
      increase(meta, 'draws', -1);
    });
  }

  async draw(id: string): Promise<DrawRecord | undefined> {
    return this.#tables.draws.get(id);
  }

  async openDraws(limit: number): Promise<DrawRecord[]> {
    const { draws, openDraws } = this.#tables;
    const records: DrawRecord[] = [];
    for (const { key } of openDraws.entries({ limit })) {
      const record = draws.get(key[1]);
      if (record === undefined) throw new LedgerError('damaged', `draw ${key[1]} is listed but not stored`);
      records.push(record);
    }
    return records;
  }

  async drawLeaves(limit: number): Promise<WaitingDrawLeaf[]> {
    const { drawLeaves } = this.#tables;
    return [...drawLeaves.entries({ limit })].map(({ key, value }) => ({ ...value, ordinal: key }));
  }

  drawLeavesLogged(ordinals: readonly number[]): Promise<void> {
    return this.#writer.submit(() => {
      for (const ordinal of ordinals) this.#tables.drawLeaves.remove(ordinal);
    });
  }
}

/** Every draw is there, and the open ones are listed. */
export async function auditDraws(tables: DrawTables, auditor: Auditor): Promise<void> {
  const open = new Map<string, number>();
  const known = new Set<string>();
  await auditor.walk(tables.draws, (id, { state, accountNumber }) => {
    known.add(id);
    if (state !== 'ended') open.set(id, accountNumber);
  });
  auditor.checkCount('draws', known.size);
  await auditor.walk(tables.openDraws, ([accountNumber, id]) => {
    if (open.get(id) !== accountNumber) auditor.problem(`draw ${id} is listed as open and is not`);
    open.delete(id);
  });
  for (const id of open.keys()) auditor.problem(`draw ${id} has not ended and is not listed as open`);
  await auditor.walk(tables.drawLeaves, (ordinal, { drawId }) => {
    if (!known.has(drawId)) auditor.problem(`leaf ${ordinal} is of the unknown draw ${drawId}`);
  });
}
