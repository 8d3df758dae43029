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
  /** Stored bytes to read in a second. A small record counts as RECORD_BYTES_MIN. */
  readonly bytesPerS: number;
  readonly wait?: Wait;
}

/** The most that one turn of the event loop reads, between the ledger's own work: 32 small records. */
const SLICE_BYTES_MAX = 64 * 1_024;
/** What a small record counts as: its look-ups and objects take as long as reading this many bytes. */
const RECORD_BYTES_MIN = 2_048;
/** The shortest time from the beginning of one walk over all records to that of the next. */
const PASS_INTERVAL_MS = 10_000;
/** The resolution of timers. Shorter waits add up. */
const WAIT_MIN_MS = 1;
/** The most problems that are kept and logged. More of them say nothing new. */
const PROBLEMS_MAX = 100;

/**
 * Slowly reads all records, again and again, while the service runs. It checks each as the audit does: against its checksum,
 * and by a look-up of its key. So it finds damage while a backup from before the damage still exists. Each slice reads a
 * snapshot of its own, because a snapshot held for a whole walk would keep LMDB from reusing freed pages. Sums over records
 * are therefore left to the audit.
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
  /** The earliest time for the next read, by the rate (monotonic ms). */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(options: ScrubOptions) {
    this.#options = options;
    this.#wait = options.wait ?? systemWait;
  }

  /** Starts when `earlier` has resolved; `earlier` must not reject. */
  startAfter(earlier: Promise<unknown> | undefined): void {
    this.#running = this.#run(earlier).catch((error: unknown) => {
      if (!this.#stopping.signal.aborted)
        this.#options.log.error(
          { reason: messageOf(error) },
          'ledger: the check of stored records in the background failed and has ended; restart the service to begin it again',
        );
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

  /** Stops, and resolves when nothing is read any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(earlier: Promise<unknown> | undefined): Promise<void> {
    const { clock, tables } = this.#options;
    await earlier;
    for (;;) {
      const beganMs = clock.monotonicMs();
      for (const table of tables.values()) await this.#walk(table);
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
        // LMDB met a page that it cannot follow
        this.#problem(`${table.name}: ${messageOf(error)}`);
        return;
      }
    } while (after !== undefined);
  }

  /** Reads records after the key `after`. Returns the last key that was read, or undefined at the end of the table. */
  #slice(table: Table<Key, unknown>, after: Key | undefined): Key | undefined {
    const { store, clock, bytesPerS } = this.#options;
    const snapshot = store.snapshot();
    let records = 0;
    let bytes = 0;
    let cost = 0;
    let last: Key | undefined;
    try {
      for (const record of table.checked(snapshot, after === undefined ? {} : { from: after })) {
        // the last slice read this record
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
    // Unused time is not made up for, so the scrub does not read in a rush after a pause of the thread.
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
    this.#options.log.error(
      { problem: text },
      'ledger: the check of stored records found damage: run `qrn ledger audit`, and see docs/operations.md',
    );
  }
}
