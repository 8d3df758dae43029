import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { LimitAsk, Limits } from '../ledger/sharing.ts';
import type { Meter } from './meter.ts';
import { COMES_BACK_S } from './reservation.ts';

export interface SharedLimitsOptions {
  readonly limits: Pick<Limits, 'askLimits'>;
  readonly log: Log;
}

/** How often the ledger is told what is not needed, and asked what is left. */
const LOOK_INTERVAL_MS = 250;
/** Looks at an account after it was last used: in three seconds, what it holds and what others hold of it has come back. */
const LOOKS_AFTER_USE = (COMES_BACK_S * 1_000) / LOOK_INTERVAL_MS;
/** Requests of one account that wait for an answer; one more is refused with `overloaded`. */
const WAITING_MAX = 1_024;
/** Accounts in one call. */
const ACCOUNTS_PER_CALL_MAX = 1_000;

interface SharedAccount {
  readonly number: number;
  readonly meter: Meter;
  waiting: Waiting[];
  /** The meter's at the last look. */
  activity: number;
  requestsUsed: number;
  looksLeft: number;
  /** Credits were asked for since the last look: whoever did takes them a moment later. */
  hasAskedCredits: boolean;
}

interface Waiting {
  readonly credits: number;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * The parts that this node holds of the months of accounts which several nodes serve. Whoever finds a meter's ceiling
 * reached asks here; all who ask in one turn of the loop share one call, and one call is under way at a time. At each look a
 * node keeps as many requests as it used since the one before, or half of what it holds if that is more, and no credits.
 *
 * A meter is lowered before the ledger is told, and raised after the ledger has granted. So a node may use less than the
 * ledger believes, and never more; when an answer is lost, the next call says what is really held.
 */
export class SharedLimits {
  readonly #options: SharedLimitsOptions;
  readonly #accounts = new Map<number, SharedAccount>();
  readonly #due = new Set<SharedAccount>();
  #order = 0;
  #period = 0;
  #running: Promise<void> | undefined;
  #isScheduled = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SharedLimitsOptions) {
    this.#options = options;
  }

  /** A new account, of which the node holds nothing. The next look finds out what is left of it. */
  add(number: number, meter: Meter): void {
    const unseen = { activity: Number.NaN, requestsUsed: 0, looksLeft: 0, hasAskedCredits: false };
    this.#accounts.set(number, { number, meter, waiting: [], ...unseen });
  }

  /** See Meter.ask. */
  ask(accountNumber: number, credits: number): Promise<void> {
    const account = this.#accounts.get(accountNumber);
    if (account === undefined || this.#isClosed || account.waiting.length >= WAITING_MAX)
      return Promise.reject(new ApiError('overloaded', { retryAfterS: 1 }));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    account.waiting.push({ credits, resolve, reject });
    account.hasAskedCredits ||= credits > 0;
    account.looksLeft = LOOKS_AFTER_USE;
    this.#due.add(account);
    this.#schedule();
    return promise;
  }

  /** Begins to look. The timer alone does not keep the process alive. */
  start(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(async () => {
      await this.look();
      this.start();
    }, LOOK_INTERVAL_MS).unref();
  }

  /** Tells the ledger what changed, and learns what is left, which month it is and how many nodes live. Never rejects. */
  async look(): Promise<void> {
    for (const account of this.#accounts.values()) {
      const { meter } = account;
      if (meter.activity !== account.activity) account.looksLeft = LOOKS_AFTER_USE;
      account.activity = meter.activity;
      if (account.looksLeft === 0) continue;
      account.looksLeft--;
      const { requestsGranted, requestsUsed } = meter.share();
      const half = Math.floor((requestsGranted - requestsUsed) / 2);
      meter.keep(Math.max(requestsUsed - account.requestsUsed, half), account.hasAskedCredits);
      account.requestsUsed = requestsUsed;
      account.hasAskedCredits = false;
      this.#due.add(account);
    }
    await this.#running;
    await this.#run(true);
  }

  /** Gives back what is not used. Nothing is asked for any more. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isClosed = true;
    await this.#running;
    for (const account of this.#accounts.values()) if (account.meter.keep(0, false)) this.#due.add(account);
    await this.#run(false);
  }

  /** After all requests of this turn were taken in. */
  #schedule(): void {
    if (this.#isScheduled || this.#running !== undefined) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run(false);
    });
  }

  /** Asks for all that is due, a call after the other. With `isLook`, at least one call. */
  #run(isLook: boolean): Promise<void> {
    this.#running ??= this.#askAll(isLook).finally(() => {
      this.#running = undefined;
      if (this.#due.size > 0) this.#schedule();
    });
    return this.#running;
  }

  async #askAll(isLook: boolean): Promise<void> {
    let mustCall = isLook;
    // what becomes due meanwhile is for the next run, so that a look ends
    for (let left = this.#due.size; left > 0 || mustCall; left -= ACCOUNTS_PER_CALL_MAX) {
      mustCall = false;
      await this.#askOnce([...this.#due].slice(0, ACCOUNTS_PER_CALL_MAX));
    }
  }

  async #askOnce(accounts: readonly SharedAccount[]): Promise<void> {
    const waiting: Waiting[] = [];
    const asks: LimitAsk[] = [];
    for (const account of accounts) {
      this.#due.delete(account);
      asks.push(askOf(account));
      waiting.push(...account.waiting);
      account.waiting = [];
    }
    try {
      const { grants, period, nodes } = await this.#options.limits.askLimits(++this.#order, asks);
      for (const grant of grants) this.#accounts.get(grant.accountNumber)?.meter.grant(grant);
      for (const { meter } of this.#accounts.values()) meter.divideRate(nodes);
      if (period > this.#period) this.#turn(period);
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      for (const account of accounts) account.looksLeft = LOOKS_AFTER_USE;
      for (const { reject } of waiting) reject(error);
      if (!(error instanceof ApiError) && waiting.length === 0 && !this.#isClosed)
        this.#options.log.error({ err: error }, 'limits that nodes share cannot be asked for');
    }
  }

  /** A new month: of every account, what is left is to be found out. */
  #turn(period: number): void {
    this.#period = period;
    for (const account of this.#accounts.values()) {
      if (account.meter.share().period < period) this.#due.add(account);
    }
  }
}

function askOf({ number, meter, waiting }: SharedAccount): LimitAsk {
  const share = meter.share();
  const requests = waiting.filter(({ credits }) => credits === 0).length;
  return {
    accountNumber: number,
    ...share,
    // another thread's request may have brought some
    requestsWanted: Math.max(0, requests - (share.requestsGranted - share.requestsUsed)),
    creditsWanted: waiting.reduce((sum, { credits }) => sum + credits, 0),
  };
}
