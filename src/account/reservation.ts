import { periodEndMs } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { RateDecision } from './rate.ts';

/** The meter that a request entered. */
interface Holder {
  takeCredits(reservation: Reservation, credits: number): boolean;
  giveBack(reservation: Reservation): void;
  count(reservation: Reservation, period: number): void;
}

/**
 * What one request holds of its account's month, from `Meter.enter` on. Its answer keeps it; a request that
 * is not answered releases it.
 */
export class Reservation {
  readonly #holder: Holder;
  /** The rate limit lets the request through; if not, nothing is held. */
  readonly isAllowed: boolean;
  /**
   * Nothing was decided and nothing is held: this node must ask for more of the month first (`Meter.ask`), and then try
   * again. Never on a single node.
   */
  mustAsk = false;
  /** The month that it is counted in: that of its answer. */
  period: number;
  /** It is counted against the month's requests. False when they are used up. */
  hasRequest: boolean;
  /** Credits that it holds. */
  credits = 0;
  /** Credits left in the month after this request. */
  creditsRemaining: number;

  constructor(
    holder: Holder,
    isAllowed: boolean,
    period: number,
    hasRequest: boolean,
    creditsRemaining: number,
  ) {
    this.#holder = holder;
    this.isAllowed = isAllowed;
    this.period = period;
    this.hasRequest = hasRequest;
    this.creditsRemaining = creditsRemaining;
  }

  /** Sets aside credits of the month, all of them or none: false when fewer are left, or with `mustAsk`. At most once. */
  takeCredits(credits: number): boolean {
    return this.#holder.takeCredits(this, credits);
  }

  /** Its answer is issued in this month, which may be a later one than the request came in. */
  countIn(period: number): void {
    if (period > this.period) this.#holder.count(this, period);
  }

  /** Gives back what the request holds. Nothing is given back once its month is over. */
  release(): void {
    if (this.hasRequest || this.credits > 0) this.#holder.giveBack(this);
  }
}

/** What a request holds, and how the rate limit stood when it entered. */
export interface Entry {
  readonly reservation: Reservation;
  readonly decision: Readonly<RateDecision>;
}

/**
 * Throws 429 `quota_exceeded` when the month's requests are used up; `atMs` is the Unix time of the request.
 */
export function requireRequest({ hasRequest }: Pick<Reservation, 'hasRequest'>, atMs: number): void {
  if (hasRequest) return;
  throw new ApiError('quota_exceeded', { retryAfterS: Math.ceil((periodEndMs(atMs) - atMs) / 1000) });
}
