import { setImmediate as nextTurn } from 'node:timers/promises';
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
/** In so many looks each account had its turn that is not used, so that others have what it holds when they need it. */
const LOOKS_TO_ALL = (COMES_BACK_S * 1_000) / LOOK_INTERVAL_MS;
/** Of them in one look, where there are as many: of more than 3,000, each has its turn later. */
const RESTING_PER_LOOK_MIN = 16;
const RESTING_PER_LOOK_MAX = 256;
/** Requests of an account without a rate that a node holds; four million a second use them up. */
const HELD_MAX = 2 ** 20;
/** Accounts in one call. */
const ACCOUNTS_PER_CALL_MAX = 1_000;

interface SharedAccount {
  readonly number: number;
  readonly meter: Meter;
  /** The meter's at the last look; NaN where another one is due. */
  activity: number;
  requestsUsed: number;
  /** In the next call, beyond what the node holds. */
  requestsWanted: number;
  creditsWanted: number;
  /** It was not used when it was last looked at. */
  isResting: boolean;
  /** Callers that wait for credits. */
  asking: number;
  /** The look before the last answer to one of them, who takes the credits a moment later. */
  answeredAfterLook: number;
}

/**
 * The parts that this node holds of the months of accounts which several nodes serve. Four times a second it looks at those that
 * were used, and makes good what was: of each account a node holds as many requests as its part of the burst, so that the rate
 * limit refuses a request before the node has none, while the ledger has enough for all. Once everything is granted a node keeps
 * no more than twice what it used since the last look. Credits are taken at the price of an answer when it is drawn: all who
 * ask in one turn of the loop share one call, and one call is under way at a time.
 *
 * A meter is lowered before the ledger is told, and raised after the ledger has granted. So a node may use less than the
 * ledger believes, and never more; when an answer is lost, the next call says what is really held.
 */
