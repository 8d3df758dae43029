import { LedgerError } from './ledger.ts';
import type { JobRecord, SourceSpend, SpendLimits } from './records.ts';

/**
 * Money is summed in whole millionths: a sum is then the same in any order, and three reads at 0.1 use up a
 * budget of 0.3, which they overrun as doubles. Prices are of the order of 10^-4 (a gate of one shot) and
 * more.
 */
const MICROS = 1_000_000;
/**
 * One charge, in any currency: nine of the largest still sum exactly in 53 bits, and a mistyped price is
 * refused.
 */
const CHARGE_MAX = 1_000_000_000;

/** What one source spent on one day. */
export interface DaySpend {
  /** Millionths of the currency. */
  readonly micros: number;
  readonly currency: string;
  readonly calls: number;
}

export const NOTHING_SPENT: DaySpend = { micros: 0, currency: '', calls: 0 };

type Charge = Pick<SourceSpend, 'amount' | 'currency' | 'calls'>;

function microsOf(amount: number): number {
  return Math.round(amount * MICROS);
}

export function spendOf(source: string, day: number, { micros, currency, calls }: DaySpend): SourceSpend {
  return { source, day, amount: micros / MICROS, currency, calls };
}

/** Throws `refused` for an invalid charge: negative, not finite, or a fraction of a call. */
export function requireCharge({ amount, calls }: Charge): void {
  const isAmount = amount >= 0 && amount <= CHARGE_MAX; // false for NaN
  if (isAmount && Number.isSafeInteger(calls) && calls >= 0) return;
  throw new LedgerError('refused', `invalid charge: ${amount} and ${calls} calls`);
}

/**
 * The day with the charge, or undefined when the limits leave no room for all of it. A day has one currency,
 * that of its first amount: a sum over two would mean nothing, and one sum for each would let a changed price
 * option spend the budget again. Charges of nothing but calls go with any.
 */
export function plusCharge(day: DaySpend, charge: Charge, limits: SpendLimits): DaySpend | undefined {
  const micros = microsOf(charge.amount);
  if (day.micros > 0 && micros > 0 && day.currency !== charge.currency) return undefined;
  const sum: DaySpend = {
    micros: day.micros + micros,
    currency: micros > 0 ? charge.currency : day.currency,
    calls: day.calls + charge.calls,
  };
  const { amountPerDay, callsPerDay } = limits;
  if (amountPerDay !== null && sum.micros > microsOf(amountPerDay)) return undefined;
  if (callsPerDay !== null && sum.calls > callsPerDay) return undefined;
  return sum;
}

const ORDER = { intended: 0, submitted: 1, stored: 2, ended: 3 } as const;

/** A job and the lot that it gave. */
export interface JobWithLot {
  readonly job: JobRecord;
  readonly lotId: string | null;
}

/** Throws `refused` for a job that was not opened first, or whose charge is invalid. */
export function requireIntended(job: JobRecord): void {
  requireCharge(job);
  if (job.state === 'intended') return;
  throw new LedgerError('refused', `job ${job.key} must be opened in the state intended, not ${job.state}`);
}

/** Throws `conflict` when the two differ in what a job is charged for. */
export function requireSameCharge(stored: JobRecord, job: JobRecord): void {
  const isSame =
    stored.source === job.source &&
    stored.bits === job.bits &&
    stored.day === job.day &&
    stored.amount === job.amount &&
    stored.currency === job.currency &&
    stored.calls === job.calls &&
    stored.intendedAtMs === job.intendedAtMs;
  if (!isSame) throw new LedgerError('conflict', `job ${job.key} was opened with other facts`);
}

/** The job as it is after `putJob`, or undefined when that changes nothing: see SourceStore.putJob. */
export function replacedJob(stored: JobWithLot, job: JobRecord): JobRecord | undefined {
  requireSameCharge(stored.job, job);
  if (stored.job.state === 'ended' || ORDER[job.state] < ORDER[stored.job.state]) return undefined;
  const refuse = (why: string) => new LedgerError('refused', `job ${job.key} ${why}`);
  if (stored.job.jobId !== null && stored.job.jobId !== job.jobId) {
    throw new LedgerError('conflict', `job ${job.key} is already bound to provider job ${stored.job.jobId}`);
  }
  if (job.state === 'submitted' && job.jobId === null) throw refuse('was submitted and has no name');
  if (job.state === 'stored' && stored.lotId === null) throw refuse('is stored with its lot, by addLot');
  if (job.state === 'ended' && (job.failure === '') !== (stored.lotId !== null)) {
    throw refuse(
      stored.lotId === null ? 'ends without a lot and without a failure' : 'has a lot: no failure',
    );
  }
  return job;
}

/**
 * True when the job may give the lot; false when it has given one or has ended. Throws `refused` before it
 * was submitted.
 */
export function mayGiveLot({ job }: JobWithLot): boolean {
  if (job.state === 'intended') throw new LedgerError('refused', `job ${job.key} was not submitted`);
  return job.state === 'submitted';
}
