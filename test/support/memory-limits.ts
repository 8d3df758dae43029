import type { Writer } from '../../src/ledger/domain/books.ts';
import { limitsIn, settle } from '../../src/ledger/domain/limits.ts';
import type { LimitAsk, Limits } from '../../src/ledger/sharing.ts';
import { tx } from '../../src/ledger/store.ts';
import { ALLOWANCES, BALANCES, GRANTS, SPENT } from '../../src/ledger/tables.ts';
import type { Charge } from '../../src/ledger/usage-counters.ts';
import { MemoryStore } from './memory-store.ts';

/** Returns what was spent of an account's month. */
type SpentIn = (accountNumber: number, period: number) => Charge;

/** Faults that can be planted, to show that the tests find them. */
export interface LimitFaults {
  /** What a dead node did not use is lost. */
  readonly settlesNothing?: boolean;
  /** Grants are made without looking at what is left. */
  readonly ignoresTotal?: boolean;
}

/** More than any account may use, and still a limit. */
const NO_TOTAL = 2 ** 40;

/** The months that several nodes in memory share, with faults. The ledger's clock is `period`. */
export class MemoryLimits {
  period = 202_611;
  readonly #store: MemoryStore;
  readonly #faults: LimitFaults;
  /** Nodes that live, by name. */
  readonly #live = new Map<string, Writer>();
  #started = 0;

  constructor(faults: LimitFaults = {}, store = new MemoryStore()) {
    this.#faults = faults;
    this.#store = store;
  }

  node(name: string, writer: Writer = { number: ++this.#started, epoch: 1 }): Limits {
    const { ignoresTotal } = this.#faults;
    this.#live.set(name, writer);
    const { isShared, askLimits } = limitsIn(this.#store, writer, async () => {
      if (this.#live.get(name) !== writer) throw new Error('a settled node asks');
      return { period: this.period, nodes: this.#live.size };
    });
    const withoutTotal = (ask: LimitAsk) => ({ ...ask, requestsTotal: NO_TOTAL, creditsTotal: NO_TOTAL });
    return {
      isShared,
      askLimits: (order, asks) => askLimits(order, ignoresTotal ? asks.map(withoutTotal) : asks),
    };
  }

  /** A node died: what it was granted and did not spend goes back. `spentIn` where no books tell what it spent. */
  settle(name: string, spentIn?: SpentIn): void {
    const writer = this.#live.get(name);
    this.#live.delete(name);
    if (writer === undefined || this.#faults.settlesNothing) return;
    const { number, epoch } = writer;
    const range = { from: [number, epoch, 0, 0], before: [number, epoch + 1, 0, 0] } as const;
    for (const { key } of this.#store.within(tx.range(GRANTS, range)))
      if (spentIn !== undefined) this.#store.within(tx.put(SPENT, key, { ...spentIn(key[3], key[2]) }));
    this.#store.within(settle({ number, epoch: epoch + 1 }));
  }

  /** Puts into the books what was spent of an account's month. */
  book(accountNumber: number, spent: Charge): void {
    this.#store.within(tx.put(BALANCES, [this.period, accountNumber], spent));
  }

  /** Returns what is granted of an account's month, to all nodes together. */
  granted(accountNumber: number, period: number): { requests: number; credits: number } {
    return {
      ...(this.#store.within(tx.get(ALLOWANCES, [period, accountNumber])) ?? { requests: 0, credits: 0 }),
    };
  }
}
