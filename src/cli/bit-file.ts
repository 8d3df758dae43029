import { type FileHandle, open } from 'node:fs/promises';
import { CommandError } from './command.ts';

/** How the bits lie in the file: eight to a byte, most significant first, or as the characters 0 and 1. */
export type BitForm = 'packed' | 'ascii';

/** A file of bits, read sequence by sequence in memory that does not grow with it. */
export interface BitFile {
  /** In bytes; null when it is not known before the end, as for a pipe. */
  readonly sizeBytes: number | null;
  /** Bytes taken from the file so far. */
  readonly readBytes: () => number;
  /**
   * The next sequence, packed, in a buffer that the next call fills again; fewer bits only at the end of the
   * file.
   */
  readonly next: () => Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly bitLength: number }>;
  readonly close: () => Promise<void>;
}

const TEXT_CHUNK_BYTES = 64 * 1024;
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
    const reader =
      form === 'packed'
        ? new PackedReader(handle, path, sequenceBits)
        : new TextReader(handle, path, sequenceBits);
    return {
      sizeBytes,
      readBytes: () => reader.readBytes,
      next: () => reader.next(),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
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

class PackedReader {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readBytes = 0;

  constructor(handle: FileHandle, path: string, sequenceBits: number) {
    this.#handle = handle;
    this.#path = path;
    this.#bytes = new Uint8Array(sequenceBits / 8);
  }

  async next(): Promise<{ bytes: Uint8Array<ArrayBuffer>; bitLength: number }> {
    const isFirst = this.readBytes === 0;
    const size = await readFully(this.#handle, this.#bytes);
    this.readBytes += size;
    if (isFirst) assertNotText(this.#path, this.#bytes.subarray(0, size));
    return { bytes: this.#bytes, bitLength: 8 * size };
  }
}

/** Reads until the buffer is full or the file ends: a pipe gives less at a time. */
async function readFully(handle: FileHandle, bytes: Uint8Array): Promise<number> {
  let size = 0;
  while (size < bytes.length) {
    const { bytesRead } = await handle.read(bytes, size, bytes.length - size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return size;
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

class TextReader {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #text = new Uint8Array(TEXT_CHUNK_BYTES);
  /** What of the chunk is not taken yet. */
  #from = 0;
  #to = 0;
  /** Position in the file of the chunk's first byte. */
  #chunkAt = 0;

  constructor(handle: FileHandle, path: string, sequenceBits: number) {
    this.#handle = handle;
    this.#path = path;
    this.#bytes = new Uint8Array(sequenceBits / 8);
  }

  get readBytes(): number {
    return this.#chunkAt + this.#from;
  }

  async next(): Promise<{ bytes: Uint8Array<ArrayBuffer>; bitLength: number }> {
    this.#bytes.fill(0);
    let bitLength = 0;
    while (bitLength < 8 * this.#bytes.length && (await this.#hasText())) bitLength = this.#pack(bitLength);
    return { bytes: this.#bytes, bitLength };
  }

  /**
   * Packs what the chunk holds behind the first `bitLength` bits, until either ends. Gives the new length.
   */
  #pack(bitLength: number): number {
    const bits = this.#bytes;
    let at = bitLength;
    for (; at < 8 * bits.length && this.#from < this.#to; this.#from++) {
      const character = this.#text[this.#from];
      if (character === 0x30 || character === 0x31) {
        bits[at >>> 3] |= (character & 1) << (7 - (at & 7));
        at++;
      } else if (!WHITE_SPACE.has(character)) {
        throw new CommandError(`${this.#path}: byte ${this.readBytes} is neither 0, 1 nor white space`);
      }
    }
    return at;
  }

  async #hasText(): Promise<boolean> {
    if (this.#from < this.#to) return true;
    this.#chunkAt += this.#to;
    this.#from = 0;
    this.#to = await readFully(this.#handle, this.#text);
    return this.#to > 0;
  }
}
