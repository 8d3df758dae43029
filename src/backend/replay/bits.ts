import { createHash, hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { BackendError } from '../backend.ts';

/** Which bits are asked of which file. */
export interface Portion {
  /** For messages. */
  readonly path: string;
  /** The first byte to look at. */
  readonly from: number;
  /** A multiple of 8. */
  readonly bits: number;
}

export interface Taken {
  readonly bits: Uint8Array<ArrayBuffer>;
  /** SHA-256 (hex) of the file's bytes from `from` to `end`, verbatim. */
  readonly sha256: string;
  /** The byte behind the last one taken. */
  readonly end: number;
}

const CHUNK_BYTES = 64 * 1024;
const WHITE_SPACE = new Set([0x09, 0x0a, 0x0d, 0x20]);
/** So many random bytes are all printable once in 2^88 times: (98/256)^64. */
const TEXT_BYTES_MIN = 64;

/** Eight bits to a byte, most significant first. */
export async function takePacked(file: FileHandle, { path, from, bits }: Portion): Promise<Taken> {
  const packed = new Uint8Array(bits / 8);
  const size = await readFully(file, packed, from);
  if (size < packed.length) throw usedUp(path, 8 * size, bits);
  assertNotText(path, packed);
  return { bits: packed, sha256: hash('sha256', packed, 'hex'), end: from + size };
}

/** The characters 0 and 1, with white space anywhere. */
export async function takeText(
  file: FileHandle,
  { path, from, bits }: Portion,
  signal: AbortSignal,
): Promise<Taken> {
  const packed = new Uint8Array(bits / 8);
  const digest = createHash('sha256');
  const text = new Uint8Array(CHUNK_BYTES);
  let taken = 0;
  let end = from;
  while (taken < bits) {
    signal.throwIfAborted();
    const size = await readFully(file, text, end);
    if (size === 0) throw usedUp(path, taken, bits);
    let at = 0;
    for (; at < size && taken < bits; at++) {
      const character = text[at];
      if (character === 0x30 || character === 0x31) {
        packed[taken >>> 3] |= (character & 1) << (7 - (taken & 7));
        taken++;
      } else if (!WHITE_SPACE.has(character)) {
        throw new BackendError('permanent', `${path}: byte ${end + at} is neither 0, 1 nor white space`);
      }
    }
    digest.update(text.subarray(0, at));
    end += at;
  }
  return { bits: packed, sha256: digest.digest('hex'), end };
}

/** Reads until the target is full or the file ends. Gives how many bytes it read. */
export async function readFully(file: FileHandle, target: Uint8Array, from: number): Promise<number> {
  let size = 0;
  while (size < target.length) {
    const { bytesRead } = await file.read(target, size, target.length - size, from + size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return size;
}

function assertNotText(path: string, bytes: Uint8Array): void {
  const isPrintable = (byte: number) => (byte >= 0x20 && byte < 0x7f) || WHITE_SPACE.has(byte);
  if (bytes.length < TEXT_BYTES_MIN || !bytes.every(isPrintable)) return;
  throw new BackendError('permanent', `${path} is text, not packed bits; the format ascii reads 0 and 1`);
}

function usedUp(path: string, leftBits: number, bits: number): BackendError {
  return new BackendError('permanent', `${path}: the file is used up: ${leftBits} of ${bits} bits are left`);
}
