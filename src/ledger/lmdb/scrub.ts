import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../core/assert.ts';
import { type Clock, systemWait, type Wait } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { ScrubState } from '../integrity.ts';
import type { Key } from '../store.ts';
import type { RawStore, Table } from './table.ts';
import type { Tables } from './tables.ts';

export interface ScrubOptions {
  readonly store: Pick<RawStore, 'snapshot'>;
  readonly tables: Tables;
  readonly log: Log;
  readonly clock: Clock;
  /** Stored bytes read in a second; a small record counts as RECORD_BYTES_MIN. */
  readonly bytesPerS: number;
  readonly wait?: Wait;
}

/** Read in one turn of the event loop, between the ledger's own work: at most so much, which is 32 small records. */
const SLICE_BYTES_MAX = 64 * 1_024;
/** What a small record counts as: its look-ups and its objects take as long as so many bytes. */
const RECORD_BYTES_MIN = 2_048;
/** A walk over a small ledger is not repeated sooner than this after it began. */
const PASS_INTERVAL_MS = 10_000;
/** Timers are no finer; shorter waits are added up. */
const WAIT_MIN_MS = 1;
/** Different damage that is kept and logged. More of it says nothing new. */
const PROBLEMS_MAX = 100;

/**
 * Reads all records again and again while the service runs, slowly, and checks each as the audit does: against its
 * checksum, and by a look-up of its key. So damage is found while there is a backup from before it. Each slice reads a
 * snapshot of its own, for one that is kept over a whole walk would keep LMDB from using freed pages again. Sums over
 * records are therefore left to the audit.
 */
export class Scrub {
  readonly #options: ScrubOptions;
  readonly #wait: Wait;
  readonly #stopping = new AbortController();
  readonly #problems = new Set<string>();
  #running: Promise<void> | undefined;
  #passes = 0;
  #records = 0;
  #bytes = 0;
  #passedAtMs: number | null = null;
  #passMs: number | null = null;
  /** When the bytes read so far may have been read, by the rate. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(options: ScrubOptions) {
    this.#options = options;
    this.#wait = options.wait ?? systemWait;
  }

  /** Starts walking when `earlier` has resolved, which never rejects. */
  startAfter(earlier: Promise<unknown> | undefined): void {
    this.#running = this.#run(earlier).catch((error: unknown) => {
      if (!this.#stopping.signal.aborted)
        this.#options.log.error({ reason: messageOf(error) }, 'ledger: the scrub ended');
    });
  }

  state(): ScrubState {
    return {
      passes: this.#passes,
      records: this.#records,
      bytes: this.#bytes,
      passedAtMs: this.#passedAtMs,
      passMs: this.#passMs,
      damaged: this.#problems.size,
      problems: [...this.#problems],
    };
  }

  /** Resolves when nothing is read any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(earlier: Promise<unknown> | undefined): Promise<void> {
    const { clock, tables } = this.#options;
    await earlier;
    for (;;) {
      const beganMs = clock.monotonicMs();
      for (const table of tables.all.values()) await this.#walk(table);
      const endedMs = clock.monotonicMs();
      this.#passes++;
      this.#passMs = endedMs - beganMs;
      this.#passedAtMs = clock.wallMs();
      this.#dueMs = Math.max(this.#dueMs, beganMs + PASS_INTERVAL_MS);
      await this.#rest();
    }
  }

  async #walk(table: Table<Key, unknown>): Promise<void> {
    let after: Key | undefined;
    do {
      await this.#rest();
      try {
        after = this.#slice(table, after);
      } catch (error) {
        // LMDB itself meets a page that it cannot follow
        this.#problem(`${table.name}: ${messageOf(error)}`);
        return;
      }
    } while (after !== undefined);
  }

  /** Reads the records behind the key `after`; gives the last key that was read, undefined at the end. */
  #slice(table: Table<Key, unknown>, after: Key | undefined): Key | undefined {
    const { store, clock, bytesPerS } = this.#options;
    const snapshot = store.snapshot();
    let records = 0;
    let bytes = 0;
    let cost = 0;
    let last: Key | undefined;
    try {
      for (const record of table.checked(snapshot, after === undefined ? {} : { from: after })) {
        // read at the end of the slice before, unless it was removed since
        if (records === 0 && after !== undefined && String(record.key) === String(after)) continue;
        for (const problem of record.problems) this.#problem(problem);
        records++;
        bytes += record.bytes;
        cost += Math.max(record.bytes, RECORD_BYTES_MIN);
        if (cost < SLICE_BYTES_MAX) continue;
        last = record.key;
        break;
      }
    } finally {
      snapshot.done();
    }
    this.#records += records;
    this.#bytes += bytes;
    // what was not used is not made up for: after a pause of the thread nothing is read in a rush
    this.#dueMs = Math.max(this.#dueMs, clock.monotonicMs()) + (1_000 * cost) / bytesPerS;
    return last;
  }

  async #rest(): Promise<void> {
    const { signal } = this.#stopping;
    signal.throwIfAborted();
    const aheadMs = this.#dueMs - this.#options.clock.monotonicMs();
    if (aheadMs >= WAIT_MIN_MS) await this.#wait(aheadMs, signal);
    else await nextTurn();
    signal.throwIfAborted();
  }

  #problem(text: string): void {
    if (this.#problems.size >= PROBLEMS_MAX || this.#problems.has(text)) return;
    this.#problems.add(text);
    this.#options.log.error({ problem: text }, 'ledger: the scrub found damage; run `qrn ledger audit`');
  }
}
