import { type FileHandle, open } from 'node:fs/promises';
import { CommandError } from './command.ts';

/** How the bits lie in the file: eight to a byte, most significant first, or as the characters 0 and 1. */
export type BitForm = 'packed' | 'ascii';

const CHUNK_BYTES = 64 * 1024;
const WHITE_SPACE = new Set([0x09, 0x0a, 0x0d, 0x20]);

/**
 * Opens a file for sequences of `sequenceBits` bits, a multiple of 8. Throws a CommandError that says what is
 * wrong.
 */
export async function openBitFile(path: string, form: BitForm, sequenceBits: number): Promise<BitFile> {
  const handle = await openForReading(path);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new CommandError(`${path} is a directory`);
    const sizeBytes = stats.isFile() ? stats.size : null;
    if (sizeBytes === 0) throw new CommandError(`${path} is empty`);
    return new BitFile(handle, path, form, sizeBytes, sequenceBits);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A file of bits, read sequence by sequence in memory that does not grow with it. */
export class BitFile {
  /** In bytes; null when it is not known before the end, as for a pipe. */
  readonly sizeBytes: number | null;
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #form: BitForm;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #chunk = new Uint8Array(CHUNK_BYTES);
  /** What of the chunk is not taken yet. */
  #from = 0;
  #to = 0;
  /** Position in the file of the chunk's first byte. */
  #chunkAt = 0;

  constructor(
    handle: FileHandle,
    path: string,
    form: BitForm,
    sizeBytes: number | null,
    sequenceBits: number,
  ) {
    this.#handle = handle;
    this.#path = path;
    this.#form = form;
    this.sizeBytes = sizeBytes;
    this.#bytes = new Uint8Array(sequenceBits / 8);
  }

  /** Bytes taken from the file so far. */
  get readBytes(): number {
    return this.#chunkAt + this.#from;
  }

  /**
   * The next sequence, packed, in a buffer that the next call fills again; fewer bits only at the end of the
   * file.
   */
  async next(): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly bitLength: number }> {
    const isFirst = this.readBytes === 0;
    const bits = 8 * this.#bytes.length;
    this.#bytes.fill(0);
    let bitLength = 0;
    while (bitLength < bits && (await this.#hasChunk()))
      bitLength = this.#form === 'packed' ? this.#copy(bitLength) : this.#pack(bitLength);
    if (isFirst && this.#form === 'packed') assertNotText(this.#path, this.#bytes.subarray(0, bitLength / 8));
    return { bytes: this.#bytes, bitLength };
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Takes bytes as they are, behind the first `bitLength` bits. Gives the new length, as #pack does. */
  #copy(bitLength: number): number {
    const at = bitLength / 8;
    const taken = this.#chunk.subarray(this.#from, Math.min(this.#to, this.#from + this.#bytes.length - at));
    this.#bytes.set(taken, at);
    this.#from += taken.length;
    return bitLength + 8 * taken.length;
  }

  /** Packs characters, until the chunk or the sequence ends. */
  #pack(bitLength: number): number {
    const bits = this.#bytes;
    let at = bitLength;
    for (; at < 8 * bits.length && this.#from < this.#to; this.#from++) {
      const character = this.#chunk[this.#from];
      if (character === 0x30 || character === 0x31) {
        bits[at >>> 3] |= (character & 1) << (7 - (at & 7));
        at++;
      } else if (!WHITE_SPACE.has(character)) {
        throw new CommandError(`${this.#path}: byte ${this.readBytes} is neither 0, 1 nor white space`);
      }
    }
    return at;
  }

  async #hasChunk(): Promise<boolean> {
    if (this.#from < this.#to) return true;
    this.#chunkAt += this.#to;
    this.#from = 0;
    this.#to = (await this.#handle.read(this.#chunk)).bytesRead;
    return this.#to > 0;
  }
}

const OPEN_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read: permission denied',
  EPERM: 'may not be read: permission denied',
};

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!(code in OPEN_FAILURES)) throw error;
    throw new CommandError(`${path} ${OPEN_FAILURES[code]}`);
  }
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || WHITE_SPACE.has(byte);
}

/**
 * Packed bits that are all printable characters are none: 16 random bytes look so once in 4 million times.
 */
function assertNotText(path: string, bytes: Uint8Array): void {
  if (bytes.length < 16 || !bytes.every(isPrintable)) return;
  const areDigits = bytes.every((byte) => byte === 0x30 || byte === 0x31 || WHITE_SPACE.has(byte));
  throw new CommandError(
    areDigits
      ? `${path} holds the characters 0 and 1 where packed bits are expected, eight to a byte; --ascii reads it`
      : `${path} is text, not packed bits (eight to a byte, most significant first)`,
  );
}
