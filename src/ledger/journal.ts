import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { fillSystemEntropy } from '../crypto/system-entropy.ts';
import { LedgerError } from './ledger.ts';

/**
 * The file in which one front leaves its segments until LMDB has them: the front writes (front-journal.ts), the ledger's
 * thread reads (lmdb/following-books.ts). What is written survives the end of the process; what is flushed survives a
 * power cut. The file keeps its length, so that a flush writes the records and nothing else.
 *
 * Behind the header lies a ring. A position counts bytes from the first record on and never goes back; it lies at
 * `position % ringBytes` of the ring. A record that does not fit before the end of the ring begins at its start. The ledger
 * stores how far it has come in the transaction that stores the records, and only what LMDB has is written over.
 *
 *   header           0    4  magic
 *                    4    4  version
 *                    8    8  bytes of the ring, float64
 *                   16    1  fence: not 0 once another server reads the file
 *                   24    8  owner, float64: see newJournalOwner
 *   record, aligned to 8 bytes, little-endian
 *                    0    4  magic
 *                    4    4  CRC-32 of the rest of the record
 *                    8    8  position, float64
 *                   16    8  end of the record before it, float64
 *                   24    8  position up to which everything was known to be flushed, float64
 *                   32    4  payload bytes
 *                   36    4  zero
 *                   40    …  payload
 */
const FILE_MAGIC = 0x4a_6e_72_71; // "qrnJ"
const FILE_VERSION = 1;
const FILE_HEADER_BYTES = 4_096;
const FENCE_AT = 16;
const OWNER_AT = 24;
const OWNER_BYTES = 6;
const MAGIC = 0x6a_6e_72_71; // "qrnj"
export const RECORD_HEADER_BYTES = 40;
const ALIGNMENT = 8;
const CHUNK_BYTES = 2 ** 20;

/** Names of journals: of one start of a server each, by its epoch, and of one front. */
const NAME = /^journal-(\d+)-(\d+)$/;
const DRAFT_NAME = /^journal-\d+-\d+\.draft$/;
const FAULT_NAME = /^journal-\d+-\d+\.(damaged|foreign)$/;

export function journalName(epoch: number, front: number): string {
  return `journal-${epoch}-${front}`;
}

export const isJournal = (name: string): boolean => NAME.test(name);
export const isDraftJournal = (name: string): boolean => DRAFT_NAME.test(name);

/** Where a front writes its journal; it can be sent to another thread. */
export interface JournalPlace {
  readonly path: string;
  readonly ringBytes: number;
  /** Which of the journals in `shared` it is. */
  readonly front: number;
  readonly shared: SharedArrayBuffer;
}

const WAKE = 0;
/** Not 0 once nothing more is acknowledged from a journal. */
const CLOSED = 1;
/** Not 0 while the disk has too little room for more answers. */
const FULL = 2;
const POSITIONS = 3;
const NOTHING_NEW = 0;
const NEW = 1;
const HURRY = 2;

/** What the fronts and the ledger's thread tell each other without a message. */
export class JournalBoard {
  readonly shared: SharedArrayBuffer;
  /** The halves of the words: what is no more than a flag is read without a BigInt, since each answer asks for one. */
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

