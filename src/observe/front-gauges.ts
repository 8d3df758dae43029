import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { CommitListener, Committer } from '../answer/commit.ts';
import type { EntropySupply } from '../answer/supply.ts';
import { LIMITS } from '../core/limits.ts';
import { takeLostLogLines } from '../core/log.ts';
import {
  COMMIT_DURATION,
  COMMIT_FAILURES,
  COMMIT_MAX,
  CONNECTIONS,
  HELD_BYTES,
  IDLE_CONNECTIONS,
  LOG_LINES_LOST,
  LOOP_DELAY_MAX,
  LOOP_DELAY_P99,
  type MetricShard,
  PENDING_ANSWERS,
  PURE_RING,
  SENDING_REPLIES,
  UNFINISHED_HEAD_BYTES_MAX,
  WAITING_REQUESTS,
  WORKERS_QUEUE,
} from '../core/metrics.ts';
import type { Front } from '../http/front.ts';
import type { Workers } from '../workers/dispatch.ts';

/** How often a front writes down where it stands. */
const PUBLISH_INTERVAL_MS = 1_000;
/** The delay of the event loop is measured with a timer of this period: 50 wake-ups a second. */
const LOOP_RESOLUTION_MS = 20;

/** The longest head that an HTTP library waits for. */
const HEAD_BYTES_MAX = LIMITS.requestHeadBytesMax + LIMITS.requestHeadSpareBytes;

export interface GaugeSources {
  readonly front: Front;
  readonly committer: Committer;
  readonly workers: Workers;
  readonly supply: EntropySupply;
}

/** Where one front stands, written once a second into its shard, where any thread may read it. */
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
    this.#shard.observe(COMMIT_DURATION, 0, durationMs / 1000);
    if (failure !== undefined) this.#shard.add(COMMIT_FAILURES, 0);
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
    shard.set(CONNECTIONS, front.openConnections);
    const withoutRequest = Math.max(0, front.openConnections - front.waitingRequests - front.sendingReplies);
    shard.set(IDLE_CONNECTIONS, withoutRequest);
    shard.set(UNFINISHED_HEAD_BYTES_MAX, withoutRequest * HEAD_BYTES_MAX);
    shard.set(WAITING_REQUESTS, front.waitingRequests);
    shard.set(SENDING_REPLIES, front.sendingReplies);
    shard.set(HELD_BYTES, front.heldBytes);
    shard.set(PENDING_ANSWERS, committer.pending);
    shard.set(WORKERS_QUEUE, workers.queueLength);
    shard.set(PURE_RING, supply.pure.available());
    shard.set(COMMIT_MAX, this.#slowestCommitMs / 1000);
    this.#slowestCommitMs = 0;
    shard.add(LOG_LINES_LOST, 0, takeLostLogLines());
    this.#publishLoopDelay(this.#loopDelay!);
  }

  /**
   * The histogram counts nanoseconds between two ticks of its timer: the delay is what goes beyond its
   * period.
   */
  #publishLoopDelay(loopDelay: IntervalHistogram): void {
    const delayS = (ns: number) => Math.max(0, ns / 1e9 - LOOP_RESOLUTION_MS / 1000);
    const seen = loopDelay.count > 0; // an empty histogram has no percentiles
    this.#shard.set(LOOP_DELAY_P99, seen ? delayS(loopDelay.percentile(99)) : 0);
    this.#shard.set(LOOP_DELAY_MAX, seen ? delayS(loopDelay.max) : 0);
    loopDelay.reset();
  }
}
