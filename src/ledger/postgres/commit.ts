import { messageOf } from '../../core/assert.ts';
import type { Log } from '../../core/log.ts';
import { encoded, putRuns, storeFollowing, storeRuns } from '../domain/books.ts';
import { seriesLocks } from '../domain/series.ts';
import { isRefusal, LedgerError, stoppedBy } from '../ledger.ts';
import type { SegmentRecord, StoredAnswer } from '../records.ts';
import type { Run } from '../segment.ts';
import type { Body } from '../store.ts';
import { DROPPED_SEGMENTS } from '../tables.ts';
import type { Database, Session } from './connection.ts';
import { COMMIT_SLOTS, fencedError, type NamedEpoch } from './fence.ts';
import { inSession, lockIn, rowOf, rowsPutBy } from './postgres-store.ts';

/** The most segments and bytes of one transaction. A single call may have more. */
const SEGMENTS_PER_COMMIT = 32;
const BYTES_PER_COMMIT = 4 * 1024 * 1024;

/** How long `close` waits for unknown outcomes. */
const CLOSE_PATIENCE_MS = 5_000;

export interface SegmentCommitsOptions {
  /** Has a connection for each slot, and no other user. */
  readonly database: Database;
  readonly node: NamedEpoch;
  readonly log: Log;
}

interface Pending {
  /** One run for each segment, so that a repeated commit of the segment finds it under the same key. */
  readonly runs: readonly Run[];
  readonly answers: readonly StoredAnswer[];
  readonly bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Commits the segments of one node. Each of four slots has at most one transaction in flight, which takes a group of waiting
 * segments. A transaction first updates the row with its slot and the node's epoch; when there is no such row, the node was
 * fenced. A transaction whose outcome is unknown is repeated until it is known, and is compared with what is stored.
 */
export class SegmentCommits {
  /** Resolves with the cause when nothing more will be committed. */
  readonly failed: Promise<Error>;
  readonly #options: SegmentCommitsOptions;
  readonly #announceFailure: (error: Error) => void;
  readonly #freeSlots = Array.from({ length: COMMIT_SLOTS }, (_, slot) => slot);
  readonly #running = new Set<Promise<void>>();
  #waiting: Pending[] = [];
  #scheduled: NodeJS.Immediate | undefined;
  #stopped: LedgerError | undefined;

  constructor(options: SegmentCommitsOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#announceFailure = resolve;
  }

  /** See Books.commit. Rejects when a segment cannot be encoded. */
  async commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void> {
    const runs = segments.map(encoded);
    if (this.#stopped !== undefined) throw this.#stopped;
    const size = runs.flat().reduce((sum, { bytes }) => sum + bytes.length, 0);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ runs, answers, bytes: size, resolve, reject });
    this.#schedule();
    return promise;
  }