export class SharedLimits {
  readonly #options: SharedLimitsOptions;
  readonly #accounts = new Map<number, SharedAccount>();
  readonly #inTurn: SharedAccount[] = [];
  #nextInTurn = 0;
  readonly #due = new Set<SharedAccount>();
  #order = 0;
  #looks = 0;
  #period = 0;
  /** The call that is under way, and the one that takes what becomes due meanwhile. */
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SharedLimitsOptions) {
    this.#options = options;
  }

  /** A new account. Resolves when the node holds some of it, or the ledger is away: then the looks go on trying. Never rejects. */
  add(number: number, meter: Meter): Promise<void> {
    const nothing = { requestsUsed: 0, requestsWanted: 0, creditsWanted: 0 };
    const rest = { isResting: false, asking: 0, answeredAfterLook: Number.NEGATIVE_INFINITY };
    const account = { number, meter, activity: Number.NaN, ...nothing, ...rest };
    this.#accounts.set(number, account);
    this.#inTurn.push(account);
    this.#lookAt(account);
    return this.#call().catch(() => {});
  }

  /** See Cells.ask. */
  async ask(accountNumber: number, credits: number): Promise<void> {
    const account = this.#accounts.get(accountNumber);
    if (account === undefined || this.#isClosed) throw new ApiError('overloaded', { retryAfterS: 1 });
    account.creditsWanted += credits;
    account.asking++;
    this.#due.add(account);
    try {
      await this.#call();
    } finally {
      account.asking--;
      account.answeredAfterLook = this.#looks;
    }
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
    this.#looks++;
    const { length } = this.#inTurn;
    const share = Math.max(Math.ceil(length / LOOKS_TO_ALL), RESTING_PER_LOOK_MIN);
    const resting = Math.min(share, length, RESTING_PER_LOOK_MAX);
    for (let i = 0; i < resting; i++) this.#lookAt(this.#inTurn[this.#nextInTurn++ % length]);
    for (const account of this.#inTurn) if (isUsed(account)) this.#lookAt(account);
    await this.#call().catch((error: unknown) => {
      if (!(error instanceof ApiError) && !this.#isClosed)
        this.#options.log.error({ err: error }, 'limits that nodes share cannot be asked for');
    });
  }

  /** Gives up what the node does not need of the account, or has more of it asked for. */
  #lookAt(account: SharedAccount): void {
    const { meter } = account;
    const { requestsGranted, requestsUsed } = meter.share();
    const isInUse = isUsed(account);
    const usedSince = Math.max(0, requestsUsed - account.requestsUsed);
    const scarce = isInUse ? 2 * usedSince + 1 : 0;
    const most = meter.isAllGranted ? scarce : Math.max(usedSince, Math.min(meter.burstHere, HELD_MAX));
    meter.keep(most, this.#keepsCredits(account));
    const missing = Math.max(0, most - (requestsGranted - requestsUsed));
    // what rests asks as well, since its part of the rate grows when a node stops: but never for what others may soon need
    if (isInUse || meter.isPlentyFor(missing)) account.requestsWanted = missing;
    account.isResting = !isInUse;
    account.activity = meter.activity;
    account.requestsUsed = requestsUsed;
    this.#due.add(account);
  }

  /** Credits are kept for whoever asked from then on, through the answer, until the second look behind it. */
  #keepsCredits({ asking, answeredAfterLook }: SharedAccount): boolean {
    return asking > 0 || this.#looks <= answeredAfterLook + 1;
  }

  /** Gives back what is not used. Nothing is asked for any more. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isClosed = true;
    await this.#last;
    for (const account of this.#inTurn) if (account.meter.keep(0, false)) this.#due.add(account);
    if (this.#due.size > 0) await this.#call().catch(() => {}); // a node that is settled gives it back
  }

  /** Resolves when the ledger has answered for all that is due: in the next turn, or behind the call that is under way. */
  #call(): Promise<void> {
    this.#next ??= this.#last.then(nextTurn).then(() => {
      this.#next = undefined;
      const called = this.#askAll();
      this.#last = called.catch(() => {});
      return called;
    });
    return this.#next;
  }

  async #askAll(): Promise<void> {
    const due = [...this.#due];
    this.#due.clear();
    try {
      let asked = 0;
      do await this.#askOnce(due.slice(asked, (asked += ACCOUNTS_PER_CALL_MAX)));
      while (asked < due.length);
    } catch (error) {
      for (const account of due) account.activity = Number.NaN;
      throw error;
    }
  }

  async #askOnce(accounts: readonly SharedAccount[]): Promise<void> {
    const asks = accounts.map(askOf);
    for (const account of accounts) Object.assign(account, { requestsWanted: 0, creditsWanted: 0 });
    const { grants, period, nodes } = await this.#options.limits.askLimits(++this.#order, asks);
    for (const grant of grants) {
      const account = this.#accounts.get(grant.accountNumber)!;
      const { meter, isResting } = account;
      const { period: counted } = meter.share();
      meter.grant(grant);
      // what was asked for went by the last month, of which nothing may have been left
      if (counted > 0 && grant.period > counted) account.activity = Number.NaN;
      // another node may need what rests here: the next call tells that it is given up
      if (isResting && meter.isAllGranted && meter.keep(0, this.#keepsCredits(account)))
        this.#due.add(account);
    }
    for (const { meter } of this.#inTurn) meter.divideRate(nodes);
    if (period > this.#period) this.#turn(period);
  }

  /** A new month: the next look takes some of it for every account. */
  #turn(period: number): void {
    this.#period = period;
    for (const account of this.#inTurn)
      if (account.meter.share().period < period) account.activity = Number.NaN;
  }
}

/** It was used, asked for or changed since the last look at it, or that was not told. */
function isUsed({ meter, activity }: SharedAccount): boolean {
  return meter.activity !== activity;
}

function askOf({ number, meter, requestsWanted, creditsWanted }: SharedAccount): LimitAsk {
  return { accountNumber: number, ...meter.share(), requestsWanted, creditsWanted };
}