  /** The end of the last record that the front has written. */
  written(front: number): number {
    return Number(Atomics.load(this.#words, POSITIONS + 2 * front));
  }

  /** The end of the last record that LMDB has. */
  stored(front: number): number {
    return Number(Atomics.load(this.#words, POSITIONS + 1 + 2 * front));
  }

  setWritten(front: number, position: number): void {
    Atomics.store(this.#words, POSITIONS + 2 * front, BigInt(position));
  }

  setStored(front: number, position: number): void {
    Atomics.store(this.#words, POSITIONS + 1 + 2 * front, BigInt(position));
  }

  /** From now on the ledger itself takes every segment: the journals are not what they were. */
  closeJournals(): void {
    Atomics.store(this.#flags, 2 * CLOSED, 1);
  }

  get isClosed(): boolean {
    return Atomics.load(this.#flags, 2 * CLOSED) !== 0;
  }

  setDiskFull(isFull: boolean): void {
    Atomics.store(this.#flags, 2 * FULL, isFull ? 1 : 0);
  }

  get isDiskFull(): boolean {
    return Atomics.load(this.#flags, 2 * FULL) !== 0;
  }

  /** Tells the ledger's thread that there is something to store: in its own time, or at once. */
  wake(atOnce: boolean): void {
    const wanted = atOnce ? HURRY : NEW;
    if (Atomics.load(this.#flags, WAKE) >= wanted) return;
    Atomics.store(this.#flags, WAKE, wanted);
    Atomics.notify(this.#flags, WAKE);
  }

  /** Resolves after the first wake, and then `delayMs` later or as soon as somebody wakes at once. */
  async awaitWork(delayMs: number): Promise<void> {
    await this.#changed(NOTHING_NEW);
    await this.#changed(NEW, delayMs);
    Atomics.store(this.#flags, WAKE, NOTHING_NEW); // before the positions are read: what follows wakes again
  }

  async #changed(from: number, timeoutMs?: number): Promise<void> {
    const waiting = Atomics.waitAsync(this.#flags, WAKE, from, timeoutMs);
    if (waiting.async) await waiting.value;
  }
}

/** A number for one start of a server, which stands in its journals and in its ledger: no other journal has the same. */
export function newJournalOwner(): number {
  const bytes = fillSystemEntropy(new Uint8Array(OWNER_BYTES));
  return 1 + Buffer.from(bytes).readUIntLE(0, OWNER_BYTES);
}

/**
 * Makes the file at its full length; the folder is the caller's to flush. False, and an empty file, when the disk has no room
 * for it. It gets its name when it is whole: a start that is killed meanwhile leaves a draft, and not a journal that looks cut short.
 */
export function createJournal(path: string, ringBytes: number, owner: number): boolean {
  const draft = `${path}.draft`;
  const hasRoom = writeEmpty(draft, ringBytes, owner);
  renameSync(draft, path);
  return hasRoom;
}

function writeEmpty(path: string, ringBytes: number, owner: number): boolean {
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    const header = new DataView(new ArrayBuffer(FILE_HEADER_BYTES));
    header.setUint32(0, FILE_MAGIC, true);
    header.setUint32(4, FILE_VERSION, true);
    header.setFloat64(8, ringBytes, true);
    header.setFloat64(OWNER_AT, owner, true);
    writeWhole(fd, new Uint8Array(header.buffer), 0);
    const zeros = new Uint8Array(Math.min(CHUNK_BYTES, ringBytes));
    const end = FILE_HEADER_BYTES + ringBytes;
    for (let at = FILE_HEADER_BYTES; at < end; ) {
      at += writeSync(fd, zeros, 0, Math.min(zeros.length, end - at), at);
    }
    fsyncSync(fd);
    return true;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    ftruncateSync(fd, 0);
    return false;
  } finally {
    closeSync(fd);
  }
}

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

function writeWhole(fd: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(fd, bytes, written, bytes.length - written, position + written);
  }
}

/**
 * Tells the server whose journal it is, should it live, that another one reads it: what that server acknowledges, it
 * acknowledges only after it saw that the fence was not there when its record was.
 */
export function fenceJournal(path: string): void {
  const fd = openSync(path, 'r+');
  try {
    writeWhole(fd, Uint8Array.of(1), FENCE_AT);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const fenceByte = new Uint8Array(1);

export function isFenced(fd: number): boolean {
  return readSync(fd, fenceByte, 0, 1, FENCE_AT) !== 1 || fenceByte[0] !== 0;
}

/** Bytes that a record takes in the ring. */
export function recordBytes(payloadBytes: number): number {
  return Math.ceil((RECORD_HEADER_BYTES + payloadBytes) / ALIGNMENT) * ALIGNMENT;
}

/** Where a record of so many bytes begins that follows one which ended at `end`. */
export function placeAfter(end: number, bytes: number, ringBytes: number): number {
  const left = ringBytes - (end % ringBytes);
  return bytes <= left ? end : end + left;
}

export function fileOffset(position: number, ringBytes: number): number {
  return FILE_HEADER_BYTES + (position % ringBytes);
}

/** Writes the header of a record whose payload is in its place already, and the checksum over both. */
export function sealRecord(
  record: Uint8Array<ArrayBuffer>,
  payloadBytes: number,
  { position, after, flushedTo }: { position: number; after: number; flushedTo: number },
): void {
  const view = new DataView(record.buffer, record.byteOffset, RECORD_HEADER_BYTES);
  view.setUint32(0, MAGIC, true);
  view.setFloat64(8, position, true);
  view.setFloat64(16, after, true);
  view.setFloat64(24, flushedTo, true);
  view.setUint32(32, payloadBytes, true);
  view.setUint32(36, 0, true);
  view.setUint32(4, crc32(record.subarray(8, RECORD_HEADER_BYTES + payloadBytes)), true);
}

interface JournalRecord {
  readonly position: number;
  readonly after: number;
  readonly flushedTo: number;
  /** Where the next one begins, unless it does not fit before the end of the ring. */
  readonly end: number;
  readonly payload: Uint8Array<ArrayBuffer>;
}

/** The whole record at this place of the bytes; undefined when there is none. */
function recordAt(bytes: Uint8Array<ArrayBuffer>, at: number): JournalRecord | undefined {
  if (at + RECORD_HEADER_BYTES > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, RECORD_HEADER_BYTES);
  if (view.getUint32(0, true) !== MAGIC) return undefined;
  const payloadBytes = view.getUint32(32, true);
  const payloadEnd = at + RECORD_HEADER_BYTES + payloadBytes;
  if (payloadEnd > bytes.length || view.getUint32(4, true) !== crc32(bytes.subarray(at + 8, payloadEnd)))
    return undefined;
  const position = view.getFloat64(8, true);
  return {
    position,
    after: view.getFloat64(16, true),
    flushedTo: view.getFloat64(24, true),
    end: position + recordBytes(payloadBytes),
    payload: bytes.subarray(at + RECORD_HEADER_BYTES, payloadEnd),
  };
}

/** Reads what a living front writes. */
export class JournalReader {
  readonly #fd: number;
  readonly #ringBytes: number;
  readonly #path: string;
  #position = 0;

  constructor(path: string, ringBytes: number) {
    this.#fd = openSync(path, 'r');
    this.#path = path;
    this.#ringBytes = ringBytes;
  }

  /** The end of the last record that was read. */
  get position(): number {
    return this.#position;
  }

  /**
   * The payloads of the records from where the last call ended to `end`, where one ends. Throws LedgerError `damaged` when
   * one of them is not what was written.
   */
  readTo(end: number): Uint8Array<ArrayBuffer>[] {
    const payloads: Uint8Array<ArrayBuffer>[] = [];
    while (this.#position < end) {
      const lap = Math.floor(this.#position / this.#ringBytes);
      const lapEnd = (lap + 1) * this.#ringBytes;
      const bytes = this.#read(this.#position, Math.min(end, lapEnd));
      let at = 0;
      for (;;) {
        const record = recordAt(bytes, at);
        if (record === undefined || record.after !== this.#position || record.position < this.#position)
          break;
        payloads.push(record.payload);
        at += record.end - record.position;
        this.#position = record.end;
      }
      if (this.#position >= end || this.#position === lapEnd) continue;
      // the rest of the lap was too short for the next record, which begins the next lap
      const next = end > lapEnd ? recordAt(this.#read(lapEnd, end), 0) : undefined;
      if (next?.after !== this.#position || next.position !== lapEnd) {
        throw new LedgerError(
          'damaged',
          `${this.#path}: the record at ${this.#position} is not as it was written`,
        );
      }
      payloads.push(next.payload);
      this.#position = next.end;
    }
    return payloads;
  }

  close(): void {
    closeSync(this.#fd);
  }

  #read(from: number, to: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(to - from);
    const offset = fileOffset(from, this.#ringBytes);
    for (let read = 0; read < bytes.length; ) {
      const now = readSync(this.#fd, bytes, read, bytes.length - read, offset + read);
      if (now === 0) throw new LedgerError('damaged', `${this.#path} is cut short`);
      read += now;
    }
    return bytes;
  }
}

/** What a dead process left in its journal. */
export interface Leftover {
  /** See newJournalOwner; undefined when the header is damaged. */
  readonly owner: number | undefined;
  /** The payloads of the whole records from `from` on, oldest first. */
  readonly payloads: readonly Uint8Array<ArrayBuffer>[];
  /** The end of the last of them. */
  readonly end: number;
  /** What acknowledged records were lost to damage, in words; undefined when none is known to be. */
  readonly damage: string | undefined;
  /** The last record is not whole: it was being written, and was not acknowledged. */
  readonly isTorn: boolean;
}

const CUT_SHORT = 'the file is cut short';

/**
 * Reads a journal whose process is gone. A record that is not whole was torn by a power cut, and never acknowledged,
 * unless a later record says that everything up to a point behind it had been flushed: then it was acknowledged and is
 * damaged. The last record before a power cut has no later one, so damage to it cannot be told from a torn write.
 * Whole records count wherever they stand. Throws LedgerError `unusable` for a journal of another version, and the error of
 * the file system.
 */
export function readLeftover(path: string, from: number): Leftover {
  const content = new Uint8Array(readFileSync(path));
  const nothing = { owner: undefined, payloads: [], end: from, isTorn: false };
  // cut to nothing, and taken as it lies; a fence may stand in it
  if (content.length <= FENCE_AT + 1) return { ...nothing, damage: undefined };
  if (content.length < FILE_HEADER_BYTES) return { ...nothing, damage: CUT_SHORT };
  const view = new DataView(content.buffer);
  const statedBytes = view.getFloat64(8, true);
  const owner = view.getFloat64(OWNER_AT, true);
  const isJournalFile = view.getUint32(0, true) === FILE_MAGIC;
  const version = view.getUint32(4, true);
  if (isJournalFile && version !== FILE_VERSION) {
    throw new LedgerError(
      'unusable',
      `${path} is a journal of version ${version}, and this program reads version ${FILE_VERSION} alone: start the release that wrote it, and stop that with SIGTERM`,
    );
  }
  const ring = content.subarray(FILE_HEADER_BYTES);
  const isWhole = isJournalFile && statedBytes === ring.length;
  // The records lie where one of the two lengths says: that of the header, if the file was cut short, or else its own.
  const lengths = isWhole ? [statedBytes] : [ring.length, statedBytes];
  const readings = lengths.map((ringBytes) => ({ ringBytes, records: recordsIn(ring, ringBytes) }));
  const { ringBytes, records: all } = readings.reduce((a, b) =>
    b.records.length > a.records.length ? b : a,
  );
  const records = all.filter(({ position }) => position >= from);
  records.sort((a, b) => a.position - b.position);
  const flushedTo = records.reduce((most, record) => Math.max(most, record.flushedTo), 0);
  let end = from;
  let lostBytes = 0;
  for (const record of records) {
    if (record.after > end && end < flushedTo) lostBytes += Math.min(record.after, flushedTo) - end;
    end = record.end;
  }
  const at = end % ringBytes;
  const hasBegun = at + 16 <= ring.length && view.getUint32(FILE_HEADER_BYTES + at, true) === MAGIC;
  return {
    owner: isWhole ? owner : undefined,
    payloads: records.map(({ payload }) => payload),
    end,
    damage:
      lostBytes > 0
        ? `${lostBytes} bytes of acknowledged records are damaged`
        : isWhole
          ? undefined
          : isJournalFile && statedBytes > ring.length
            ? CUT_SHORT
            : 'its header is damaged',
    isTorn: hasBegun && view.getFloat64(FILE_HEADER_BYTES + at + 8, true) === end,
  };
}

/** Whole records, in the order in which they lie. */
function recordsIn(ring: Uint8Array<ArrayBuffer>, ringBytes: number): JournalRecord[] {
  const records: JournalRecord[] = [];
  for (let at = 0; at + RECORD_HEADER_BYTES <= ring.length; ) {
    const record = recordAt(ring, at);
    if (record?.position !== undefined && record.position % ringBytes === at) records.push(record);
    at += record === undefined ? ALIGNMENT : record.end - record.position;
  }
  return records;
}

/**
 * Why a start keeps a file beside a journal's name, which no start reads: `damaged` lost acknowledged records, and `foreign` is
 * not of this ledger or of another state of it.
 */
export type JournalFault = 'damaged' | 'foreign';

/** The fault that a file's name states; undefined for every other name. */
export function journalFaultOf(name: string): JournalFault | undefined {
  return FAULT_NAME.exec(name)?.[1] as JournalFault | undefined;
}

export function setAside(path: string, fault: JournalFault): void {
  renameSync(path, `${path}.${fault}`);
}
