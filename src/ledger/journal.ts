import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { fillSystemEntropy } from '../crypto/system-entropy.ts';
import { LedgerError } from './ledger.ts';

/**
 * The files that hold the segments of one front until LMDB has them. The front writes them (front-journal.ts), the ledger's
 * thread reads them (lmdb/following-books.ts). Written records survive the end of the process, flushed ones a power cut.
 *
 * A journal has two files of a fixed length, so that a flush writes no metadata. The front fills them in turn, and fills one
 * again when LMDB has all its records. A position counts the bytes of all files filled so far, so it never decreases. A
 * record never spans two files: one that does not fit into the rest of a file begins the next one. The transaction that
 * stores records also stores the position up to which the journal is stored.
 *
 *   header           0       a line of text, see headerOf
 *                 1024    1  fence: not 0 once another server reads the file
 *   record, aligned to 8 bytes, little-endian
 *                    0    4  magic
 *                    4    4  CRC-32 of the rest of the record
 *                    8    8  position of the record, float64
 *                   16    8  end of the previous record, float64
 *                   24    4  payload bytes
 *                   28    4  bytes before the position that were not acknowledged when the record was written
 *                   32    …  payload
 */
const FILE_HEADER_BYTES = 4_096;
const FENCE_AT = 1_024;
const LEDGER_ID_BYTES = 6;
const MAGIC = 0x6a_6e_72_71; // "qrnj"
export const RECORD_HEADER_BYTES = 32;
const ALIGNMENT = 8;

/** The name of a journal has the start of its server and the number of its front; its files add a letter. */
const FILE_NAME = /^(journal-\d+-\d+)-[ab]$/;

/** With `commit` an acknowledged answer survives a killed process, with `fsync` also a power cut. */
export type Durability = 'fsync' | 'commit';

/** The front that writes a journal. */
export interface JournalOwner {
  readonly ledgerId: number;
  /** The start of its server (LedgerIdentity). */
  readonly start: number;
  readonly front: number;
}

/** What the header of a file states. With `fsync` every record was flushed before it was acknowledged. */
export interface JournalHeader extends JournalOwner {
  readonly durability: Durability;
  readonly fileBytes: number;
}

function headerOf({ ledgerId, start, front, durability, fileBytes }: JournalHeader, slot: number): string {
  return `qrn journal 1, ledger ${ledgerId}, start ${start}, front ${front}, file ${slot}, ${fileBytes} bytes, ${durability}`;
}

const HEADER =
  /^qrn journal 1, ledger (\d+), start (\d+), front (\d+), file ([01]), (\d+) bytes, (fsync|commit)$/;
/** The first facts of a header, which say whose the file is. */
const WHOSE = 4;

export function journalName({ start, front }: Pick<JournalOwner, 'start' | 'front'>): string {
  return `journal-${start}-${front}`;
}

/** Returns the owner that the name of a journal in this ledger states. */
export function ownerOf(name: string, ledgerId: number): JournalOwner {
  const [, start, front] = name.split('-').map(Number);
  return { ledgerId, start, front };
}

/** Returns the name of the journal that a file of this name belongs to; undefined for other files. */
export function journalOf(file: string): string | undefined {
  return FILE_NAME.exec(file)?.[1];
}

/** Returns the paths of both files of a journal. */
export function filesOf(path: string): readonly [string, string] {
  return [`${path}-a`, `${path}-b`];
}

/** Where a front writes its journal. Can be sent to another thread. */
export interface JournalPlace {
  /** The path of the files, without their letter. */
  readonly path: string;
  /** Bytes of each file without its header; 0 when the disk had no room for the files. */
  readonly fileBytes: number;
  /** The front's index in `shared`. */
  readonly front: number;
  readonly shared: SharedArrayBuffer;
}

