import {
  closeSync,
  constants,
  fdatasync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

const MAGIC = 0x6a_6e_72_71; // "qrnj" read little-endian
const HEADER_BYTES = 32;

const CHUNK_BYTES = 2 ** 20;
const flushData = promisify(fdatasync);

/**
 * Records that are acknowledged before the ledger's own commit has stored them. What is appended survives the
 * end of the process; what is flushed survives a power cut. Two halves of one file take turns: while the
 * ledger commits one generation, the next gathers in the other half, and a half is written again only after
 * the ledger has stored its generation. The file keeps its length, so that a flush writes the records and
 * nothing else.
 *
 *   offset size
 *        0    4  magic
 *        4    4  CRC-32 of the rest of the header and of the payload
 *        8    8  generation, float64
 *       16    4  index of the record within its generation
 *       20    4  payload bytes
 *       24    8  zero
 *       32    …  payload
 */
export class Journal {
  readonly #fd: number;
  readonly #halfBytes: number;
  /** False when the disk had no room for the whole file: then nothing is appended. */
  readonly #hasRoom: boolean;
  readonly #path: string;
  #generation = 1;
  #index = 0;
  #at = 0;

  private constructor(path: string, fd: number, halfBytes: number, hasRoom: boolean) {
    this.#path = path;
    this.#fd = fd;
    this.#halfBytes = halfBytes;
    this.#hasRoom = hasRoom;
  }

  /**
   * Makes the file at its full length; the folder is the caller's to flush. Throws the error of the file
   * system.
   */
  static create(path: string, halfBytes: number): Journal {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600);
    try {
      return new Journal(path, fd, halfBytes, fillWithZeros(fd, 2 * halfBytes));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** Appends to the generation that gathers; false when its half has no room. */
  append(payload: Uint8Array): boolean {
    const size = HEADER_BYTES + payload.length;
    if (!this.#hasRoom || this.#at + size > this.#halfBytes) return false;
    const record = new Uint8Array(size);
    const view = new DataView(record.buffer);
    view.setUint32(0, MAGIC, true);
    view.setFloat64(8, this.#generation, true);
    view.setUint32(16, this.#index, true);
    view.setUint32(20, payload.length, true);
    record.set(payload, HEADER_BYTES);
    view.setUint32(4, crc32(record.subarray(8)), true);
    this.#write(record, this.#base() + this.#at);
    this.#at += size;
    this.#index++;
    return true;
  }

  /** Everything appended before the call is on disk when this resolves. The event loop goes on meanwhile. */
  flush(): Promise<void> {
    return flushData(this.#fd);
  }

  /** Begins the next generation; the one that gathered until now is returned, for `settle`. */
  turn(): number {
    this.#at = 0;
    this.#index = 0;
    return this.#generation++;
  }

  /** The ledger has stored the generation: its records need no repeat, and its half may be written again. */
  settle(generation: number): void {
    this.#write(new Uint8Array(HEADER_BYTES), (generation % 2) * this.#halfBytes);
  }

  /** Takes the file's name away: nothing in it needs a repeat. */
  remove(): void {
    rmSync(this.#path, { force: true });
  }

  close(): void {
    closeSync(this.#fd);
  }

  #base(): number {
    return (this.#generation % 2) * this.#halfBytes;
  }

  #write(bytes: Uint8Array, position: number): void {
    let written = 0;
    while (written < bytes.length) {
      written += writeSync(this.#fd, bytes, written, bytes.length - written, position + written);
    }
  }
}

/** False when the disk has no room for it. */
function fillWithZeros(fd: number, bytes: number): boolean {
  const zeros = new Uint8Array(Math.min(CHUNK_BYTES, bytes));
  try {
    for (let at = 0; at < bytes; ) at += writeSync(fd, zeros, 0, Math.min(zeros.length, bytes - at), at);
    fsyncSync(fd);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
      return false;
    throw error;
  }
}

/**
 * The records that a dead process left in its journal, oldest first. A record that is not whole was torn by
 * the end of the process or by a power cut, and was never acknowledged: it ends the reading of its half.
 * Throws the error of the file system.
 */
export function readJournal(path: string, halfBytes: number): Uint8Array[] {
  const content = new Uint8Array(readFileSync(path));
  return [content.subarray(0, halfBytes), content.subarray(halfBytes, 2 * halfBytes)]
    .map(readHalf)
    .filter(({ records }) => records.length > 0)
    .sort((a, b) => a.generation - b.generation)
    .flatMap(({ records }) => records);
}

/** The unbroken run of records from the start of a half, all of one generation. */
function readHalf(half: Uint8Array): { generation: number; records: Uint8Array[] } {
  const view = new DataView(half.buffer, half.byteOffset, half.byteLength);
  const records: Uint8Array[] = [];
  let generation = 0;
  for (let at = 0; at + HEADER_BYTES <= half.length; ) {
    const size = HEADER_BYTES + view.getUint32(at + 20, true);
    if (view.getUint32(at, true) !== MAGIC || at + size > half.length) break;
    if (view.getUint32(at + 4, true) !== crc32(half.subarray(at + 8, at + size))) break;
    if (view.getUint32(at + 16, true) !== records.length) break;
    if (records.length === 0) generation = view.getFloat64(at + 8, true);
    else if (view.getFloat64(at + 8, true) !== generation) break;
    records.push(half.slice(at + HEADER_BYTES, at + size));
    at += size;
  }
  return { generation, records };
}
