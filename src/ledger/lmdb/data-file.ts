import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statfsSync,
} from 'node:fs';
import { ApiError } from '../../core/errors.ts';
import { LedgerError } from '../ledger.ts';

/** The data file in the folder of a ledger. */
export const DATA_FILE = 'data.mdb';

/** The layout of LMDB's meta page (dependencies/lmdb/libraries/liblmdb/mdb.c of lmdb 3.5: MDB_page_header, MDB_meta). */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
const PAGE_SIZE_AT = 48;
const HEADER_BYTES = 52;

/**
 * Throws LedgerError `unusable` unless the file is missing, begins with LMDB's two meta pages, or is empty while `mayBeNew`.
 * LMDB crashes when it opens anything else (segmentation fault, lmdb 3.5.6).
 */
export function requireLmdbFile(file: string, mayBeNew: boolean): void {
  if (!existsSync(file)) return;
  const descriptor = openSync(file, 'r');
  try {
    if (fstatSync(descriptor).size === 0) {
      if (mayBeNew) return;
      throw new LedgerError('unusable', `${file} is empty: restore a backup`);
    }
    const first = readHeader(descriptor, 0);
    const second = first.magic === MAGIC ? readHeader(descriptor, first.pageSize) : first;
    if (first.magic === MAGIC && second.magic === MAGIC) return;
  } finally {
    closeSync(descriptor);
  }
  throw new LedgerError('unusable', `${file} is not a ledger, or its header is damaged: restore a backup`);
}

/** Creates an empty file that only its owner may read, unless the file exists. LMDB treats an empty file as a new one. */
export function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

function readHeader(descriptor: number, at: number): { magic: number; pageSize: number } {
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  readSync(descriptor, header, 0, HEADER_BYTES, at);
  return { magic: header.getUint32(MAGIC_AT, true), pageSize: header.getUint32(PAGE_SIZE_AT, true) };
}

export function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes the file as long as its content, and returns whether that was needed. Reading a page beyond the end of the file would
 * kill the process (SIGBUS). LMDB may leave final free pages unwritten, so a short file can be sound; a copy that was cut
 * short is not, and there the added zeros become damage that the checksums show. Takes the descriptor, because another file
 * may have the name by now (folder-watch.ts).
 */
export function lengthen(fd: number, usedBytes: number): boolean {
  if (fstatSync(fd).size >= usedBytes) return false;
  ftruncateSync(fd, usedBytes);
  return true;
}

/** Throws LedgerError `damaged` for a file that is shorter than its content. */
export function requireLength(file: string, fd: number, usedBytes: number): void {
  const { size } = fstatSync(fd);
  if (size >= usedBytes) return;
  throw new LedgerError(
    'damaged',
    `${file} is cut short: it has ${size} bytes of ${usedBytes}. Start the service: it finds out whether any record is missing`,
  );
}

/** With fewer free inodes the file system counts as full: the log's anchor and a backup need some. */
const FREE_FILES_MIN = 16;

/**
 * Returns the bytes that this process may still write to the file system of `path`; 0 when it has no room for more files.
 * Throws errors of the system call.
 */
export function freeBytesOf(path: string): number {
  const { bavail, bsize, files, ffree } = statfsSync(path);
  // some file systems do not count files
  return files > 0 && ffree < FREE_FILES_MIN ? 0 : bavail * bsize;
}

const RETRY_AFTER_S = 30;

/** With fewer free bytes on the file system, writes that add data are refused. */
export const FREE_BYTES_MIN = 256 * 2 ** 20;

export type FloorListener = (isFull: boolean, freeBytes: number, minBytes: number) => void;

/**
 * Stops writes that add data while there is still room for a clean end and for writes that free space: a delete takes fresh
 * pages too.
 */
export class FreeSpace {
  readonly #freeBytes: () => number;
  readonly #minBytes: number;
  #tell: FloorListener | undefined;
  #wasFull = false;

  constructor(freeBytes: () => number, minBytes: number) {
    this.#freeBytes = freeBytes;
    this.#minBytes = minBytes;
  }

  /** Tells the listener now if the disk is full, and from now on whenever a look finds a change. */
  follow(tell: FloorListener): void {
    this.#tell = tell;
    this.look();
  }

  /** Returns whether the disk counts as full. Takes one statfs, about 2 µs. */
  look(): boolean {
    const freeBytes = this.#freeBytes();
    const isFull = freeBytes < this.#minBytes;
    if (isFull !== this.#wasFull) {
      this.#wasFull = isFull;
      this.#tell?.(isFull, freeBytes, this.#minBytes);
    }
    return isFull;
  }

  /** Throws ApiError `storage_unavailable` when the disk counts as full. */
  require(): void {
    if (!this.look()) return;
    throw new ApiError('storage_unavailable', { retryAfterS: RETRY_AFTER_S });
  }
}
