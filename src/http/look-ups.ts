import { ApiError } from '../core/errors.ts';

/** Of one account. */
export const LOOK_UPS_MAX = 32;

/**
 * Bounds the look-ups of each account that are under way in a front, so that no account's stand before those of the others
 * (service/ledger-thread.ts). One more is refused with `overloaded`.
 */
export class LookUps {
  /** By number of the account. */
  readonly #underWay = new Map<number, number>();

  async run<T>(accountNumber: number, look: () => T | Promise<T>, refusal?: string): Promise<T> {
    const underWay = this.#underWay.get(accountNumber) ?? 0;
    if (underWay === LOOK_UPS_MAX)
      throw new ApiError('overloaded', { retryAfterS: 1, ...(refusal && { message: refusal }) });
    this.#underWay.set(accountNumber, underWay + 1);
    try {
      return await look();
    } finally {
      const rest = this.#underWay.get(accountNumber)! - 1;
      if (rest === 0) this.#underWay.delete(accountNumber);
      else this.#underWay.set(accountNumber, rest);
    }
  }
}
