import { assert } from '../../core/assert.ts';
import type { EntropyStore } from '../../ledger/ledger.ts';
import type { LotRecord } from '../../ledger/records.ts';

/** Lots kept at hand; a service that turns over a lot a minute keeps a day of them. */
const CATALOG_MAX = 2_048;

/**
 * The records of the lots in use, at hand for synchronous reading. Lots never change, so a copy never goes
 * stale. The lot that was made ready longest ago is forgotten first: who keeps bytes of a lot for long keeps
 * its record too, and adds it again before the bytes are used.
 */
export class LotCatalog {
  readonly #store: EntropyStore;
  readonly #lots = new Map<string, LotRecord>();

  constructor(store: EntropyStore) {
    this.#store = store;
  }

  /** The record of a lot that was made ready before. */
  get(id: string): LotRecord {
    const lot = this.#lots.get(id);
    assert(lot !== undefined, `lot ${id} is used before its record is at hand`);
    return lot;
  }

  /** Makes the lot's record ready for `get`. */
  async ready(id: string): Promise<LotRecord> {
    const known = this.#lots.get(id);
    if (known !== undefined) return known;
    const lot = await this.#store.lot(id);
    assert(lot !== undefined, `lot ${id} has blocks but no record`);
    this.add(lot);
    return lot;
  }

  add(lot: LotRecord): void {
    if (this.#lots.has(lot.id)) return;
    if (this.#lots.size >= CATALOG_MAX) {
      const oldest = this.#lots.keys().next();
      if (!oldest.done) this.#lots.delete(oldest.value);
    }
    this.#lots.set(lot.id, lot);
  }
}
