import type { DrawLeaf, DrawRecord, WaitingDrawLeaf } from '../../src/ledger/draw-records.ts';
import { type DrawStore, LedgerError } from '../../src/ledger/ledger.ts';

/** What may stand in place of a draw in each state. Said here again, so that the model shares no rule with what it is held against. */
const NEXT: Readonly<Record<DrawRecord['state'], readonly DrawRecord['state'][]>> = {
  opening: ['opening', 'committed', 'ended'],
  committed: ['committed', 'ended'],
  ended: [],
};

/** Draws in the model of the ledger. */
export class MemoryDraws implements DrawStore {
  readonly #draws = new Map<string, DrawRecord>();
  #leaves: WaitingDrawLeaf[] = [];
  #leafCount = 0;

  async openDraw(draw: DrawRecord, openMax: number): Promise<boolean> {
    if (draw.state !== 'opening') throw new LedgerError('refused', `draw ${draw.id} is ${draw.state}`);
    if (this.#draws.has(draw.id)) throw new LedgerError('conflict', `draw ${draw.id} exists`);
    const open = this.#open().filter(({ accountNumber }) => accountNumber === draw.accountNumber);
    if (open.length >= openMax) return false;
    this.#draws.set(draw.id, { ...draw });
    return true;
  }

  async putDraw(draw: DrawRecord, leaf?: DrawLeaf): Promise<boolean> {
    const stored = this.#draws.get(draw.id);
    if (stored === undefined) throw new LedgerError('refused', `draw ${draw.id} is missing`);
    if (stored.accountNumber !== draw.accountNumber)
      throw new LedgerError('conflict', `draw ${draw.id} is of account ${stored.accountNumber}`);
    if (!NEXT[stored.state].includes(draw.state)) return false;
    this.#draws.set(draw.id, { ...draw });
    if (leaf !== undefined) this.#leaves.push({ ...leaf, ordinal: ++this.#leafCount });
    return true;
  }

  async dropDraw(id: string): Promise<void> {
    if (this.#draws.get(id)?.state === 'opening') this.#draws.delete(id);
  }

  async draw(id: string): Promise<DrawRecord | undefined> {
    return this.#draws.get(id);
  }

  async openDraws(limit: number): Promise<DrawRecord[]> {
    return this.#open().slice(0, limit);
  }

  async drawLeaves(limit: number): Promise<WaitingDrawLeaf[]> {
    return this.#leaves.slice(0, limit);
  }

  async drawLeavesLogged(ordinals: readonly number[]): Promise<void> {
    this.#leaves = this.#leaves.filter(({ ordinal }) => !ordinals.includes(ordinal));
  }

  #open(): DrawRecord[] {
    const open = [...this.#draws.values()].filter(({ state }) => state !== 'ended');
    return open.sort((a, b) => a.accountNumber - b.accountNumber || (a.id < b.id ? -1 : 1));
  }
}
