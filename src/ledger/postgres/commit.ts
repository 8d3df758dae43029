import { messageOf } from '../../core/assert.ts';
import type { Log } from '../../core/log.ts';
import { putAnswers } from '../domain/answers.ts';
import { numberAnswers, seriesLocks } from '../domain/series.ts';
import { isRefusal, LedgerError, stoppedBy } from '../ledger.ts';
import type { SegmentRecord, StoredAnswer } from '../records.ts';
import { encodeSegment } from '../segment.ts';
import type { Database, Session } from './connection.ts';
import { COMMIT_SLOTS, fencedError, type NamedEpoch } from './node.ts';
import { inSession } from './postgres-store.ts';
import { columns, lockIn } from './statements.ts';

/** Segments and bytes of one transaction, at most; a single call may have more. */
const SEGMENTS_PER_COMMIT = 32;
const BYTES_PER_COMMIT = 4 * 1024 * 1024;

/** How long an end waits for outcomes that are unknown. */
const CLOSE_PATIENCE_MS = 5_000;

export interface SegmentCommitsOptions {
  /** With a connection for each slot; nobody else uses it. */
  readonly database: Database;
  readonly node: NamedEpoch;
  readonly log: Log;
}

interface EncodedSegment {
  readonly segment: SegmentRecord;
  readonly body: Buffer;
}

interface Pending {
  readonly segments: readonly EncodedSegment[];
  readonly answers: readonly StoredAnswer[];
  readonly bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Commits of one node: four slots, one transaction each in flight, which takes all segments that wait. Each transaction
 * first writes its slot's row under the node's epoch; no row means that the node was fenced, and ends it. A transaction
 * whose outcome is unknown is sent again until it is known, and what it finds stored it compares.
 */
export class SegmentCommits {
  /** Resolves with the reason when nothing more will be committed. */
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

  /** PostgreSQL does not answer: a commit would wait. */
  get isAway(): boolean {
    return this.#options.database.isAway;
  }

  /** See Books.commit. Throws what encoding finds wrong. */
  async commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void> {
    const encoded = segments.map((segment) => ({ segment, body: bufferOf(encodeSegment(segment)) }));
    if (this.#stopped !== undefined) throw this.#stopped;
    requireDistinct(segments);
    const bytes = encoded.reduce((sum, { body }) => sum + body.length, 0);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ segments: encoded, answers, bytes, resolve, reject });
    this.#schedule();
    return promise;
  }

  /** Ends after what was accepted is committed, or when PostgreSQL stays away. */
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

  /** After all messages of this turn are taken in: they make one group. */
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
      segments += next.segments.length;
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

  /** The common case: one statement. It stores all or nothing. */
  async #storeAtOnce(
    slot: number,
    group: readonly Pending[],
  ): Promise<{ isStored: boolean; isUnknown: boolean }> {
    const segments = group.flatMap((pending) => pending.segments);
    const answers = group.flatMap((pending) => pending.answers);
    if (segments.length === 0 || segments.length > SEGMENTS_PER_COMMIT)
      return { isStored: false, isUnknown: false };
    const isPlain = answers.length === 0 && segments.every(({ segment }) => segment.notes === undefined);
    const { database } = this.#options;
    try {
      const isStored = await database.attempt(async (session) => {
        if (isPlain) return this.#insert(session, slot, segments);
        await session.run(BEGIN);
        try {
          const hasAll = await this.#insert(session, slot, segments);
          if (hasAll) await storeFollowing(session, segments, answers);
          await session.run(hasAll ? COMMIT : ROLLBACK);
          return hasAll;
        } catch (error) {
          await session.run(ROLLBACK).catch(() => {}); // the first error tells more
          throw error;
        }
      });
      return { isStored, isUnknown: false };
    } catch (error) {
      return { isStored: false, isUnknown: database.isUnknownAfter(error) };
    }
  }

  /** One call in a transaction of its own, with what may be there already. */
  #storeAlone(slot: number, { segments, answers }: Pending, isUnknown: boolean): Promise<void> {
    const { database, node } = this.#options;
    const sequences = segments.map(({ segment }) => segment.sequence);
    return database.settle(async (session) => {
      const fence = await session.run(FENCE, [node.number, slot, node.epoch]);
      if (fence.length === 0) throw fencedError(node.name);
      const stored = new Map<number, Uint8Array>();
      for (const { sequence, body } of await session.run<{ sequence: number; body: Buffer }>(STORED, [
        sequences,
      ]))
        stored.set(sequence, body);
      const [{ dropped_segment }] = await session.run<{ dropped_segment: number }>(DROPPED);
      const fresh = segments.filter(({ segment: { sequence }, body }) => {
        const known = stored.get(sequence);
        if (known !== undefined && Buffer.compare(known, body) !== 0)
          throw new LedgerError('conflict', `segment ${sequence} is stored with other content`);
        // Counted and dropped already, or so late that its numbers would be counted after their retention.
        if (known === undefined && sequence <= dropped_segment)
          throw new LedgerError('refused', `segment ${sequence} is past its retention`);
        return known === undefined;
      });
      for (let at = 0; at < fresh.length; at += SEGMENTS_PER_COMMIT)
        await this.#insert(session, slot, fresh.slice(at, at + SEGMENTS_PER_COMMIT));
      await storeFollowing(session, fresh, answers);
    }, isUnknown);
  }

  /** False when nothing was stored: the node is fenced, or a segment is past its retention. */
  async #insert(session: Session, slot: number, segments: readonly EncodedSegment[]): Promise<boolean> {
    const { node } = this.#options;
    const sequences = segments.map(({ segment }) => segment.sequence);
    const values: unknown[] = [node.number, slot, node.epoch, Math.max(...sequences), Math.min(...sequences)];
    for (const { segment, body } of segments)
      values.push(segment.sequence, segment.committedAtMs, segment.count, body);
    const rows = await session.run(insertOf(segments.length), values);
    return rows.length === segments.length;
  }

  /** Stops for good, and gives the error that every later commit is rejected with. */
  #stop(cause: unknown): LedgerError {
    if (this.#stopped !== undefined) return this.#stopped;
    this.#stopped = stoppedBy(cause);
    this.#options.log.error({ cause: messageOf(cause) }, 'ledger: no further writes');
    for (const { reject } of this.#waiting.splice(0)) reject(this.#stopped);
    this.#announceFailure(this.#stopped);
    return this.#stopped;
  }
}

