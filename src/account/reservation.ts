import { periodEndMs } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';

/** The part of a Meter that a reservation uses. */
interface Holder {
  takeCredits(reservation: Reservation, credits: number): boolean;
  giveBack(reservation: Reservation): void;
  count(reservation: Reservation, period: number): void;
}

/**
 * The request and the credits that one request holds of its account's month, from `Meter.enter` on. An answered request keeps
 * them; any other releases them.
 */
export class Reservation {
  readonly #holder: Holder;
  /** Whether the rate limit lets the request through. If not, the request holds nothing. */
  readonly isAllowed: boolean;
  /** The month (`YYYYMM`) that the request is counted in: that of its answer. */
  period: number;
  /** Whether the request counts as one of the month's requests. False when those are used up. */
  hasRequest: boolean;
  /** Credits that the request holds. */
  credits = 0;
  /** Credits left in the month after this request. */
  creditsRemaining: number;
  /** Whether requests of the month are left that this node does not hold, but may get. */
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

  /** Takes credits of the month, all of them or none. Returns false when fewer are left. May be called once. */
  takeCredits(credits: number): boolean {
    return this.#holder.takeCredits(this, credits);
  }

  /** Counts the request in the month in which its answer is issued, which may be later than the month it came in. */
  countIn(period: number): void {
    if (period > this.period) this.#holder.count(this, period);
  }

  /** Gives back what the request holds. Has no effect after the end of its month. */
  release(): void {
    this.#holder.giveBack(this);
  }
}

/** Within this time a node gets requests that another node holds and does not use (shared-limits.ts). */
export const COMES_BACK_S = 3;

/**
 * Throws 429 `quota_exceeded` when this node may take none of the month's requests. `Retry-After` is short when this node may
 * still get some, and otherwise lasts until the next month begins. `atMs` is the Unix time of the request.
 */
export function requireRequest(
  { hasRequest, mayComeBack }: Pick<Reservation, 'hasRequest' | 'mayComeBack'>,
  atMs: number,
): void {
  if (hasRequest) return;
  if (mayComeBack)
    throw new ApiError('quota_exceeded', {
      message:
        'This node of the service has none of the remaining requests of the month. Retry after the number of seconds in Retry-After.',
      retryAfterS: COMES_BACK_S,
    });
  throw new ApiError('quota_exceeded', { retryAfterS: Math.ceil((periodEndMs(atMs) - atMs) / 1000) });
}
