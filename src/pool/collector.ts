import { setTimeout as sleep } from 'node:timers/promises';
import { type Backend, BackendError } from '../backend/backend.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { EntropyStore } from '../store/ledger.ts';
import type { LotRecord } from '../store/records.ts';
import type { Assessor } from './assessor.ts';
import { HealthMonitor } from './health.ts';
import { makeLot, SEED_BLOCKS_PER_LOT } from './lots.ts';
import { readBackend } from './read.ts';

export type SourceState =
  /** The last read became a lot. */
  | 'ok'
  /** No read has succeeded yet. */
  | 'starting'
  /** Reads fail; they are tried again. */
  | 'failing'
  /** A permanent failure: the tap is closed until an operator restarts the service. */
  | 'closed';

export interface SourceStatus {
  readonly name: string;
  readonly origin: Backend['origin'];
  readonly state: SourceState;
  readonly lastError: string;
  readonly lastLot: LotRecord | undefined;
  readonly lotsAccepted: number;
  readonly lotsRejected: number;
  readonly health: object;
}

/** A lot is this many raw bits: two SP 800-22 sequences of conditioned output, so that a failed block has a next one. */
const LOT_RAW_BITS = 4 * 1024 * 1024;
/** Seeds on hand below which the collector reads, whatever the level of pure bytes. */
const SEEDS_LOW = SEED_BLOCKS_PER_LOT / 4;
/** Lots refused in a row before the source is closed: one good source in 10^7 gets there by SP 800-22 alone. */
const REJECTED_IN_A_ROW_MAX = 3;
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 60_000;
const IDLE_CHECK_MS = 1_000;

/**
 * Keeps the reservoir of conditioned blocks between its watermarks: reads the backend when it is low, tests, makes
 * lots. One backend, one collector, one read at a time; requests never wait for it.
 */
export class Collector {
  readonly #backend: Backend;
  readonly #store: EntropyStore;
  readonly #assessor: Assessor;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pureBytesHigh: number;
  readonly #monitors = new Map<number, HealthMonitor>();
  readonly #stopping = new AbortController();
  readonly #onLot: () => Promise<void>;
  #running: Promise<void> | undefined;
  #state: SourceState = 'starting';
  #lastError = '';
  #lastLot: LotRecord | undefined;
  #accepted = 0;
  #rejected = 0;
  #rejectedInARow = 0;

  /** `onLot` is awaited after each lot that may serve. */
  constructor(options: {
    backend: Backend;
    store: EntropyStore;
    assessor: Assessor;
    clock: Clock;
    log: Log;
    /** High watermark of unclaimed pure bytes; the low one is half of it. */
    pureBytesHigh: number;
    onLot: () => Promise<void>;
  }) {
    this.#backend = options.backend;
    this.#store = options.store;
    this.#assessor = options.assessor;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#pureBytesHigh = options.pureBytesHigh;
    this.#onLot = options.onLot;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** True once a permanent failure closed the tap. */
  get closed(): boolean {
    return this.#state === 'closed';
  }

  status(): SourceStatus {
    return {
      name: this.#backend.name,
      origin: this.#backend.origin,
      state: this.#state,
      lastError: this.#lastError,
      lastLot: this.#lastLot,
      lotsAccepted: this.#accepted,
      lotsRejected: this.#rejected,
      health: [...this.#monitors.values()].at(-1)?.state() ?? {},
    };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let retryMs = RETRY_FIRST_MS;
    let filling = true;
    while (!signal.aborted && !this.closed) {
      try {
        filling = await this.#isLow(filling);
        if (!filling) {
          await sleep(IDLE_CHECK_MS, undefined, { signal });
          continue;
        }
        await this.collectOnce();
        if (this.#state === 'ok') retryMs = RETRY_FIRST_MS;
        else await sleep(retryMs, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
        const asked = error instanceof BackendError ? error.retryAfterMs : undefined;
        await sleep(asked ?? retryMs, undefined, { signal }).catch(() => {}); // only our own abort ends it early
        retryMs = Math.min(2 * retryMs, RETRY_MAX_MS);
      }
    }
  }

  /** Reads, tests and stores one lot. */
  async collectOnce(): Promise<void> {
    const read = await readBackend(this.#backend, LOT_RAW_BITS, this.#stopping.signal);
    const health = this.#monitor(read.width).check(read);
    const lot = await makeLot(this.#backend, read, health, this.#assessor, this.#clock);
    read.bits.fill(0);
    await this.#store.addLot(lot.record, lot.blocks);
    for (const block of lot.blocks) block.bytes.fill(0);
    this.#lastLot = lot.record;
    if (lot.record.accepted) await this.#accept(lot.record);
    else this.#reject(lot.record, health.grade === 'permanent');
  }

  async #accept(lot: LotRecord): Promise<void> {
    this.#accepted++;
    this.#rejectedInARow = 0;
    this.#state = 'ok';
    this.#lastError = '';
    this.#log.info(
      { lot: lot.id, source: lot.source, origin: lot.origin, bytes: lot.conditionedBytes, entropy: lot.minEntropyPerBit },
      'lot accepted',
    );
    await this.#onLot();
  }

  #reject(lot: LotRecord, permanent: boolean): void {
    this.#rejected++;
    this.#rejectedInARow++;
    this.#lastError = lot.rejection;
    const close = permanent || this.#rejectedInARow >= REJECTED_IN_A_ROW_MAX;
    this.#state = close ? 'closed' : 'failing';
    this.#log.error({ lot: lot.id, source: lot.source, rejection: lot.rejection, closed: close }, 'lot rejected');
  }

  #failed(error: unknown): void {
    const kind = error instanceof BackendError ? error.kind : 'fault';
    this.#lastError = error instanceof Error ? error.message : String(error);
    const close = kind === 'no_raw_shots' || kind === 'permanent';
    this.#state = close ? 'closed' : 'failing';
    this.#log.error({ source: this.#backend.name, kind, reason: this.#lastError, closed: close }, 'read failed');
  }

  /** Channel layouts have their own running tests: a source whose width changes starts anew. */
  #monitor(width: number): HealthMonitor {
    let monitor = this.#monitors.get(width);
    if (monitor === undefined) {
      monitor = new HealthMonitor({ width, minEntropyPerBit: this.#backend.claimedMinEntropyPerBit });
      this.#monitors.set(width, monitor);
    }
    return monitor;
  }

  /** Fills up to the high watermark once begun; begins at half of it, or when seeds run low. */
  async #isLow(filling: boolean): Promise<boolean> {
    const levels = await this.#store.blockLevels();
    if (levels.seed.blocks < SEEDS_LOW) return true;
    return levels.pure.bytes < (filling ? this.#pureBytesHigh : this.#pureBytesHigh / 2);
  }
}
