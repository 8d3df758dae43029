import { LedgerError } from './ledger.ts';
import type { PeriodCorrection } from './records.ts';
import { type Charge, type CorrectedCharge, type CorrectionKey, NO_CHARGE, sumOf } from './usage-counters.ts';

/** What the books know of months, as a correction reads and writes it. */
export interface ChargeBook {
  /** The latest month that any usage or charge names, whatever was corrected. */
  readonly latest: number;
  /** What each account was charged in the month, with all earlier corrections. */
  chargesIn(period: number): Map<number, Charge>;
  /** What was charged to the month `charged` for answers that were issued in `until` and before. */
  displacedFrom(
    charged: number,
    until: number,
  ): Iterable<{ readonly issued: number; readonly accountNumber: number; readonly charge: Charge }>;
  correction(key: CorrectionKey): CorrectedCharge | undefined;
  /** When any correction was made last (Unix ms); 0 without any. */
  readonly correctedAtMs: number;
  putCorrection(key: CorrectionKey, corrected: CorrectedCharge): void;
}

/**
 * Moves what was charged to months after `period`, and gives what was moved: to the month of its issue where that is not
 * later than `period`, and to `period` where a wrong clock dated the answer too. The records of usage stay as they are,
 * because certificates carry those dates. Throws when an earlier correction is later than `atMs`: the clock is then
 * behind, and charges of the present month would move to a month that has passed.
 */
export function correctCharges(book: ChargeBook, period: number, atMs: number): PeriodCorrection[] {
  if (book.correctedAtMs > atMs) {
    const before = new Date(book.correctedAtMs).toISOString();
    throw new LedgerError(
      'refused',
      `charges were corrected at ${before}, which is later than the system clock now: the clock is behind. Set it and repeat the command`,
    );
  }
  const moved = new Map<string, PeriodCorrection>();
  for (let from = book.latest; from > period; from = monthBefore(from)) {
    const rest = book.chargesIn(from);
    const move = (to: number, accountNumber: number, charge: Charge, isReturned: boolean) => {
      if (charge.requests === 0 && charge.credits === 0) return;
      const key: CorrectionKey = [to, from, accountNumber];
      const known = book.correction(key);
      const returned = sumOf(returnedBy(known), isReturned ? charge : NO_CHARGE);
      book.putCorrection(key, { ...sumOf(known, charge), returned, atMs });
      rest.set(accountNumber, sumOf(rest.get(accountNumber), charge, -1));
      const sum = sumOf(moved.get(key.join(' ')), charge);
      moved.set(key.join(' '), { accountNumber, from, to, ...sum });
    };
    for (const { issued, accountNumber, charge } of [...book.displacedFrom(from, period)]) {
      const before = returnedBy(book.correction([issued, from, accountNumber]));
      const { requests, credits } = sumOf(charge, before, -1);
      // a record of an earlier release may name more than was issued then: nothing is ever moved back
      move(issued, accountNumber, { requests: Math.max(0, requests), credits: Math.max(0, credits) }, true);
    }
    for (const [accountNumber, charge] of [...rest]) move(period, accountNumber, charge, false);
  }
  return [...moved.values()];
}

/** What was moved back to the month of its issue; a record of an earlier release may hold other charges too. */
function returnedBy(correction: CorrectedCharge | undefined): Charge {
  return correction === undefined ? NO_CHARGE : (correction.returned ?? correction);
}

export function monthBefore(period: number): number {
  return period % 100 === 1 ? period - 89 : period - 1;
}
