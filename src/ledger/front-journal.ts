import { closeSync, constants, fdatasync, openSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { pack, unpack } from 'msgpackr';
import { messageOf } from '../core/assert.ts';
import {
  type Durability,
  filesOf,
  isFenced,
  isFree,
  JournalBoard,
  type JournalPlace,
  placeAfter,
  placeInFiles,
  RECORD_HEADER_BYTES,
  recordBytes,
  sealRecord,
} from './journal.ts';
import { type Books, LedgerError } from './ledger.ts';
import type { SegmentRecord, StoredAnswer } from './records.ts';
import { type EncodedSegment, encodeSegment, segmentIn } from './segment.ts';
import type { SegmentSink, SinkRefusal } from './segment-sink.ts';
import type { Sequences } from './sequences.ts';

/** The front asks the ledger to store at once when this share of a file waits to be stored. */
const HURRY_SHARE = 1 / 4;
/** The front sheds new answers when this share of a file waits to be stored. */
const BEHIND_SHARE = 3 / 4;
/** The largest record, as a share of a file. A larger one, with a kept answer of megabytes, goes to the ledger itself. */
const RECORD_SHARE_MAX = 1 / 16;
/** With `commit`, the time from a record's acknowledgement to its flush: a power cut loses that much. */
const FLUSH_DELAY_MS = 10;
const BUFFER_BYTES_MIN = 64 * 1_024;
const NOTHING_KEPT = new Uint8Array(0);
/**
 * Promisified once: promisifying at each flush took 0.4 % of the front's samples. The wrapper looks `fdatasync` up at each
 * call, so that tests can replace it.
 */
const flushFile = promisify((fd: number, done: (error: Error | null) => void) => fdatasync(fd, done));
const DISK_FULL: SinkRefusal = { why: 'disk-full', retryAfterS: 30 };

/** A segment with its place in the journal, and its record. */
interface PlacedRecord {
  readonly segment: SegmentRecord;
  readonly answers: readonly StoredAnswer[];
  /** Holds the record in its first `bytes` bytes. */
  readonly buffer: Uint8Array<ArrayBuffer>;
  readonly bytes: number;
  /** The file, and the place in it. */
  readonly fd: number;
  readonly offset: number;
  /** The position behind the record. */
  readonly end: number;
  readonly committed: PromiseWithResolvers<void>;
  /** Whether its write has succeeded or failed. */
  isWriteOver: boolean;
}

export interface FrontJournalOptions {
  readonly place: JournalPlace;
  readonly durability: Durability;
  /** Takes segments that the journal has no room for. */
  readonly ledger: Pick<Books, 'commit'>;
  readonly sequences: Sequences;
}

/**
 * Writes the journal of one front. With durability `commit` a segment is acknowledged when it is written, and flushed soon
 * after. With `fsync` it is acknowledged when one O_DSYNC write on another thread has put it on the disk and all earlier
 * segments are there too. The ledger's thread later stores acknowledged segments in LMDB. A segment that the journal has no
 * room for waits for LMDB's own commit.
 */
export class FrontJournal implements SegmentSink {
  /** Resolves with the cause when the journal cannot be written, or another server took the folder. Never rejects. */
  readonly failed: Promise<Error>;
  readonly #options: FrontJournalOptions;
  readonly #board: JournalBoard;
  readonly #fds: readonly number[];
  readonly #announceFailure: (error: Error) => void;
  /** The end of the last record that was acknowledged. */
  #end = 0;
  /** The end of the last record that has a place: it is acknowledged or being written. */
  #placedTo = 0;
  /** The end of the last record that LMDB had when this front last looked. LMDB may have more by now, never less. */
  #storedTo = 0;
  /** Record buffers that are free for use. */
  readonly #buffers: Uint8Array<ArrayBuffer>[] = [];
  /** With durability `commit`: the flush that is due or under way. */
  #flushDue: NodeJS.Timeout | undefined;
  #isFlushing = false;
  #flushedTo = 0;
  #isClosed = false;
  /** Placed records that are not settled yet, in the order of their places, which is the order of acknowledgement. */
  readonly #underWay: PlacedRecord[] = [];
  #stopped: LedgerError | undefined;

  constructor(options: FrontJournalOptions) {
    this.#options = options;
    const { place, durability } = options;
    this.#board = new JournalBoard(place.shared);
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#announceFailure = resolve;
    const writesThrough = durability === 'fsync' ? constants.O_DSYNC : 0;
    const files = place.fileBytes === 0 ? [] : filesOf(place.path);
    this.#fds = files.map((file) => openSync(file, constants.O_RDWR | writesThrough));
  }

  nextSequence(): number {
    return this.#options.sequences.next();
  }

  get isBehind(): boolean {
    if (this.#options.sequences.isOut) return true;
    const bytesMax = BEHIND_SHARE * this.#options.place.fileBytes;
    return this.#end - this.#storedTo > bytesMax && this.#waitingBytes() > bytesMax;
  }

  /** Goes by what the ledger's thread saw of the disk. A journal that cannot be written stops the service instead. */
  get refusal(): SinkRefusal | null {
    return this.#board.isDiskFull ? DISK_FULL : null;
  }

  /**
   * Takes segments even when the disk is nearly full: the journal's files have their room already, and the free space that is
   * kept is far more than the answers under way need.
   */
  commit(segment: SegmentRecord, answers: readonly StoredAnswer[]): Promise<void> {
    const record = this.#isLarge(answers) ? undefined : this.#place(segment, answers);
    if (record === undefined) return this.#commitToLedger(segment, answers);
    this.#underWay.push(record);
    this.#write(record, 0);
    return record.committed.promise;
  }

  /** Closes the files. No commit may be under way. */
  close(): void {
    this.#stopped ??= new LedgerError('stopped', 'the journal is closed');
    this.#isClosed = true;
    clearTimeout(this.#flushDue);
    if (!this.#isFlushing) this.#closeFiles();
  }

  #closeFiles(): void {
    for (const fd of this.#fds) closeSync(fd);
  }

  #flushSoon(): void {
    this.#flushDue ??= setTimeout(() => void this.#flush(), FLUSH_DELAY_MS);
  }

  /** Flushes what was acknowledged since the last flush. */
  async #flush(): Promise<void> {
    const end = this.#end;
    const { fileBytes } = this.#options.place;
    const { slot: first } = placeInFiles(this.#flushedTo, fileBytes);
    const { slot: last } = placeInFiles(end, fileBytes);
    // both ends may lie in one file while the other file was filled between them
    const isOneFile = first === last && end - this.#flushedTo <= fileBytes;
    this.#isFlushing = true;
    const fds = isOneFile ? [this.#fds[first]] : this.#fds;
    const flushes = await Promise.allSettled(fds.map((fd) => flushFile(fd)));
    this.#isFlushing = false;
    this.#flushDue = undefined;
    this.#flushedTo = end;
    const failed = flushes.find((each) => each.status === 'rejected');
    if (this.#isClosed) this.#closeFiles();
    else if (failed !== undefined) this.#stop(failed.reason);
    else if (this.#end > end) this.#flushSoon();
  }

  async #commitToLedger(segment: SegmentRecord, answers: readonly StoredAnswer[]): Promise<void> {
    if (this.#stopped !== undefined) throw this.#stopped;
    await this.#options.ledger.commit([segment], answers);
  }

  /** Whether the answers are too large for the journal. Checked before packing, since the journal keeps its record buffers. */
  #isLarge(answers: readonly StoredAnswer[]): boolean {
    const keptBytes = answers.reduce((sum, { sealed }) => sum + sealed.length, 0);
    return keptBytes > RECORD_SHARE_MAX * this.#options.place.fileBytes;
  }

  /** Gives the segment its place in the journal. Returns undefined when it must not or cannot go there. */
  #place(segment: SegmentRecord, answers: readonly StoredAnswer[]): PlacedRecord | undefined {
    if (this.#stopped !== undefined || this.#board.isClosed) return undefined;
    const { fileBytes, front } = this.#options.place;
    const kept = answers.length === 0 ? NOTHING_KEPT : pack(answers);
    let buffer = NOTHING_KEPT;
    const { length } = encodeSegment(segment, (bytes) => {
      buffer = this.#bufferOf(recordBytes(bytes + kept.length));
      return buffer.subarray(RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + bytes);
    });
    const payloadBytes = length + kept.length;
    const size = recordBytes(payloadBytes);
    const after = this.#placedTo;
    const position = placeAfter(after, size, fileBytes);
    if (size > RECORD_SHARE_MAX * fileBytes) return undefined;
    if (!isFree(position, this.#board.stored(front), fileBytes)) return undefined;
    buffer.set(kept, RECORD_HEADER_BYTES + length);
    sealRecord(buffer, payloadBytes, { position, after, acknowledged: this.#end });
    this.#placedTo = position + size;
    const { slot, offset } = placeInFiles(position, fileBytes);
    return {
      segment,
      answers,
      buffer,
      bytes: size,
      fd: this.#fds[slot],
      offset,
      end: this.#placedTo,
      committed: Promise.withResolvers(),
      isWriteOver: false,
    };
  }

  #bufferOf(bytes: number): Uint8Array<ArrayBuffer> {
    const free = this.#buffers.pop();
    if (free !== undefined && free.length >= bytes) return free;
    return new Uint8Array(Math.max(BUFFER_BYTES_MIN, 2 * bytes));
  }

  /** Writes the record from byte `done` on. With `fsync` the write waits for the disk, and so runs in another thread. */
  #write(record: PlacedRecord, done: number): void {
    const { buffer, bytes, fd, offset } = record;
    if (this.#options.durability === 'fsync') {
      write(fd, buffer, done, bytes - done, offset + done, (error, written) =>
        this.#wrote(record, error, done + written),
      );
      return;
    }
    let [written, failure]: [number, unknown] = [0, null];
    try {
      written = writeSync(fd, buffer, done, bytes - done, offset + done);
    } catch (error) {
      failure = error;
    }
    this.#wrote(record, failure, done + written);
  }

  #wrote(record: PlacedRecord, failure: unknown, done: number): void {
    if (failure === null && done < record.bytes) {
      this.#write(record, done);
      return;
    }
    if (failure !== null) this.#stop(failure);
    record.isWriteOver = true;
    while (this.#underWay[0]?.isWriteOver) this.#settle(this.#underWay.shift()!);
  }

  /** Acknowledges the record, or rejects its commit. All records before it are settled. */
  #settle({ segment, answers, buffer, fd, end, committed }: PlacedRecord): void {
    this.#buffers.push(buffer);
    try {
      if (isFenced(fd))
        this.#stop(new LedgerError('stopped', 'another process has taken over the folder of the ledger'));
    } catch (error) {
      this.#stop(error);
    }
    if (this.#stopped !== undefined) committed.reject(this.#stopped);
    else if (this.#board.isClosed) committed.resolve(this.#options.ledger.commit([segment], answers));
    else {
      this.#acknowledge(end);
      committed.resolve();
    }
  }

  /** Makes the record visible to the ledger's thread. */
  #acknowledge(end: number): void {
    const { front, fileBytes } = this.#options.place;
    this.#end = end;
    this.#board.setWritten(front, end);
    this.#board.wake(this.#waitingBytes() > HURRY_SHARE * fileBytes);
    if (this.#options.durability === 'commit') this.#flushSoon();
  }

  #waitingBytes(): number {
    this.#storedTo = this.#board.stored(this.#options.place.front);
    return this.#end - this.#storedTo;
  }

  #stop(cause: unknown): LedgerError {
    const why = messageOf(cause);
    this.#stopped ??=
      cause instanceof LedgerError
        ? cause
        : new LedgerError('stopped', `the ledger stopped: its journal cannot be written (${why})`, { cause });
    this.#announceFailure(this.#stopped);
    return this.#stopped;
  }
}

/** Returns the content of a record; the segment is a view of the payload. `before` is the segment of the previous record. */
export function unpackRecord(
  payload: Uint8Array<ArrayBuffer>,
  before?: EncodedSegment,
): { readonly segment: EncodedSegment; readonly answers: readonly StoredAnswer[] } {
  const segment = segmentIn(payload, true, before); // the record's checksum covers it
  const kept = payload.subarray(segment.bytes.length);
  if (kept.length === 0) return { segment, answers: [] };
  const answers = unpack(kept) as StoredAnswer[];
  return {
    segment,
    answers: answers.map((answer) => ({ ...answer, sealed: new Uint8Array(answer.sealed) })),
  };
}