  /** Waits until all accepted segments are committed, or for CLOSE_PATIENCE_MS. */
  async close(): Promise<void> {
    const { database } = this.#options;
    const giveUp = setTimeout(() => void database.close(), CLOSE_PATIENCE_MS);
    while (this.#waiting.length > 0 || this.#running.size > 0) {
      this.#start();
      await Promise.race(this.#running);
    }
    clearTimeout(giveUp);
    this.#stopped ??= new LedgerError('stopped', 'the ledger is closed');
  }

  /** Starts a transaction after this turn has taken in all its messages, which then form a group. */
  #schedule(): void {
    if (this.#freeSlots.length > 0) this.#scheduled ??= setImmediate(() => this.#start());
  }

  #start(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    while (this.#waiting.length > 0) {
      const slot = this.#freeSlots.pop();
      if (slot === undefined) return;
      const running = this.#store(slot, this.#nextGroup()).finally(() => {
        this.#running.delete(running);
        this.#freeSlots.push(slot);
        if (this.#waiting.length > 0) this.#schedule();
      });
      this.#running.add(running);
    }
  }

  #nextGroup(): Pending[] {
    let segments = 0;
    let bytes = 0;
    let size = 0;
    for (const next of this.#waiting) {
      segments += next.runs.length;
      bytes += next.bytes;
      if (size > 0 && (segments > SEGMENTS_PER_COMMIT || bytes > BYTES_PER_COMMIT)) break;
      size++;
    }
    return this.#waiting.splice(0, size);
  }

  async #store(slot: number, group: readonly Pending[]): Promise<void> {
    const { isStored, isUnknown } = await this.#storeAtOnce(slot, group);
    for (const pending of group) {
      try {
        if (!isStored) await this.#storeAlone(slot, pending, isUnknown);
        pending.resolve();
      } catch (error) {
        pending.reject(isRefusal(error) ? error : this.#stop(error));
      }
    }
  }

  /**
   * Stores all of the group or nothing, on the usual assumption that nothing of it is stored yet. That takes one statement
   * when the group has no labels and no kept answers.
   */
  async #storeAtOnce(
    slot: number,
    group: readonly Pending[],
  ): Promise<{ isStored: boolean; isUnknown: boolean }> {
    const runs = group.flatMap((pending) => pending.runs);
    const answers = group.flatMap((pending) => pending.answers);
    if (runs.length === 0 || runs.length > SEGMENTS_PER_COMMIT) return { isStored: false, isUnknown: false };
    const isPlain = answers.length === 0 && runs.flat().every(({ segment }) => segment.notes === undefined);
    const { database } = this.#options;
    try {
      const isStored = await database.attempt(async (session) => {
        const hasAll = await this.#insert(session, slot, runs);
        if (hasAll && !isPlain) await storeUnderLocks(session, runs, storeFollowing(runs, answers));
        return hasAll;
      }, !isPlain);
      return { isStored, isUnknown: false };
    } catch (error) {
      return { isStored: false, isUnknown: database.isUnknownAfter(error) };
    }
  }

  /** Stores one call in a transaction of its own, which may find some of the segments stored already. */
  #storeAlone(slot: number, { runs, answers }: Pending, isUnknown: boolean): Promise<void> {
    const { database, node } = this.#options;
    return database.settle(async (session) => {
      const fence = await session.run(FENCE, [node.number, slot, node.epoch]);
      if (fence.length === 0) throw fencedError(node.name);
      await storeUnderLocks(session, runs, storeRuns(runs, answers, node));
    }, isUnknown);
  }

  /** Returns false when nothing was stored, because the node was fenced or a segment is past its retention. */
  async #insert(session: Session, slot: number, runs: readonly Run[]): Promise<boolean> {
    const { node } = this.#options;
    const segments = runs.flat();
    const first = Math.min(...segments.map(({ segment }) => segment.sequence));
    const newestMs = Math.max(...segments.map(({ segment }) => segment.committedAtMs));
    const { key: dropped } = rowOf(DROPPED_SEGMENTS, first, 0);
    const values: unknown[] = [node.number, slot, node.epoch, newestMs, Buffer.from(dropped)];
    const rows = rowsPutBy(putRuns(runs, node));
    for (const { part, key, name, value } of rows) values.push(part, bufferOf(key), name, bufferOf(value));
    return (await session.run(insertOf(rows.length), values)).length === rows.length;
  }

  /** Stops for good, and returns the error that rejects every later commit. */
  #stop(cause: unknown): LedgerError {
    if (this.#stopped !== undefined) return this.#stopped;
    this.#stopped = stoppedBy(cause);
    this.#options.log.error(
      { cause: messageOf(cause) },
      'ledger: a commit failed, so nothing more is committed and the service stops',
    );
    for (const { reject } of this.#waiting.splice(0)) reject(this.#stopped);
    this.#announceFailure(this.#stopped);
    return this.#stopped;
  }
}

const FENCE = {
  name: 'commit_fence',
  text: 'UPDATE qrn.slot SET epoch = epoch WHERE node = $1 AND slot = $2 AND epoch = $3 RETURNING slot',
};

const inserts: { name: string; text: string }[] = [];

/**
 * Returns the statement that checks the epoch and stores `count` records. It stores none when the node was fenced, or when
 * retention has dropped a sequence as high as the lowest of these.
 */
function insertOf(count: number): { name: string; text: string } {
  const rows = Array.from({ length: count }, (_, i) => {
    const [part, key, name, value] = [6, 7, 8, 9].map((place) => `$${place + 4 * i}`);
    return `(${part}::text, ${key}::bytea, ${name}::text, ${value}::bytea)`;
  });
  inserts[count] ??= {
    name: `commit_${count}`,
    text: `WITH fence AS (UPDATE qrn.slot SET committed_at_ms = $4 WHERE node = $1 AND slot = $2 AND epoch = $3 RETURNING slot)
      INSERT INTO qrn.record (part, key, name, value)
      SELECT r.* FROM (VALUES ${rows.join(', ')}) AS r(part, key, name, value), fence
      WHERE NOT EXISTS (SELECT FROM qrn.record WHERE part = '${DROPPED_SEGMENTS.name}' AND key >= $5)
      RETURNING part`,
  };
  return inserts[count];
}

/** Runs the body under the locks of the series of these segments. */
async function storeUnderLocks(session: Session, runs: readonly Run[], body: Body<unknown>): Promise<void> {
  await lockIn(session, seriesLocks(runs.flat().map(({ segment }) => segment)));
  await inSession(session, body);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
