import type { RateRecord } from './records.ts';
import { EntryCursor } from './segment.ts';
import { type Body, type Store, tx } from './store.ts';
import { RATES } from './tables.ts';

/**
 * Joins saved limiter states with the entries of segments committed since. An entry counts as a further admission when it was
 * issued after the newest admission that its node saved for the account. A request admitted before the save and issued after
 * it counts twice, which errs on the strict side. `tatMs` is the latest that any node saved, or 0.
 */
export class SavedRates {
  readonly #rates = new Map<number, JoinedRate>();

  /** Reads the states that all nodes saved. */
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

/** Saves the states in place of those that the node saved before. */
export function* putRates(node: number, rates: readonly RateRecord[]): Body<void> {
  yield* tx.putAll(
    RATES,
    rates.map((rate) => [[node, rate.accountNumber], rate]),
  );
}

interface JoinedRate {
  tatMs: number;
  readonly admittedAtMs: number[];
  /** The newest admission that each node saved (Unix ms). */
  readonly savedToMs: Map<number, number>;
}
