import { type Clock, periodOf } from '../core/clock.ts';
import type { Books } from '../ledger/ledger.ts';
import type { Balance, RateRecord } from '../ledger/records.ts';
import { createCell, Meter } from './meter.ts';
import { WINDOW_MS } from './rate.ts';
import type { SharedLimits } from './shared-limits.ts';
import type { Allowance } from './tiers.ts';

/** What a cell is made from. */
interface CountedAccount {
  readonly number: number;
  readonly allowance: Allowance;
}

/** Gives the cell of each account, the shared memory of its limits: the same one in every thread. */
export interface Cells {
  cellsOf(accounts: readonly CountedAccount[]): Promise<SharedArrayBuffer[]>;
  /**
   * Asks the ledger to grant this node credits of an account that nodes share, as many of them as are left. Rejects with
   * `storage_unavailable` or `overloaded`.
   */
  ask(accountNumber: number, credits: number): Promise<void>;
}

/** Makes all cells of a process. A new cell starts from what the books say that the account has used. */
export class OwnedCells implements Cells {
  readonly #cells = new Map<number, Promise<SharedArrayBuffer>>();
  readonly #meters = new Map<number, Meter>();
  readonly #period: number;
  #balances: ReadonlyMap<number, Balance> = new Map();
  #rates: ReadonlyMap<number, RateRecord> = new Map();
  readonly #clock: Clock;
  readonly #shared: SharedLimits | undefined;

  private constructor(clock: Clock, shared: SharedLimits | undefined) {
    this.#clock = clock;
    this.#period = periodOf(clock.wallMs());
    this.#shared = shared;
  }

  /** Reads the books of the current month, once. With `shared`, the accounts are those of several nodes: see SharedLimits. */
  static async open(
    books: Pick<Books, 'balances' | 'loadRates'>,
    clock: Clock,
    shared?: SharedLimits,
  ): Promise<OwnedCells> {
    const cells = new OwnedCells(clock, shared);
    cells.#balances = byAccount(await books.balances(cells.#period));
    cells.#rates = byAccount(await books.loadRates(clock.wallMs() - WINDOW_MS));
    return cells;
  }

  /** Returns the cells, making new ones. A new account that nodes share has been granted a part of its month by then. */
  cellsOf(accounts: readonly CountedAccount[]): Promise<SharedArrayBuffer[]> {
    return Promise.all(
      accounts.map((account) => {
        let cell = this.#cells.get(account.number);
        if (cell === undefined) this.#cells.set(account.number, (cell = this.#make(account)));
        return cell;
      }),
    );
  }

  async #make({ number, allowance }: CountedAccount): Promise<SharedArrayBuffer> {
    const cell = createCell(allowance, this.#shared !== undefined);
    const meter = new Meter(cell);
    this.#begin(meter, number);
    this.#meters.set(number, meter);
    await this.#shared?.add(number, meter);
    return cell;
  }

  /** Returns the states of rate limits that a restart needs, for Books.saveRates. */
  rates(): RateRecord[] {
    const wallMs = this.#clock.wallMs();
    const nowMs = this.#clock.monotonicMs();
    return [...this.#meters].flatMap(([number, meter]) => meter.snapshot(number, wallMs, nowMs) ?? []);
  }

  ask(accountNumber: number, credits: number): Promise<void> {
    return this.#shared!.ask(accountNumber, credits);
  }

  #begin(meter: Meter, accountNumber: number): void {
    const unused = { accountNumber, period: this.#period, requests: 0, credits: 0 };
    meter.load(this.#balances.get(accountNumber) ?? unused); // has no effect on a shared account, whose grants say the month
    const rate = this.#rates.get(accountNumber);
    if (rate !== undefined) meter.restore(rate, this.#clock.wallMs(), this.#clock.monotonicMs());
  }
}

function byAccount<T extends { readonly accountNumber: number }>(records: readonly T[]): Map<number, T> {
  return new Map(records.map((record) => [record.accountNumber, record]));
}
