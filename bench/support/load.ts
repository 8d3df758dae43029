import type { Histogram } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';

/** A load that the client of http-client.ts puts on a server. */
export interface LoadPlan {
  readonly origin: string;
  /** A whole HTTP request, see `requestBytes`. */
  readonly request: Uint8Array;
  readonly connections: number;
  readonly loop: ClosedLoop | OpenLoop;
}

/**
 * Measures throughput: each connection sends its next request when the last is answered, until time or requests run
 * out.
 */
export interface ClosedLoop {
  readonly kind: 'closed';
  readonly durationMs?: number;
  readonly requests?: number;
}

/** Measures latency without coordinated omission: requests are due at a fixed rate, and latency counts from then. */
export interface OpenLoop {
  readonly kind: 'open';
  readonly ratePerS: number;
  readonly durationMs: number;
}

/** The result that the worker sends back. */
export interface LoadOutcome {
  readonly answers: number;
  readonly leadAnswers: number;
  readonly failures: number;
  readonly bytes: number;
  readonly seconds: number;
  /** In µs. */
  readonly latency: Histogram;
  readonly lateness: Histogram;
}

export interface LoadResult {
  readonly answers: number;
  /** Answers of an open loop during its warm-up: they cost the server as much as measured ones. */
  readonly leadAnswers: number;
  /** Answers other than 200, and requests that were never answered. */
  readonly failures: number;
  readonly answersPerS: number;
  readonly bytesPerS: number;
  /** In µs, from when a request was due (open loop) or sent (closed loop). */
  readonly latency: Histogram;
  /**
   * How long after it was due the client sent a request, in µs: the client's own share of the latency, and the backlog.
   */
  readonly lateness: Histogram;
}

/** Puts the load on from a new thread. Rejects when a connection breaks. */
export function putLoad(plan: LoadPlan): Promise<LoadResult> {
  const worker = new Worker(new URL('./load-worker.ts', import.meta.url), { workerData: plan });
  return new Promise((resolve, reject) => {
    worker.once('message', ({ answers, bytes, seconds, ...more }: LoadOutcome) =>
      resolve({ ...more, answers, answersPerS: answers / seconds, bytesPerS: bytes / seconds }),
    );
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the load ended with code ${code}`))); // no effect after a message
  });
}
