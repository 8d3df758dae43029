import { randomUUID } from 'node:crypto';
import {
  type Backend,
  BackendError,
  type JobBackend,
  type JobReference,
  type RawRead,
} from '../../backend/backend.ts';
import { MAX_READ_BITS } from '../../backend/shots.ts';
import { wipe } from '../../core/bytes.ts';
import { JOB_WAIT_MAX_MS, JobCalls, type JobEnd, NOT_DONE } from './job-calls.ts';
import { answerWithin, systemWait, type Wait, withDeadline } from './wait.ts';

/** A stream read that takes longer than this has stalled, unless the source names its own time. */
const STREAM_TIMEOUT_MS = 30_000;

/**
 * One read of either shape of backend that nobody charges, keeps or resumes: to try a source, and for the system's own. A
 * job that does not come to its end is cancelled. A backend that stalls is given up after a deadline even when it ignores
 * its signal. Rejects with a BackendError, or with the signal's reason.
 */
export async function readBackend(
  backend: Backend,
  bits: number,
  signal: AbortSignal,
  wait: Wait = systemWait,
): Promise<RawRead> {
  if (backend.kind === 'job') return runJob(backend, bits, signal, wait);
  const limit = answerWithin(backend.readTimeoutMs ?? STREAM_TIMEOUT_MS);
  const read = await withDeadline((over) => backend.read(bits, over), limit, signal, wait);
  return takeRead(backend, read, bits);
}

/**
 * A read as every later step relies on it, at least `bits` bits, and in memory that the backend has no hold of: what it
 * writes into its own afterwards reaches nothing that was tested. Erases the backend's. Throws a BackendError.
 */
export function takeRead(backend: Backend, read: RawRead, bits: number): RawRead {
  checkRead(backend, read, bits);
  const { witness } = read;
  return {
    ...read,
    bits: taken(read.bits),
    provenance: structuredClone(read.provenance),
    ...(witness?.kind === 'x-basis' ? { witness: { ...witness, bits: taken(witness.bits) } } : {}),
    ...(witness?.kind === 'chsh' ? { witness: { ...witness, settings: taken(witness.settings) } } : {}),
  };
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

async function runJob(backend: JobBackend, bits: number, signal: AbortSignal, wait: Wait): Promise<RawRead> {
  const calls = new JobCalls(backend, wait);
  const job = await calls.submit(bits, randomUUID(), signal);
  const end = await endOrCancel(calls, job, signal);
  if (end.state !== 'done') {
    throw new BackendError('retryable', `job ${job.jobId} ${end.state}: ${end.reason}`);
  }
  return takeRead(backend, await calls.fetch(job, signal), bits);
}

async function endOrCancel(calls: JobCalls, job: JobReference, signal: AbortSignal): Promise<JobEnd> {
  try {
    const end = await calls.end(job, JOB_WAIT_MAX_MS, signal);
    if (end === undefined) throw new BackendError('retryable', `job ${job.jobId} ${NOT_DONE}`);
    return end;
  } catch (error) {
    await calls.cancel(job, new AbortController().signal); // the read's own may be what ended it
    throw error;
  }
}
