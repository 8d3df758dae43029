import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { assert } from '../core/assert.ts';

const MAGIC = 0x6a_6e_72_71; // "qrnj" read little-endian
const HEADER_BYTES = 32;

/**
 * Records that are committed (in the page cache: a killed process loses none) before the ledger's own commit has
 * brought them to disk. Two halves of one file take turns: while the ledger commits one generation, the next gathers
 * in the other half, and a half is written again only after its generation is on disk.
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
  #generation: number;
  #index = 0;
  #at = 0;

  private constructor(fd: number, halfBytes: number, generation: number) {
    this.#fd = fd;
    this.#halfBytes = halfBytes;
    this.#generation = generation;
  }

  /**
   * Opens or creates the file and gives what a dead process left in it, oldest first. Throws what the file system
   * says. Records that never were whole (torn by the end of the process or of the power) were never acknowledged.
   */
  static open(path: string, halfBytes: number): { journal: Journal; leftover: Uint8Array[] } {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const content = new Uint8Array(fstatSync(fd).size);
    const read = readSync(fd, content, 0, content.length, 0);
    assert(read === content.length, 'the journal was read whole');
    const halves = [0, 1]
      .map((half) => readHalf(content.subarray(half * halfBytes, (half + 1) * halfBytes)))
      .filter(({ records }) => records.length > 0)
      .sort((a, b) => a.generation - b.generation);
    const generation = (halves.at(-1)?.generation ?? 0) + 1;
    return {
      journal: new Journal(fd, halfBytes, generation),
      leftover: halves.flatMap(({ records }) => records),
    };
  }

  /** Appends to the generation that gathers; false when its half has no room. */
  append(payload: Uint8Array): boolean {
    const size = HEADER_BYTES + payload.length;
    if (this.#at + size > this.#halfBytes) return false;
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

  /** Begins the next generation; the one that gathered until now is returned, for `settle`. */
  turn(): number {
    this.#at = 0;
    this.#index = 0;
    return this.#generation++;
  }

  /** The generation is on disk: its records need no repeat. */
  settle(generation: number): void {
    this.#write(new Uint8Array(HEADER_BYTES), (generation % 2) * this.#halfBytes);
  }

  /** Everything in the file is on disk. */
  settleAll(): void {
    this.settle(0);
    this.settle(1);
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
