import type { RateRecord } from './records.ts';
import { EntryCursor } from './segment.ts';
import { type Body, type Store, tx } from './store.ts';
import { RATES } from './tables.ts';

/**
 * Saved limiter states, joined with the entries of segments that were committed since. An entry issued after the newest
 * admission that its node saved of the account is an admission that the state lacks; one admitted before the save and issued
 * after it counts twice, which errs on the strict side. `tatMs` is the latest that any node saved (0 for an account without
 * a saved state).
 */
export class SavedRates {
  readonly #rates = new Map<number, JoinedRate>();

  /** Those of all nodes. */
  static async in(store: Store): Promise<SavedRates> {
    const rates = new SavedRates();
    for (const { key, value } of await store.read(() => tx.range(RATES, {}))) rates.#addSaved(key[0], value);
    return rates;
  }

  #addSaved(node: number, { accountNumber, tatMs, admittedAtMs }: RateRecord): void {
    const rate = this.#rateOf(accountNumber);
    rate.tatMs = Math.max(rate.tatMs, tatMs);
    rate.admittedAtMs.push(...admittedAtMs);
    rate.savedToMs.set(node, admittedAtMs.at(-1) ?? Number.NEGATIVE_INFINITY);
  }

  addEntries(node: number, entries: Uint8Array): void {
    const cursor = new EntryCursor(entries);
    while (cursor.next()) {
      const rate = this.#rateOf(cursor.accountNumber);
      const savedToMs = rate.savedToMs.get(node) ?? Number.NEGATIVE_INFINITY;
      if (cursor.issuedAtMs > savedToMs) rate.admittedAtMs.push(cursor.issuedAtMs);
    }
  }

  records(): RateRecord[] {
    const sorted = [...this.#rates].sort(([a], [b]) => a - b);
    return sorted.map(([accountNumber, { tatMs, admittedAtMs }]) => {
      return { accountNumber, tatMs, admittedAtMs: admittedAtMs.sort((a, b) => a - b) };
    });
  }

  #rateOf(accountNumber: number): JoinedRate {
    let rate = this.#rates.get(accountNumber);
    if (rate === undefined) {
      rate = { tatMs: 0, admittedAtMs: [], savedToMs: new Map() };
      this.#rates.set(accountNumber, rate);
    }
    return rate;
  }
}

/** In place of what the node saved before. */
export function* putRates(node: number, rates: readonly RateRecord[]): Body<void> {
  yield* tx.putAll(
    RATES,
    rates.map((rate) => [[node, rate.accountNumber], rate]),
  );
}

interface JoinedRate {
  tatMs: number;
  readonly admittedAtMs: number[];
  /** The newest admission that each node saved. */
  readonly savedToMs: Map<number, number>;
}
