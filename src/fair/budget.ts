import { ApiError } from '../core/errors.ts';

/** Whom work and memory are charged to: the number of an account, or one of the negative numbers below. */
export type Owner = number;
/** All clients without a key together. */
export const NO_KEY: Owner = -1;
/** Programs on this machine that ask without a key: the operator's probes. */
export const THIS_MACHINE: Owner = -2;
/** The drawing of PDFs, for all clients without a key together. A worker draws them, so they have a share of their own. */
export const PDFS: Owner = -3;

/** The amount that one thing holds of a budget. */
export interface Hold {
  /** Changes the amount that is held; 0 gives all of it back. */
  resize(amount: number): void;
}

/**
 * Counts what is under way against a bound: bytes of memory, microseconds of work that waits, or look-ups. No owner may hold
 * more than its part of the bound, so that there is room for the next owner. An amount above the bound is let in when nothing
 * else is held. Amounts are whole numbers, so that the total is exactly 0 when everything was given back.
 */
export class Budget {
  readonly #max: number;
  readonly #ownMax: number;
  readonly #besides: () => number;
  readonly #byOwner = new Map<Owner, number>();
  #total = 0;

  /** `besides` returns an amount that counts against the bound but belongs to no owner. */
  constructor(max: number, besides: () => number = () => 0, ownMax = max / 2) {
    this.#max = max;
    this.#ownMax = ownMax;
    this.#besides = besides;
  }

  get total(): number {
    return this.#total + this.#besides();
  }

  fits(owner: Owner, amount: number): boolean {
    const total = this.total;
    if (total === 0) return true;
    if (total + amount > this.#max) return false;
    const own = this.#byOwner.get(owner);
    return own === undefined || own + amount <= this.#ownMax;
  }

  /** Holds the amount. Throws 503 `overloaded`, with `refusal` as its message if given, when it does not fit. */
  hold(owner: Owner, amount: number, refusal?: string): Hold {
    if (!this.fits(owner, amount))
      throw new ApiError('overloaded', { retryAfterS: 1, ...(refusal && { message: refusal }) });
    return this.add(owner, amount);
  }

  /** Holds the amount whether it fits or not. */
  add(owner: Owner, amount: number): Hold {
    let held = 0;
    const resize = (to: number) => {
      this.#add(owner, to - held);
      held = to;
    };
    resize(amount);
    return { resize };
  }

  #add(owner: Owner, change: number): void {
    const left = (this.#byOwner.get(owner) ?? 0) + change;
    if (left === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, left);
    this.#total += change;
  }
}
