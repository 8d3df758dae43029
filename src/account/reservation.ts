import { periodEndMs } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';

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
  /** The month that it is counted in: that of its answer. */
  period: number;
  /** It is counted against the month's requests. False when they are used up. */
  hasRequest: boolean;
  /** Credits that it holds. */
  credits = 0;
  /** Credits left in the month after this request. */
  creditsRemaining: number;
  /** Requests of the month are left that this node does not hold. */
  readonly mayComeBack: boolean;

  constructor(
    holder: Holder,
    isAllowed: boolean,
    period: number,
    hasRequest: boolean,
    creditsRemaining: number,
    mayComeBack: boolean,
  ) {
    this.#holder = holder;
    this.isAllowed = isAllowed;
    this.period = period;
    this.hasRequest = hasRequest;
    this.creditsRemaining = creditsRemaining;
    this.mayComeBack = mayComeBack;
  }

  /** Sets aside credits of the month, all of them or none: false when fewer are held. At most once. */
  takeCredits(credits: number): boolean {
    return this.#holder.takeCredits(this, credits);
  }

  /** Its answer is issued in this month, which may be a later one than the request came in. */
  countIn(period: number): void {
    if (period > this.period) this.#holder.count(this, period);
  }

  /** Gives back what the request holds. Nothing is given back once its month is over. */
  release(): void {
    this.#holder.giveBack(this);
  }
}

/** What is left of a month and not used where it is held is here within this time, for who asks again (shared-limits.ts). */
export const COMES_BACK_S = 3;

/**
 * Throws 429 `quota_exceeded` when this node may take none of the month's requests; `atMs` is the Unix time of the request.
 * `Retry-After` is when one may be possible: soon where some are left that this node does not hold, else when the next month
 * begins.
 */
export function requireRequest(
  { hasRequest, mayComeBack }: Pick<Reservation, 'hasRequest' | 'mayComeBack'>,
  atMs: number,
): void {
  if (hasRequest) return;
  if (mayComeBack)
    throw new ApiError('quota_exceeded', {
      message:
        'This node of the service holds none of the requests of the month that are left; retry after Retry-After.',
      retryAfterS: COMES_BACK_S,
    });
  throw new ApiError('quota_exceeded', { retryAfterS: Math.ceil((periodEndMs(atMs) - atMs) / 1000) });
}
