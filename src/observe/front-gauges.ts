import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { CommitListener, Committer } from '../answer/commit.ts';
import type { EntropySupply } from '../answer/supply.ts';
import { LIMITS } from '../core/limits.ts';
import { takeLostLogLines } from '../core/log.ts';
import { COUNTED, type MetricShard } from '../core/metrics.ts';
import type { Front } from '../http/front.ts';
import type { Workers } from '../workers/dispatch.ts';

/** How often a front publishes its gauges. */
const PUBLISH_INTERVAL_MS = 1_000;
/** The delay of the event loop is measured with a timer of this period: 50 wake-ups a second. */
const LOOP_RESOLUTION_MS = 20;

/** The longest request head that an HTTP engine reads. */
const HEAD_BYTES_MAX = LIMITS.requestHeadBytesMax + LIMITS.requestHeadSpareBytes;

export interface GaugeSources {
  readonly front: Front;
  readonly committer: Committer;
  readonly workers: Workers;
  readonly supply: EntropySupply;
}

/** Writes the gauges of one front into its shard once a second, where any thread can read them. */
export class FrontGauges {
  readonly #shard: MetricShard;
  #slowestCommitMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #loopDelay: IntervalHistogram | undefined;

  constructor(shard: MetricShard) {
    this.#shard = shard;
  }

  /** For the front's committer. */
  readonly onCommit: CommitListener = (durationMs, failure) => {
    this.#shard.observe(COUNTED.qrn_ledger_commit_duration_seconds, 0, durationMs / 1000);
    if (failure !== undefined) this.#shard.add(COUNTED.qrn_ledger_commit_failures_total, 0);
    if (durationMs > this.#slowestCommitMs) this.#slowestCommitMs = durationMs;
  };

  start(sources: GaugeSources): void {
    this.#loopDelay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
    this.#loopDelay.enable();
    this.#timer = setInterval(() => this.#publish(sources), PUBLISH_INTERVAL_MS).unref();
    this.#publish(sources);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#loopDelay?.disable();
  }

  #publish({ front, committer, workers, supply }: GaugeSources): void {
    const shard = this.#shard;
    shard.set(COUNTED.qrn_http_connections, front.openConnections);
    const withoutRequest = Math.max(0, front.openConnections - front.waiting.size - front.sending.size);
    shard.set(COUNTED.qrn_http_connections_without_request, withoutRequest);
    shard.set(COUNTED.qrn_http_unfinished_head_bytes_max, withoutRequest * HEAD_BYTES_MAX);
    shard.set(COUNTED.qrn_http_waiting_requests, front.waiting.size);
    shard.set(COUNTED.qrn_http_sending_replies, front.sending.size);
    shard.set(COUNTED.qrn_http_held_bytes, front.heldBytes);
    shard.set(COUNTED.qrn_ledger_pending_answers, committer.pending);
    shard.set(COUNTED.qrn_workers_queue_tasks, workers.queueLength);
    shard.set(COUNTED.qrn_pool_pure_ring_bytes, supply.pure.available());
    shard.set(COUNTED.qrn_ledger_commit_duration_max_seconds, this.#slowestCommitMs / 1000);
    this.#slowestCommitMs = 0;
    shard.add(COUNTED.qrn_log_lines_lost_total, 0, takeLostLogLines());
    this.#publishLoopDelay(this.#loopDelay!);
  }

  /** The histogram has the nanoseconds between two ticks of its timer. The delay is the part beyond the timer's period. */
  #publishLoopDelay(loopDelay: IntervalHistogram): void {
    const delayS = (ns: number) => Math.max(0, ns / 1e9 - LOOP_RESOLUTION_MS / 1000);
    const seen = loopDelay.count > 0; // an empty histogram has no percentiles
    this.#shard.set(COUNTED.qrn_event_loop_delay_p99_seconds, seen ? delayS(loopDelay.percentile(99)) : 0);
    this.#shard.set(COUNTED.qrn_event_loop_delay_max_seconds, seen ? delayS(loopDelay.max) : 0);
    loopDelay.reset();
  }
}
