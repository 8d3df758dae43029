import { ApiError } from '../core/errors.ts';

/** Whom work and memory are counted for: the number of an account, or one of those below. */
export type Owner = number;
/** All clients without a key together. */
export const NO_KEY: Owner = -1;
/** Programs on this machine that ask without a key: the operator's probes. */
export const THIS_MACHINE: Owner = -2;
/** PDFs for all clients without a key: a worker draws them, in time of their own. */
export const PDFS: Owner = -3;

/** What one thing takes of a budget. */
export interface Hold {
  /** It takes this much from now on; 0 gives all of it back. */
  resize(amount: number): void;
}

/**
 * What is under way against a bound: bytes of memory, microseconds of work that wait, or look-ups. No owner has more than its
 * part of it, so that there is room for the next; what is above the bound by itself is let in when nothing else is there. Amounts are whole
 * numbers, so that nothing is left when all is given back.
 */
export class Budget {
  readonly #max: number;
  readonly #ownMax: number;
  readonly #besides: () => number;
  readonly #byOwner = new Map<Owner, number>();
  #total = 0;

  /** `besides` is under way too, for nobody in particular. */
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

  /** Throws 503 `overloaded`, with the `refusal` as its message, when it does not fit. */
  hold(owner: Owner, amount: number, refusal?: string): Hold {
    if (!this.fits(owner, amount))
      throw new ApiError('overloaded', { retryAfterS: 1, ...(refusal && { message: refusal }) });
    return this.add(owner, amount);
  }

  /** Counts what is there whether it fits or not. */
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
