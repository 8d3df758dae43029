import type { Account } from '../account/directory.ts';
import type { Clock } from '../core/clock.ts';
import { LIMITS } from '../core/limits.ts';

/**
 * So much of the loop's time an account may use at once while others ask too. What each of its requests costs it decides itself
 * (batches, signatures), and a request of the others needs several turns of the loop.
 */
const SLICE_MS = 1;
/**
 * Of the loop's time, what an account may use while others ask too. Reading a request, and what the ledger's thread does for it,
 * is not in it, and takes about half as much again.
 */
const SHARE = 1 / 3;
/** Others ask too for so long after one of them was served. */
const SHARED_MS = 100;
/** What is charged beyond this is forgotten, so that no request waits for longer than a front may be busy. */
const CHARGED_MAX_MS = LIMITS.frontTurnMs * SHARE;
/** The mean time of a request is that of about so many of the last ones. */
const REQUESTS_REMEMBERED = 64;

interface Use {
  /** Of the loop's time, what was charged and not made good since. */
  chargedMs: number;
  chargedAtMs: number;
  /** What the last requests took, and how many they were. */
  usedMs: number;
  requests: number;
}

/**
 * Shares the time of a front's loop among the accounts that ask at the same time: none uses more than a third of it for its draws,
 * signatures and replies. An account that is alone has all of it, and nothing is measured then.
 *
 * A request is charged with what those of its account took in the mean, when its turn comes: much of its work is done later, when
 * the ledger has answered, and those that were begun together are then worked on in one turn.
 */
export class AccountShares {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #uses = new Map<Account | undefined, Use>();
  #nowMs = 0;
  #isShared = false;
  #lastServed: Account | undefined;
  #lastServedMs = Number.NEGATIVE_INFINITY;
  #sharedUntilMs = Number.NEGATIVE_INFINITY;
  #forgottenAtMs = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Several accounts were served of late. */
  get isShared(): boolean {
    return this.#isShared;
  }

  /** A turn of the loop serves these requests. */
  beginTurn(
    ready: readonly { readonly exchange: { readonly account: Account | undefined } }[],
    nowMs: number,
  ) {
    this.#nowMs = nowMs;
    for (const { exchange } of ready) {
      if (exchange.account !== this.#lastServed && nowMs - this.#lastServedMs < SHARED_MS)
        this.#sharedUntilMs = nowMs + SHARED_MS;
      this.#lastServed = exchange.account;
      this.#lastServedMs = nowMs;
    }
    this.#isShared = nowMs < this.#sharedUntilMs;
    if (nowMs - this.#forgottenAtMs > SHARED_MS) this.#forget();
  }

  /** What an account still owes of what it was charged. */
  owedMs(account: Account | undefined): number {
    const use = this.#uses.get(account);
    return use === undefined ? 0 : this.#owedMs(use);
  }

  /** A request of the account may be served in this turn. */
  hasTime(account: Account | undefined): boolean {
    return this.owedMs(account) < SLICE_MS;
  }

  /** Whether a request of the account may be served in this turn. Charges it. */
  take(account: Account | undefined): boolean {
    const use = this.#useOf(account);
    const owedMs = this.#owedMs(use);
    if (owedMs >= SLICE_MS) return false;
    use.chargedMs = Math.min(owedMs + use.usedMs / Math.max(1, use.requests), CHARGED_MAX_MS);
    use.chargedAtMs = this.#nowMs;
    use.requests++;
    if (use.requests < REQUESTS_REMEMBERED) return true;
    use.requests /= 2;
    use.usedMs /= 2;
    return true;
  }

  /** Does some of the account's work, and notes how much of the loop's time it took. */
  spend<T>(account: Account | undefined, work: () => T): T {
    if (!this.#isShared) return work();
    const startedMs = this.#clock.monotonicMs();
    try {
      return work();
    } finally {
      this.#useOf(account).usedMs += this.#clock.monotonicMs() - startedMs;
    }
  }

  #owedMs({ chargedMs, chargedAtMs }: Use): number {
    return Math.max(0, chargedMs - SHARE * (this.#nowMs - chargedAtMs));
  }

  #useOf(account: Account | undefined): Use {
    let use = this.#uses.get(account);
    if (use === undefined) {
      use = { chargedMs: 0, chargedAtMs: this.#nowMs, usedMs: 0, requests: 0 };
      this.#uses.set(account, use);
    }
    return use;
  }

  #forget(): void {
    this.#forgottenAtMs = this.#nowMs;
    for (const [account, { chargedAtMs }] of this.#uses)
      if (!this.#isShared || this.#nowMs - chargedAtMs > SHARED_MS) this.#uses.delete(account);
  }
}
