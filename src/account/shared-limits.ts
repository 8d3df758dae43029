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

/** How often a node looks at its accounts, gives back what it does not need, and asks for more. */
const LOOK_INTERVAL_MS = 250;
/** Within this many looks each unused account has its turn, so that other nodes get what it holds within COMES_BACK_S. */
const LOOKS_TO_ALL = (COMES_BACK_S * 1_000) / LOOK_INTERVAL_MS;
/** Unused accounts of one look. With more than 3,000 accounts their turns take longer than COMES_BACK_S. */
const RESTING_PER_LOOK_MIN = 16;
const RESTING_PER_LOOK_MAX = 256;
/** The most requests that a node holds of an account without a rate limit: enough for four million a second. */
const HELD_MAX = 2 ** 20;
/** The most accounts in one call. */
const ACCOUNTS_PER_CALL_MAX = 1_000;

interface SharedAccount {
  readonly number: number;
  readonly meter: Meter;
  /** The meter's activity at the last look; NaN when another look is due. */
  activity: number;
  /** The month's requests used at the last look. */
  requestsUsed: number;
  /** What the next call asks for, beyond what the node holds. */
  requestsWanted: number;
  creditsWanted: number;
  /** Whether the account was unused at the last look. */
  isResting: boolean;
  /** Count of callers that wait for credits. */
  asking: number;
  /** The number of the look before the last such caller got its answer. It takes the credits a moment later. */
  answeredAfterLook: number;
}

/**
 * Keeps this node's parts of the limits of accounts that several nodes serve. Four times a second it looks at the accounts
 * that were used, and asks for new requests in place of used ones. While the ledger has enough for all, the node holds as
 * many requests of an account as its part of the burst, so the rate limit refuses a request before the node runs out. When
 * all requests are granted, the node keeps at most twice what it used since the last look. Credits are asked for when an
 * answer has its price. All who ask in one turn of the loop share a call, and one call is under way at a time.
 *
 * The node lowers a meter before it tells the ledger, and raises it after the ledger has granted. So it never uses more
 * than the ledger believes. When an answer is lost, the next call states what the node really holds.
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
  /** The call under way, and the next one, which takes all that becomes due meanwhile. */
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SharedLimitsOptions) {
    this.#options = options;
  }

  /**
   * Adds an account. Resolves when the node was granted a part, or when the ledger is away: later looks then ask again.
   * Never rejects.
   */
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

  /** Starts the looks. Their timer does not keep the process alive. */
  start(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(async () => {
      await this.look();
      this.start();
    }, LOOK_INTERVAL_MS).unref();
  }

  /** Tells the ledger what changed, and takes its grants, the month and the count of live nodes. Never rejects. */
  async look(): Promise<void> {
    this.#looks++;
    const { length } = this.#inTurn;
    const share = Math.max(Math.ceil(length / LOOKS_TO_ALL), RESTING_PER_LOOK_MIN);
    const resting = Math.min(share, length, RESTING_PER_LOOK_MAX);
    for (let i = 0; i < resting; i++) this.#lookAt(this.#inTurn[this.#nextInTurn++ % length]);
    for (const account of this.#inTurn) if (isUsed(account)) this.#lookAt(account);
    await this.#call().catch((error: unknown) => {
      if (!(error instanceof ApiError) && !this.#isClosed)
        this.#options.log.error({ err: error }, 'the ledger failed to grant limits that nodes share');
    });
  }

  /** Lowers the account's meter to what the node needs, and notes how much the next call asks for. */
  #lookAt(account: SharedAccount): void {
    const { meter } = account;
    const { requestsGranted, requestsUsed } = meter.share();
    const isInUse = isUsed(account);
    const usedSince = Math.max(0, requestsUsed - account.requestsUsed);
    const scarce = isInUse ? 2 * usedSince + 1 : 0;
    const most = meter.isAllGranted ? scarce : Math.max(usedSince, Math.min(meter.burstHere, HELD_MAX));
    meter.keep(most, this.#keepsCredits(account));
    const missing = Math.max(0, most - (requestsGranted - requestsUsed));
    // An unused account asks too, since its part of the rate grows when a node stops, but not for what others may soon need.
    if (isInUse || meter.isPlentyFor(missing)) account.requestsWanted = missing;
    account.isResting = !isInUse;
    account.activity = meter.activity;
    account.requestsUsed = requestsUsed;
    this.#due.add(account);
  }

  /** Whether unused credits are kept: while callers wait, and until the second look after the last answer to one. */
  #keepsCredits({ asking, answeredAfterLook }: SharedAccount): boolean {
    return asking > 0 || this.#looks <= answeredAfterLook + 1;
  }

  /** Gives back everything unused, and asks for nothing more. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isClosed = true;
    await this.#last;
    for (const account of this.#inTurn) if (account.meter.keep(0, false)) this.#due.add(account);
    if (this.#due.size > 0) await this.#call().catch(() => {}); // if this fails, settling the epoch gives it back
  }

  /** Makes a call for all that is due, in the next turn or after the call under way. Resolves when the ledger has answered. */
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
      // The request was for the last month, which may have had nothing left: look again.
      if (counted > 0 && grant.period > counted) account.activity = Number.NaN;
      // Another node may need what is unused here: give it up, which the next call says.
      if (isResting && meter.isAllGranted && meter.keep(0, this.#keepsCredits(account)))
        this.#due.add(account);
    }
    for (const { meter } of this.#inTurn) meter.divideRate(nodes);
    if (period > this.#period) this.#turn(period);
  }

  /** Begins a new month: the next look asks for a part of it for every account. */
  #turn(period: number): void {
    this.#period = period;
    for (const account of this.#inTurn)
      if (account.meter.share().period < period) account.activity = Number.NaN;
  }
}

/** Whether the account was used or changed since the last look, or a call for it failed. */
function isUsed({ meter, activity }: SharedAccount): boolean {
  return meter.activity !== activity;
}

function askOf({ number, meter, requestsWanted, creditsWanted }: SharedAccount): LimitAsk {
  return { accountNumber: number, ...meter.share(), requestsWanted, creditsWanted };
}
