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

/** Each connection asks again when it is answered, until the time is over or all requests are made: throughput. */
export interface ClosedLoop {
  readonly kind: 'closed';
  readonly durationMs?: number;
  readonly requests?: number;
}

/** Requests are due at a fixed rate, and latency counts from then: latency without coordinated omission. */
export interface OpenLoop {
  readonly kind: 'open';
  readonly ratePerS: number;
  readonly durationMs: number;
}

/** What the worker sends back. */
export interface LoadOutcome {
  readonly answers: number;
  readonly leadAnswers: number;
  readonly failures: number;
  readonly bytes: number;
  readonly seconds: number;
  /** In µs. */
  readonly latency: Histogram;
  readonly refusal: Histogram;
  readonly lateness: Histogram;
}

export interface LoadResult {
  readonly answers: number;
  /** Of an open loop, while its client warmed up: they cost the server as much as those that are measured. */
  readonly leadAnswers: number;
  /** Answers other than 200, and requests that were never answered. */
  readonly failures: number;
  readonly answersPerS: number;
  readonly bytesPerS: number;
  /** From when a request was due (open loop) or sent, in µs. */
  readonly latency: Histogram;
  /** The part of it that was answered otherwise than 200. */
  readonly refusal: Histogram;
  /** How long after it was due the client sent a request, in µs: its own share of the latency, and the backlog. */
  readonly lateness: Histogram;
}

/** Puts the load on from a thread of its own. Rejects when a connection breaks. */
export function putLoad(plan: LoadPlan): Promise<LoadResult> {
  const worker = new Worker(new URL('./load-worker.ts', import.meta.url), { workerData: plan });
  return new Promise((resolve, reject) => {
    worker.once('message', ({ answers, bytes, seconds, ...more }: LoadOutcome) =>
      resolve({ ...more, answers, answersPerS: answers / seconds, bytesPerS: bytes / seconds }),
    );
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the load ended with code ${code}`))); // too late after a message
  });
}
