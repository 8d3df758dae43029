import { closeSync, existsSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { LedgerError } from '../ledger-error.ts';

/** LMDB's meta page (dependencies/lmdb/libraries/liblmdb/mdb.c of lmdb 3.5: MDB_page_header, MDB_meta). */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
const PAGE_SIZE_AT = 48;
const HEADER_BYTES = 52;

/**
 * Throws LedgerError `unusable` unless the file is missing, empty, or begins with LMDB's two meta pages. LMDB itself
 * does not survive opening anything else (segmentation fault, lmdb 3.5.6).
 */
export function requireLmdbFile(file: string): void {
  if (!existsSync(file)) return;
  const descriptor = openSync(file, 'r');
  try {
    if (fstatSync(descriptor).size === 0) return;
    const first = readHeader(descriptor, 0);
    const second = first.magic === MAGIC ? readHeader(descriptor, first.pageSize) : first;
    if (first.magic === MAGIC && second.magic === MAGIC) return;
  } finally {
    closeSync(descriptor);
  }
  throw new LedgerError('unusable', `${file} is no ledger, or its header is damaged: restore a backup`);
}

/** Makes an empty file that its owner alone may read, unless there is one. LMDB takes an empty file for a new one. */
export function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

function readHeader(descriptor: number, at: number): { magic: number; pageSize: number } {
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  readSync(descriptor, header, 0, HEADER_BYTES, at);
  return { magic: header.getUint32(MAGIC_AT, true), pageSize: header.getUint32(PAGE_SIZE_AT, true) };
}

/**
 * Makes the file as long as its content and tells whether that was needed. Reading a page beyond the end would kill
 * the process (SIGBUS). LMDB may leave final free pages unwritten, so a short file can be sound; a copy that was cut
 * short is not. Zeros in place of what is missing turn the second case into damage that the checksums show.
 * With `readOnly` a short file is LedgerError `damaged`.
 */
export function lengthen(file: string, usedBytes: number, readOnly: boolean): boolean {
  const { size } = statSync(file);
  if (size >= usedBytes) return false;
  if (readOnly)
    throw new LedgerError('damaged', `${file} is cut short: it has ${size} bytes of ${usedBytes}`);
  truncateSync(file, usedBytes);
  return true;
}
