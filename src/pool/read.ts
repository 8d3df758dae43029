import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Backend, BackendError, type JobBackend, type RawRead } from '../backend/backend.ts';

/** A stream read that takes longer than this has stalled. */
const STREAM_TIMEOUT_MS = 30_000;
/** Between polls of a job when the provider names no time. */
const POLL_INTERVAL_MS = 5_000;

/**
 * One read of either shape of backend, checked for what every later step relies on. A stalled stream is given up
 * after a deadline even when it ignores its signal.
 */
export async function readBackend(backend: Backend, bits: number, signal: AbortSignal): Promise<RawRead> {
  const read =
    backend.kind === 'stream'
      ? await withDeadline(backend.read(bits, AbortSignal.any([signal, AbortSignal.timeout(STREAM_TIMEOUT_MS)])), signal)
      : await runJob(backend, bits, signal);
  const got = read.width * read.shots;
  if (read.bits.length !== Math.ceil(got / 8)) {
    throw new BackendError('permanent', `${backend.name} gave ${read.bits.length} bytes for ${got} bits`);
  }
  if (got < bits) throw new BackendError('retryable', `${backend.name} gave ${got} of ${bits} bits`);
  return read;
}

async function withDeadline(read: Promise<RawRead>, signal: AbortSignal): Promise<RawRead> {
  const deadline = new AbortController();
  const expired = sleep(STREAM_TIMEOUT_MS, undefined, { signal: AbortSignal.any([signal, deadline.signal]), ref: false }).then(
    () => {
      throw new BackendError('retryable', `no answer within ${STREAM_TIMEOUT_MS / 1000} s`);
    },
  );
  try {
    return await Promise.race([read, expired]);
  } finally {
    deadline.abort();
    expired.catch(() => {}); // the abandoned timer rejects with AbortError, by our own hand
    read.catch(() => {}); // a read that fails after its deadline was already reported as stalled
  }
}

async function runJob(backend: JobBackend, bits: number, signal: AbortSignal): Promise<RawRead> {
  const job = await backend.submit(bits, randomUUID(), signal);
  for (;;) {
    const state = await backend.poll(job, signal);
    if (state.state === 'done') return backend.fetch(job, signal);
    if (state.state === 'failed' || state.state === 'cancelled') {
      throw new BackendError('retryable', `job ${job.jobId} ${state.state}: ${state.reason}`);
    }
    await sleep(('retryAfterMs' in state ? state.retryAfterMs : undefined) ?? POLL_INTERVAL_MS, undefined, { signal });
  }
}
