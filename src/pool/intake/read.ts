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

/** Time limit of a read of a stream, unless the source has one of its own. */
const STREAM_TIMEOUT_MS = 30_000;

/**
 * Reads a stream once. Gives up a backend that stalls after a deadline, even if it ignores its signal. Rejects with a
 * BackendError or with the signal's reason.
 */
export async function readStream(
  backend: StreamBackend,
  bits: number,
  signal: AbortSignal,
  wait: Wait = systemWait,
): Promise<RawRead> {
  const timeoutMs = backend.readTimeoutMs ?? STREAM_TIMEOUT_MS;
  const read = await withDeadline((over) => backend.read(bits, over), timeoutMs, signal, wait);
  return takeRead(backend, read, bits);
}

/**
 * Checks a read of at least `bits` bits and copies it, so that a backend cannot change bits that were tested. Erases
 * the backend's memory. Throws a BackendError.
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

/** A source that may be read, within its limits for one UTC day. */
export interface Source {
  readonly backend: Backend;
  readonly limits: SpendLimits;
}

/** Each read is charged durably before the provider is asked. */
export interface Budgeted extends Source {
  readonly store: Pick<SourceStore, 'charge' | 'spent' | 'openJob'>;
  readonly clock: Clock;
}

/**
 * Charges one read of a stream. Rejects with a BackendError of kind `quota` if the day's budget has no room for all of
 * it.
 */
export async function charge(source: Budgeted, spend: Spend): Promise<void> {
  const charged = today(source, spend);
  if (await source.store.charge(newJobKey(), charged, source.limits)) return;
  throw await refusal(source, charged);
}

/** Stores and charges a new job in state `intended`. Rejects like `charge`. */
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

/** Returns what reading `bits` bits costs; undefined for a stream that costs nothing. A job takes at least one call. */
export function estimateOf(backend: Backend, bits: number): Spend | undefined {
  const free = backend.kind === 'job' ? { amount: 0, currency: 'none', calls: 1 } : undefined;
  return backend.estimate?.(bits) ?? free;
}

/** Returns 128 random bits as a UUID, which every provider accepts. Keys of a job's parts derive from it. */
function newJobKey(): string {
  return uuidText(fillSystemEntropy(new Uint8Array(16)));
}

/**
 * Settles like `work`. Rejects at once with `late()` after `timeoutMs`, and with the signal's reason if the caller
 * aborts, whether or not `work` heeds the signal that it gets.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  signal: AbortSignal,
  wait: Wait,
  late = (): Error => new BackendError('retryable', `no answer within ${timeoutMs / 1000} s`),
): Promise<T> {
  signal.throwIfAborted();
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const working = work(either);
  const timeout = wait(timeoutMs, either).then(() => {
    throw late();
  });
  try {
    return await Promise.race([working, timeout]); // also handles a later rejection of the other promise
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    over.abort();
  }
}