const WAKE = 0;
/** Not 0 once fronts may acknowledge nothing more from their journals. */
const CLOSED = 1;
/** Not 0 while the disk has too little room for more answers. */
const FULL = 2;
const POSITIONS = 3;
const NOTHING_NEW = 0;
const NEW = 1;
const HURRY = 2;

/** Shared memory in which the fronts and the ledger's thread exchange positions and flags. */
export class JournalBoard {
  readonly shared: SharedArrayBuffer;
  /** The same memory in 32-bit words: every answer reads flags, and a load from `#words` would make a BigInt. */
  readonly #flags: Int32Array<SharedArrayBuffer>;
  readonly #words: BigInt64Array<SharedArrayBuffer>;

  constructor(shared: SharedArrayBuffer) {
    this.shared = shared;
    this.#flags = new Int32Array(shared);
    this.#words = new BigInt64Array(shared);
  }

  static create(fronts: number): JournalBoard {
    return new JournalBoard(new SharedArrayBuffer(8 * (POSITIONS + 2 * fronts)));
  }

  /** Returns the end of the last record that the front has acknowledged. */
  written(front: number): number {
    return Number(Atomics.load(this.#words, POSITIONS + 2 * front));
  }

  /** Returns the end of the front's last record that LMDB has. */
  stored(front: number): number {
    return Number(Atomics.load(this.#words, POSITIONS + 1 + 2 * front));
  }

  setWritten(front: number, position: number): void {
    Atomics.store(this.#words, POSITIONS + 2 * front, BigInt(position));
  }

  setStored(front: number, position: number): void {
    Atomics.store(this.#words, POSITIONS + 1 + 2 * front, BigInt(position));
  }

  /** Makes the fronts commit every segment to the ledger instead of the journals, which cannot be relied on any more. */
  closeJournals(): void {
    Atomics.store(this.#flags, 2 * CLOSED, 1);
  }

  get isClosed(): boolean {
    return Atomics.load(this.#flags, 2 * CLOSED) !== 0;
  }

  setDiskFull(isFull: boolean): void {
    Atomics.store(this.#flags, 2 * FULL, isFull ? 1 : 0);
  }

  /** Every request reads this, so it is a plain load: several times faster than an atomic one, and possibly a moment old. */
  get isDiskFull(): boolean {
    return this.#flags[2 * FULL] !== 0;
  }

  /** Tells the ledger's thread to store the journals: at once, or when its interval ends. */
  wake(atOnce: boolean): void {
    const wanted = atOnce ? HURRY : NEW;
    for (let now = Atomics.load(this.#flags, WAKE); now < wanted; ) {
      const was = Atomics.compareExchange(this.#flags, WAKE, now, wanted);
      if (was === now) {
        Atomics.notify(this.#flags, WAKE);
        return;
      }
      now = was; // another front has changed the word meanwhile
    }
  }

  /** Waits for the first wake, then for `delayMs` or until a front wakes at once. Resolves with whether one did. */
  async awaitWork(delayMs: number): Promise<boolean> {
    await this.#changed(NOTHING_NEW);
    await this.#changed(NEW, delayMs);
    // The exchange comes before the caller reads positions: a record that it does not see wakes again.
    return Atomics.exchange(this.#flags, WAKE, NOTHING_NEW) === HURRY;
  }

  async #changed(from: number, timeoutMs?: number): Promise<void> {
    const waiting = Atomics.waitAsync(this.#flags, WAKE, from, timeoutMs);
    if (waiting.async) await waiting.value;
  }
}

/** Returns a random id for a new ledger. */
export function newLedgerId(): number {
  const bytes = fillSystemEntropy(new Uint8Array(LEDGER_ID_BYTES));
  return 1 + Buffer.from(bytes).readUIntLE(0, LEDGER_ID_BYTES);
}

/**
 * Creates both files at their full length; the caller flushes the folder. When the disk has no room, makes them empty, so that
 * they only show that a server started, and returns false. Nothing lists them yet, so whatever a killed start leaves is removed
 * by the next one.
 */
export function createJournal(path: string, header: JournalHeader): boolean {
  const content = Buffer.alloc(FILE_HEADER_BYTES + header.fileBytes);
  const files = filesOf(path);
  try {
    for (const [slot, file] of files.entries()) {
      content.write(`${headerOf(header, slot)}\n`);
      writeFileSync(file, content, { mode: 0o600, flush: true });
    }
    return true;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
  for (const file of files) rmSync(file, { force: true }); // frees the room of what was written
  try {
    for (const file of files) closeSync(openSync(file, 'w', 0o600));
  } catch (error) {
    if (!isDiskFull(error)) throw error; // not even a file without content has room
  }
  return false;
}

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/**
 * Tells the server that owns the journal, if it still runs, that another server reads it. The owner looks for the fence after
 * it has written a record, and acknowledges the record only when there is none.
 */
export function fenceJournal(path: string): void {
  for (const file of filesOf(path)) {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= FENCE_AT) continue; // it has no record, and counts as fenced
    const fd = openSync(file, 'r+');
    try {
      writeSync(fd, Uint8Array.of(1), 0, 1, FENCE_AT);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}

const fenceByte = new Uint8Array(1);

export function isFenced(fd: number): boolean {
  return readSync(fd, fenceByte, 0, 1, FENCE_AT) !== 1 || fenceByte[0] !== 0;
}

/** Returns the bytes that a record takes in its file. */
export function recordBytes(payloadBytes: number): number {
  return Math.ceil((RECORD_HEADER_BYTES + payloadBytes) / ALIGNMENT) * ALIGNMENT;
}

/** Returns the position of a record of `bytes` bytes that follows a record which ends at `end`. */
export function placeAfter(end: number, bytes: number, fileBytes: number): number {
  const left = fileBytes - (end % fileBytes);
  return bytes <= left ? end : end + left;
}

/** Whether a record may be written at the position: LMDB, which has all up to `stored`, has all that the file held before. */
export function isFree(position: number, stored: number, fileBytes: number): boolean {
  return stored >= startOfFile(position, fileBytes) - fileBytes;
}

/** Returns the index of the file that holds a position, and the offset in it. */
export function placeInFiles(position: number, fileBytes: number): { slot: number; offset: number } {
  const slot = Math.floor(position / fileBytes) % 2;
  return { slot, offset: FILE_HEADER_BYTES + (position % fileBytes) };
}

function startOfFile(position: number, fileBytes: number): number {
  return position - (position % fileBytes);
}

/** The place of a record in its journal. */
interface RecordPlace {
  readonly position: number;
  /** The end of the previous record. */
  readonly after: number;
  /** The end of the last record that was acknowledged when this one was written. */
  readonly acknowledged: number;
}

/** Writes the header of a record, with the checksum over header and payload. The payload must be in place. */
export function sealRecord(
  record: Uint8Array<ArrayBuffer>,
  payloadBytes: number,
  { position, after, acknowledged }: RecordPlace,
): void {
  const view = new DataView(record.buffer, record.byteOffset, RECORD_HEADER_BYTES);
  view.setUint32(0, MAGIC, true);
  view.setFloat64(8, position, true);
  view.setFloat64(16, after, true);
  view.setUint32(24, payloadBytes, true);
  view.setUint32(28, position - acknowledged, true);
  view.setUint32(4, crc32(record.subarray(8, RECORD_HEADER_BYTES + payloadBytes)), true);
}

interface JournalRecord extends RecordPlace {
  /** The position of the next record, if that fits into the file. */
  readonly end: number;
  readonly payload: Uint8Array<ArrayBuffer>;
}

/** Returns the record at this index of the bytes; undefined when there is no whole record. */
function recordAt(bytes: Uint8Array<ArrayBuffer>, at: number): JournalRecord | undefined {
  if (at + RECORD_HEADER_BYTES > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, RECORD_HEADER_BYTES);
  if (view.getUint32(0, true) !== MAGIC) return undefined;
  const payloadBytes = view.getUint32(24, true);
  const payloadEnd = at + RECORD_HEADER_BYTES + payloadBytes;
  if (payloadEnd > bytes.length || view.getUint32(4, true) !== crc32(bytes.subarray(at + 8, payloadEnd)))
    return undefined;
  const position = view.getFloat64(8, true);
  return {
    position,
    after: view.getFloat64(16, true),
    acknowledged: position - view.getUint32(28, true),
    end: position + recordBytes(payloadBytes),
    payload: bytes.subarray(at + RECORD_HEADER_BYTES, payloadEnd),
  };
}

/** Yields the records between two positions, up to the first that is missing. `read` returns a range that lies in one file. */
function* recordsBetween(
  from: number,
  to: number,
  fileBytes: number,
  read: (from: number, to: number) => Uint8Array<ArrayBuffer>,
): Generator<JournalRecord> {
  let end = from;
  for (let at = from; at < to; at = startOfFile(at, fileBytes) + fileBytes) {
    const bytes = read(at, Math.min(to, startOfFile(at, fileBytes) + fileBytes));
    for (let place = 0; ; ) {
      const record = recordAt(bytes, place);
      if (record?.position !== at + place || record.after !== end) break;
      yield record;
      end = record.end;
      place = end - at;
    }
  }
}

/** Reads the journal of a running front. */
export class JournalReader {
  readonly #fds: readonly number[];
  readonly #fileBytes: number;
  readonly #path: string;
  #position = 0;

  constructor({ path, fileBytes }: Pick<JournalPlace, 'path' | 'fileBytes'>) {
    this.#fds = filesOf(path).map((file) => openSync(file, 'r'));
    this.#path = path;
    this.#fileBytes = fileBytes;
  }

  /** The end of the last record that was read. */
  get position(): number {
    return this.#position;
  }

  /**
   * Returns the payloads of the records from where the last call stopped up to `end`, which must be the end of a record.
   * Throws LedgerError `damaged` when a record is not as it was written.
   */
  readTo(end: number): Uint8Array<ArrayBuffer>[] {
    const payloads: Uint8Array<ArrayBuffer>[] = [];
    const read = (from: number, to: number) => this.#read(from, to);
    for (const record of recordsBetween(this.#position, end, this.#fileBytes, read)) {
      payloads.push(record.payload);
      this.#position = record.end;
    }
    if (this.#position === end) return payloads;
    throw new LedgerError(
      'damaged',
      `${this.#path}: the record at ${this.#position} is not as it was written`,
    );
  }

  close(): void {
    for (const fd of this.#fds) closeSync(fd);
  }

  #read(from: number, to: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(to - from);
    const { slot, offset } = placeInFiles(from, this.#fileBytes);
    for (let read = 0; read < bytes.length; ) {
      const now = readSync(this.#fds[slot], bytes, read, bytes.length - read, offset + read);
      if (now === 0) throw new LedgerError('damaged', `${filesOf(this.#path)[slot]} is cut short`);
      read += now;
    }
    return bytes;
  }
}

/** A file of a journal, as a dead process left it. */
interface LeftFile {
  readonly path: string;
  /** Why it is not as its owner wrote it; undefined when it is. */
  readonly flaw: string | undefined;
  /** Whether its header is readable and names another ledger, start or front, or the other file. */
  readonly isForeign: boolean;
  /** What its header states. */
  readonly durability: string | undefined;
  /** Bytes without the header. */
  readonly bytes: number;
  /** The whole records that lie in their own places. */
  readonly records: readonly JournalRecord[];
}

/** Returns both files of the journal of a dead process. */
export function filesLeftIn(path: string, owner: JournalOwner): LeftFile[] {
  return filesOf(path).map((file, slot) => {
    const isThere = existsSync(file);
    const content = isThere ? new Uint8Array(readFileSync(file)) : new Uint8Array(0);
    const stated = Buffer.from(content.subarray(0, FENCE_AT)).toString('latin1').split('\n', 1)[0];
    const records = content.subarray(FILE_HEADER_BYTES);
    const [, ...facts] = HEADER.exec(stated) ?? [];
    const own = [owner.ledgerId, owner.start, owner.front, slot, records.length];
    const isOwn = facts.length > 0 && own.every((each, i) => facts[i] === String(each));
    const begins = JSON.stringify(stated.replace(/\0+$/, '').slice(0, 120));
    const wrong = `is not as start ${owner.start} of ledger ${owner.ledgerId} wrote it: it has ${content.length} bytes and begins with ${begins}`;
    return {
      path: file,
      flaw: isThere ? (isOwn ? undefined : wrong) : 'is missing',
      isForeign: facts.slice(0, WHOSE).some((each, i) => each !== String(own[i])),
      durability: facts.at(-1),
      bytes: records.length,
      records: wholeRecordsIn(records, slot),
    };
  });
}

function wholeRecordsIn(bytes: Uint8Array<ArrayBuffer>, slot: number): JournalRecord[] {
  const found: JournalRecord[] = [];
  for (let at = 0; at + RECORD_HEADER_BYTES <= bytes.length; ) {
    const record = recordAt(bytes, at);
    const place = record && placeInFiles(record.position, bytes.length);
    if (record !== undefined && place?.slot === slot && place.offset === FILE_HEADER_BYTES + at)
      found.push(record);
    at += record === undefined ? ALIGNMENT : record.end - record.position;
  }
  return found;
}

/** Returns the records of these files after the position `from`, oldest first. */
export function recordsLeftIn(files: readonly LeftFile[], from: number): JournalRecord[] {
  const all = files.flatMap(({ records }) => records.filter(({ position }) => position >= from));
  return all.sort((a, b) => a.position - b.position);
}

/**
 * Like recordsLeftIn, for files that must be as their owner wrote them. The records end at the first that is not whole: the
 * process was writing it, and had acknowledged neither it nor a later one.
 *
 * Throws LedgerError `unusable` when a file is missing, has another owner, or holds a record that cannot be there:
 * - With `fsync`, a later record which states that the missing one was acknowledged: so the missing one is damaged. Damage to
 *   the last records looks like the end of the journal, since no later record names them.
 * - With `commit`, a record for which no file was free yet (see isFree): so LMDB's position is of an earlier state.
 */
export function readJournal(files: readonly LeftFile[], from: number): JournalRecord[] {
  for (const file of files) if (file.flaw !== undefined) throw lossOf(file.path, file.flaw);
  const [{ durability, bytes: fileBytes }] = files;
  const beyond = startOfFile(from, fileBytes) + 2 * fileBytes;
  const left = recordsLeftIn(files, from);
  let end = from;
  const isNext = ({ position, after }: JournalRecord) => position < beyond && after === end;
  let count = 0;
  for (; count < left.length && isNext(left[count]); count++) end = left[count].end;
  const isFlushed = durability === 'fsync';
  const cannotBe = ({ position, acknowledged }: JournalRecord) =>
    isFlushed ? acknowledged > end : position >= beyond;
  if (!left.slice(count).some(cannotBe)) return left.slice(0, count);
  const { slot, offset } = placeInFiles(end, fileBytes);
  const what = isFlushed
    ? `is damaged at byte ${offset}`
    : 'is of another state of the ledger than the data file';
  throw lossOf(files[slot].path, what);
}

/** Returns the error that refuses a start which would silently lose acknowledged answers. */
export function lossOf(file: string, what: string): LedgerError {
  return new LedgerError(
    'unusable',
    `${file} ${what}, and acknowledged answers that only it held are lost without it: put it back, or take the folder as it lies ` +
      `with \`qrn ledger restore ${dirname(file)}\``,
  );
}
