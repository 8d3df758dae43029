import { type Clock, periodOf } from '../core/clock.ts';
import type { Books } from '../ledger/ledger.ts';
import type { Balance, RateRecord } from '../ledger/records.ts';
import { createCell, Meter } from './meter.ts';
import { WINDOW_MS } from './rate.ts';
import type { Allowance } from './tiers.ts';

/** Where an account's shared memory comes from. The same account gives the same cell, in every thread. */
export interface Cells {
  cellOf(accountNumber: number, allowance: Allowance): Promise<SharedArrayBuffer>;
}

/** The maker of all cells of a process: a new cell starts from what the books say the account has used. */
export class OwnedCells implements Cells {
  readonly #cells = new Map<number, SharedArrayBuffer>();
  readonly #period: number;
  readonly #balances: ReadonlyMap<number, Balance>;
  readonly #rates: ReadonlyMap<number, RateRecord>;
  readonly #clock: Clock;

  constructor(period: number, balances: readonly Balance[], rates: readonly RateRecord[], clock: Clock) {
    this.#period = period;
    this.#balances = new Map(balances.map((balance) => [balance.accountNumber, balance]));
    this.#rates = new Map(rates.map((rate) => [rate.accountNumber, rate]));
    this.#clock = clock;
  }

  /** Reads the books once, at start: the current month, or a later one that they already know. */
  static async open(
    books: Pick<Books, 'latestPeriod' | 'balances' | 'loadRates'>,
    clock: Clock,
  ): Promise<OwnedCells> {
    const period = Math.max(periodOf(clock.wallMs()), await books.latestPeriod());
    const balances = await books.balances(period);
    const rates = await books.loadRates(clock.wallMs() - WINDOW_MS);
    return new OwnedCells(period, balances, rates, clock);
  }

  async cellOf(accountNumber: number, allowance: Allowance): Promise<SharedArrayBuffer> {
    let cell = this.#cells.get(accountNumber);
    if (cell === undefined) {
      cell = createCell(allowance);
      this.#begin(new Meter(cell, allowance), accountNumber);
      this.#cells.set(accountNumber, cell);
    }
    return cell;
  }

  #begin(meter: Meter, accountNumber: number): void {
    const unused = { accountNumber, period: this.#period, requests: 0, credits: 0 };
    meter.load(this.#balances.get(accountNumber) ?? unused);
    const rate = this.#rates.get(accountNumber);
    if (rate !== undefined) meter.restore(rate, this.#clock.wallMs(), this.#clock.monotonicMs());
  }
}