const BEGIN = { name: '', text: 'BEGIN' };
const COMMIT = { name: '', text: 'COMMIT' };
const ROLLBACK = { name: '', text: 'ROLLBACK' };
const FENCE = {
  name: 'commit_fence',
  text: 'UPDATE qrn.slot SET last = last WHERE node = $1 AND slot = $2 AND epoch = $3 RETURNING slot',
};
const STORED = {
  name: 'commit_stored',
  text: 'SELECT sequence, body FROM qrn.segment WHERE sequence = ANY($1)',
};
const DROPPED = { name: 'commit_dropped', text: 'SELECT dropped_segment FROM qrn.retention' };
const DROP_CLAIMS = { name: 'commit_claims', text: 'DELETE FROM qrn.claim WHERE key_digest = ANY($1)' };

const inserts: { name: string; text: string }[] = [];

/** Fences, and stores this many segments and lists them as unsealed, or none of them. */
function insertOf(count: number): { name: string; text: string } {
  const rows = Array.from({ length: count }, (_, i) => {
    const [sequence, at, n, body] = [6, 7, 8, 9].map((place) => `$${place + 4 * i}`);
    return `(${sequence}::bigint, ${at}::bigint, ${n}::int, ${body}::bytea)`;
  });
  inserts[count] ??= {
    name: `commit_${count}`,
    text: `WITH fence AS (UPDATE qrn.slot SET last = $4 WHERE node = $1 AND slot = $2 AND epoch = $3 RETURNING slot),
      stored AS (INSERT INTO qrn.segment (sequence, node, epoch, at_ms, count, body)
        SELECT s.sequence, $1, $3, s.at_ms, s.count, s.body
        FROM (VALUES ${rows.join(', ')}) AS s(sequence, at_ms, count, body), fence
        WHERE $5 > (SELECT dropped_segment FROM qrn.retention)
        RETURNING sequence, count)
      INSERT INTO qrn.unsealed (sequence, node, epoch, count) SELECT sequence, $1, $3, count FROM stored RETURNING sequence`,
  };
  return inserts[count];
}

/** What is stored with segments that are stored for the first time. */
async function storeFollowing(
  session: Session,
  fresh: readonly EncodedSegment[],
  answers: readonly StoredAnswer[],
): Promise<void> {
  const segments = fresh.map(({ segment }) => segment);
  await lockIn(session, seriesLocks(segments));
  await inSession(session, numberAnswers(segments));
  if (answers.length === 0) return;
  await inSession(session, putAnswers(answers));
  await session.run(DROP_CLAIMS, columns(answers, 'keyDigest'));
}

function requireDistinct(segments: readonly SegmentRecord[]): void {
  const seen = new Set<number>();
  for (const { sequence } of segments) {
    if (seen.has(sequence)) throw new LedgerError('conflict', `segment ${sequence} is twice in one commit`);
    seen.add(sequence);
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
