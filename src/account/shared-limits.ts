import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { LimitAsk, LimitGrant, Limits } from '../ledger/sharing.ts';
import type { Meter } from './meter.ts';
import { COMES_BACK_S } from './reservation.ts';

export interface SharedLimitsOptions {
  readonly limits: Pick<Limits, 'askLimits'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often the ledger is told what is not needed, and asked what is left. */
const LOOK_INTERVAL_MS = 250;
/** Requests of one account that wait for an answer; one more is refused with `overloaded`. */
const WAITING_MAX = 1_024;
/** Accounts in one call. */
const ACCOUNTS_PER_CALL_MAX = 1_000;
/** What an account that rests for so long holds goes back. */
const IDLE_MS = 2_000;

interface SharedAccount {
  readonly number: number;
  readonly meter: Meter;
  waiting: Waiting[];
  /** What the meter's activity was when the ledger was last asked, and when that changed. */
  activity: number;
  activeAtMs: number;
  /** Requests that it had used at the last look. */
  requestsUsed: number;
  /** The ledger is to be told at the next look, even if nothing happened since. */
  isDue: boolean;
  /** When credits were granted last: those who asked for them take them a moment later. */
  grantedAtMs: number;
}

interface Waiting {
  readonly credits: number;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * The parts that this node holds of the months of accounts which several nodes serve. Whoever finds a meter's ceiling
 * reached asks here; all who ask in one turn of the loop share one call, and one call is under way at a time. What is held goes
 * back when the account rests; once all of the month is granted, a node keeps no more than it uses between two looks.
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
    const activeAtMs = this.#options.clock.monotonicMs();
    this.#accounts.set(number, {
      number,
      meter,
      waiting: [],
      activity: Number.NaN,
      activeAtMs,
      requestsUsed: 0,
      isDue: true,
      grantedAtMs: Number.NEGATIVE_INFINITY,
    });
  }

  /** See Meter.ask. */
  ask(accountNumber: number, credits: number): Promise<void> {
    const account = this.#accounts.get(accountNumber);
    if (account === undefined || this.#isClosed || account.waiting.length >= WAITING_MAX)
      return Promise.reject(new ApiError('overloaded', { retryAfterS: 1 }));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    account.waiting.push({ credits, resolve, reject });
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
    const nowMs = this.#options.clock.monotonicMs();
    for (const account of this.#accounts.values()) {
      const { meter } = account;
      const { activity } = meter;
      const isActive = activity !== account.activity;
      if (isActive) {
        account.activity = activity;
        account.activeAtMs = nowMs;
      }
      const { requestsUsed } = meter.share();
      const isIdle = nowMs - account.activeAtMs >= IDLE_MS;
      if (isIdle || meter.isGranted) {
        const isHeld = hasUnused(meter);
        if (isIdle) meter.yieldCredits();
        meter.yieldRequests(isIdle ? 0 : Math.max(0, requestsUsed - account.requestsUsed));
        account.isDue ||= isHeld;
      }
      account.requestsUsed = requestsUsed;
      // whoever was refused is told to come back by then
      const isAwaited =
        meter.isGranted && meter.mayComeBack && nowMs - account.activeAtMs < 1_000 * COMES_BACK_S;
      if (isActive || isAwaited || account.isDue) this.#due.add(account);
    }
    await this.#running;
    await this.#run(true);
  }

  /** Gives back what is not used. Nothing is asked for any more. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isClosed = true;
    await this.#running;
    for (const account of this.#accounts.values()) {
      if (!hasUnused(account.meter)) continue;
      account.meter.yieldCredits();
      account.meter.yieldRequests(0);
      this.#due.add(account);
    }
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
    const nowMs = this.#options.clock.monotonicMs();
    const waiting: Waiting[] = [];
    const asks: LimitAsk[] = [];
    for (const account of accounts) {
      this.#due.delete(account);
      if (wantedBy(account).credits > 0) account.grantedAtMs = nowMs;
      // what those who asked for credits have not taken by now goes back
      else if (nowMs - account.grantedAtMs >= LOOK_INTERVAL_MS) account.meter.yieldCredits();
      asks.push(askOf(account));
      waiting.push(...account.waiting);
      account.waiting = [];
      account.isDue = false;
    }
    try {
      const { grants, period, nodes } = await this.#options.limits.askLimits(++this.#order, asks);
      for (const grant of grants) this.#take(grant);
      for (const { meter } of this.#accounts.values()) meter.divideRate(nodes);
      if (period > this.#period) this.#turn(period);
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      for (const account of accounts) account.isDue = true;
      for (const { reject } of waiting) reject(error);
      if (!(error instanceof ApiError) && waiting.length === 0 && !this.#isClosed)
        this.#options.log.error({ err: error }, 'limits that nodes share cannot be asked for');
    }
  }

  #take(grant: LimitGrant): void {
    const account = this.#accounts.get(grant.accountNumber);
    if (account === undefined) return;
    account.meter.grant(grant);
    // what is granted and not taken in the next turns goes back with the next look
    account.isDue = hasUnusedCredits(account.meter);
  }

  /** A new month: of every account, what is left is to be found out. */
  #turn(period: number): void {
    this.#period = period;
    for (const account of this.#accounts.values()) {
      if (account.meter.share().period < period) this.#due.add(account);
    }
  }
}

function askOf(account: SharedAccount): LimitAsk {
  const { requests, credits } = wantedBy(account);
  const share = account.meter.share();
  return {
    accountNumber: account.number,
    ...share,
    // another thread's request may have brought some
    requestsWanted: Math.max(0, requests - (share.requestsGranted - share.requestsUsed)),
    creditsWanted: credits,
  };
}

function wantedBy({ waiting }: SharedAccount): { requests: number; credits: number } {
  const credits = waiting.reduce((sum, each) => sum + each.credits, 0);
  return { requests: waiting.filter((each) => each.credits === 0).length, credits };
}

function hasUnused(meter: Meter): boolean {
  const { requestsGranted, requestsUsed, creditsGranted, creditsUsed } = meter.share();
  return requestsGranted > requestsUsed || creditsGranted > creditsUsed;
}

function hasUnusedCredits(meter: Meter): boolean {
  const { creditsGranted, creditsUsed } = meter.share();
  return creditsGranted > creditsUsed;
}
