import {
  type Backend,
  BackendError,
  MAX_READ_BITS,
  type RawRead,
  type Spend,
  type StreamBackend,
} from '../../backend/backend.ts';
import { wipe } from '../../core/bytes.ts';
import { type Clock, dayOf, systemWait, type Wait } from '../../core/clock.ts';
import { uuidText } from '../../core/ids.ts';
import { fillSystemEntropy } from '../../crypto/system-entropy.ts';
import type { SourceStore } from '../../ledger/ledger.ts';
import type { JobRecord, SourceSpend, SpendLimits } from '../../ledger/records.ts';

/** A stream read that takes longer than this has stalled, unless the source names its own time. */
const STREAM_TIMEOUT_MS = 30_000;

/**
 * One read of a stream. A backend that stalls is given up after a deadline even when it ignores its signal. Rejects with a
 * BackendError, or with the signal's reason.
 */
export async function readStream(
  backend: StreamBackend,
  bits: number,
  signal: AbortSignal,
  wait: Wait = systemWait,
): Promise<RawRead> {
  const limit = answerWithin(backend.readTimeoutMs ?? STREAM_TIMEOUT_MS);
  const read = await withDeadline((over) => backend.read(bits, over), limit, signal, wait);
  return takeRead(backend, read, bits);
}

/**
 * A read as every later step relies on it, at least `bits` bits, and in memory that the backend has no hold
 * of: what it writes into its own afterwards reaches nothing that was tested. Erases the backend's. Throws a
 * BackendError.
 */
export function takeRead(backend: Backend, read: RawRead, bits: number): RawRead {
  checkRead(backend, read, bits);
  return { ...read, bits: taken(read.bits), provenance: structuredClone(read.provenance) };
}

function taken(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const own = bytes.slice();
  wipe(bytes);
  return own;
}

function checkRead(backend: Backend, read: RawRead, bits: number): void {
  const { width, shots } = read;
  if (![width, shots].every((count) => Number.isSafeInteger(count) && count >= 1)) {
    throw new BackendError('permanent', `${backend.name} gave ${shots} shots of ${width} channels`);
  }
  const got = width * shots;
  if (got > Math.max(bits, MAX_READ_BITS)) {
    throw new BackendError('permanent', `${backend.name} gave ${got} bits, above ${MAX_READ_BITS} a read`);
  }
  if (read.bits.length !== Math.ceil(got / 8)) {
    throw new BackendError('permanent', `${backend.name} gave ${read.bits.length} bytes for ${got} bits`);
  }
  if (got < bits) throw new BackendError('retryable', `${backend.name} gave ${got} of ${bits} bits`);
}

export const UNLIMITED: SpendLimits = Object.freeze({ amountPerDay: null, callsPerDay: null });

const DAY_MS = 86_400_000;

/** A source, and what it may take of its provider on one UTC day: charged, durably, before anything is asked for. */
export interface Budgeted {
  readonly backend: Pick<Backend, 'name'>;
  readonly store: Pick<SourceStore, 'charge' | 'spent' | 'openJob'>;
  readonly limits: SpendLimits;
  readonly clock: Clock;
}

/**
 * Charges one read of a stream. Rejects with a BackendError of kind `quota` when the day has no room for
 * all of it.
 */
export async function charge(source: Budgeted, spend: Spend): Promise<void> {
  const charged = today(source, spend);
  if (await source.store.charge(newJobKey(), charged, source.limits)) return;
  throw await refusal(source, charged);
}

/** A new job in state `intended`, written down and charged; rejects as `charge` does. */
export async function openJob(source: Budgeted, bits: number, spend: Spend): Promise<JobRecord> {
  const charged = today(source, spend);
  const job: JobRecord = {
    key: newJobKey(),
    state: 'intended',
    bits,
    jobId: null,
    memo: '',
    ...charged,
    intendedAtMs: source.clock.wallMs(),
    submittedAtMs: null,
    failure: '',
  };
  if (await source.store.openJob(job, source.limits)) return job;
  throw await refusal(source, charged);
}

function today({ backend, clock }: Budgeted, { amount, currency, calls }: Spend): SourceSpend {
  return { source: backend.name, day: dayOf(clock.wallMs()), amount, currency, calls };
}

async function refusal({ store, limits, clock }: Budgeted, asked: SourceSpend): Promise<BackendError> {
  const { source, day, amount, currency, calls } = asked;
  const spent = await store.spent(source, day);
  const { amountPerDay, callsPerDay } = limits;
  const bounds = [
    ...(amountPerDay === null ? [] : [`${spent.amount} of ${amountPerDay} ${currency}`]),
    ...(callsPerDay === null ? [] : [`${spent.calls} of ${callsPerDay} calls`]),
  ];
  const isOtherMoney = spent.amount > 0 && amount > 0 && spent.currency !== currency;
  const why = isOtherMoney
    ? `${spent.amount} ${spent.currency} were spent today, and no other currency is until the next day`
    : `${bounds.join(' and ')} are spent today, and a read takes ${amount} ${currency} and ${calls} calls`;
  const untilNextDayMs = (day + 1) * DAY_MS - clock.wallMs();
  return new BackendError('quota', `budget of ${source}: ${why}`, Math.max(untilNextDayMs, 1));
}

/**
 * What reading so many bits costs; undefined for a stream that costs nothing. A job always takes one call at
 * least.
 */
export function estimateOf(backend: Backend, bits: number): Spend | undefined {
  const free = backend.kind === 'job' ? { amount: 0, currency: 'none', calls: 1 } : undefined;
  return backend.estimate?.(bits) ?? free;
}

/** 128 random bits in the form of a UUID, which every provider takes. Parts of a job are drawn from it. */
function newJobKey(): string {
  return uuidText(fillSystemEntropy(new Uint8Array(16)));
}

/** The deadline of one call on a backend. */
export function answerWithin(timeoutMs: number): { timeoutMs: number; late: () => BackendError } {
  return { timeoutMs, late: () => new BackendError('retryable', `no answer within ${timeoutMs / 1000} s`) };
}

/**
 * Settles as `work` does, unless `timeoutMs` pass first (rejects with `late()`) or the caller's signal is
 * aborted (rejects with its reason): then at once, whether or not `work` heeds the signal that it is handed.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  limit: { readonly timeoutMs: number; readonly late: () => Error },
  signal: AbortSignal,
  wait: Wait,
): Promise<T> {
  signal.throwIfAborted();
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const working = work(either);
  const late = wait(limit.timeoutMs, either).then(() => {
    throw limit.late();
  });
  try {
    return await Promise.race([working, late]); // which also hears of whatever the other one does afterwards
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    over.abort();
  }
}
