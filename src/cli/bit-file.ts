import { type FileHandle, open } from 'node:fs/promises';
import { CommandError } from './command.ts';

/** The form of the bits in the file: eight to a byte, most significant first, or the characters 0 and 1. */
export type BitForm = 'packed' | 'ascii';

/** Bits in the order of the file. Only the last sequence has fewer bits than were asked for; it may have none. */
interface Sequence {
  /** The packed bits, in a buffer that the next sequence overwrites. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly bitLength: number;
}

const WHITE_SPACE = new Set([0x09, 0x0a, 0x0d, 0x20]);

/**
 * Yields the bits of a file in sequences of `sequenceBits`, a multiple of 8. Memory does not grow with the file. Throws
 * a CommandError that says what is wrong.
 */
export async function* sequencesOf(
  path: string,
  form: BitForm,
  sequenceBits: number,
): AsyncGenerator<Sequence> {
  const handle = await openForReading(path);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new CommandError(`${path} is a directory`);
    if (stats.isFile() && stats.size === 0) throw new CommandError(`${path} is empty`);
    const bytes = new Uint8Array(sequenceBits / 8);
    let bitLength = 0;
    let isFirst = true;
    const sequence = (): Sequence => {
      if (isFirst && form === 'packed') assertNotText(path, bytes.subarray(0, bitLength / 8));
      isFirst = false;
      return { bytes, bitLength };
    };
    let chunkAt = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      for (let from = 0; from < chunk.length; ) {
        if (form === 'packed') {
          const taken = chunk.subarray(from, from + bytes.length - bitLength / 8);
          bytes.set(taken, bitLength / 8);
          bitLength += 8 * taken.length;
          from += taken.length;
        } else {
          for (; from < chunk.length && bitLength < sequenceBits; from++) {
            const character = chunk[from];
            if (character === 0x30 || character === 0x31) {
              bytes[bitLength >>> 3] |= (character & 1) << (7 - (bitLength & 7));
              bitLength++;
            } else if (!WHITE_SPACE.has(character)) {
              throw new CommandError(`${path}: byte ${chunkAt + from} is neither 0, 1 nor white space`);
            }
          }
        }
        if (bitLength < sequenceBits) continue;
        yield sequence();
        bytes.fill(0);
        bitLength = 0;
      }
      chunkAt += chunk.length;
    }
    yield sequence();
  } finally {
    await handle.close();
  }
}

const OPEN_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
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

/** Refuses packed bits that are all printable characters: of 16 random bytes, only one in 4 million is like that. */
function assertNotText(path: string, bytes: Uint8Array): void {
  if (bytes.length < 16 || !bytes.every(isPrintable)) return;
  const areDigits = bytes.every((byte) => byte === 0x30 || byte === 0x31 || WHITE_SPACE.has(byte));
  throw new CommandError(
    areDigits
      ? `${path} contains the characters 0 and 1 instead of packed bits, eight per byte; use --ascii to read it`
      : `${path} contains text instead of packed bits (eight per byte, the most significant first)`,
  );
}
