import { createHash, hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { inOrder } from '../../core/in-order.ts';
import { BackendError, plainRead, type RawRead, type StreamBackend, wholeShots } from '../backend.ts';
import {
  anyText,
  declaredText,
  defineBackend,
  lotBitsOption,
  minEntropyOption,
  type OptionValues,
  oneOf,
  orNull,
  type SourceMemory,
  type SourceParts,
  wholeNumber,
} from '../definition.ts';

const options = {
  path: { meaning: 'path of the file with the recorded bits', parse: anyText },
  format: {
    meaning:
      'format of the file; packed: eight bits per byte, the most significant bit first; ascii: the characters 0 and 1',
    fallback: 'packed',
    parse: oneOf('packed', 'ascii'),
  },
  width: {
    meaning: 'number of channels per shot, for a file with shots of several qubits',
    fallback: '1',
    parse: wholeNumber(1, 1024),
  },
  min_entropy: minEntropyOption,
  recorded_from: {
    meaning: 'description of the device that the bits were recorded from, as certificates show it',
    fallback: '',
    parse: orNull(declaredText),
  },
  lot_bits: lotBitsOption,
} as const;

type ReplayOptions = OptionValues<typeof options>;

/** A file of recorded bits. Its origin is `replay`, whatever device gave the bits. */
export const replayBackend = defineBackend({
  type: 'replay',
  summary: 'a file of recorded bits; each bit is used once',
  options,
  create: replay,
});

/**
 * Returns a source whose bits are used only once. The new position in the file is on disk before the bits are given, so
 * a crash loses bits and repeats none.
 */
function replay(name: string, values: ReplayOptions, { clock, memory }: SourceParts): StreamBackend {
  const { path, format, width, recorded_from, min_entropy } = values;
  const readFrom = async (file: FileHandle, bits: number, signal: AbortSignal): Promise<RawRead> => {
    const startedAtMs = clock.wallMs();
    const unit = wholeByteBits(width);
    const count = wholeShots(bits, unit) * unit;
    const position = await positionIn(file, memory);
    const portion = { path, from: position.offset, bits: count };
    const taken = await (format === 'packed' ? takePacked(file, portion) : takeText(file, portion, signal));
    signal.throwIfAborted();
    await memory.keep(noteOf(position.headSha256), String(taken.end));
    signal.throwIfAborted();
    const told = {
      bits: taken.bits,
      rawSha256: taken.sha256,
      provider: 'replay',
      device: basename(path),
      startedAtMs,
      finishedAtMs: clock.wallMs(),
      calibration: {
        ...(recorded_from === null ? {} : { declared_by: 'operator', recorded_from }),
        format,
        head_sha256: position.headSha256,
        from_byte: position.offset,
      },
    };
    return plainRead(told, width);
  };
  return {
    kind: 'stream',
    name,
    origin: 'replay',
    quantumBackend: 'replay',
    // The bits were recorded, not computed: only somebody who has the file knows them. The origin says that they were
    // recorded.
    deterministic: false,
    claimedMinEntropyPerBit: min_entropy,
    lotRawBits: values.lot_bits,
    read: (bits, signal) =>
      inTurn(async () => {
        signal.throwIfAborted();
        return withFile(path, (file) => readFrom(file, bits, signal));
      }),
    describe: () =>
      withFile(path, async (file) => {
        const { size } = await file.stat();
        const { headSha256, offset } = await positionIn(file, memory);
        return { path, format, width, recorded_from, size, head_sha256: headSha256, used_bytes: offset };
      }),
  };
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await openFile(path);
  try {
    if (!(await file.stat()).isFile()) {
      throw new BackendError(
        'permanent',
        `${path} is not a regular file: a source of type device reads devices`,
      );
    }
    return await use(file);
  } finally {
    await file.close();
  }
}

/** Returns the fewest bits that are whole shots and whole bytes, lcm(8, width), so that each read begins at a byte. */
function wholeByteBits(width: number): number {
  let bits = width;
  while (bits % 8 !== 0) bits += width;
  return bits;
}

const OPEN_ERRORS: Readonly<Record<string, readonly ['permanent' | 'auth', string]>> = {
  ENOENT: ['permanent', 'does not exist'],
  ENOTDIR: ['permanent', 'does not exist'],
  ENXIO: ['permanent', 'is not a regular file: a source of type device reads devices'],
  EACCES: ['auth', 'may not be read: permission denied'],
  EPERM: ['auth', 'may not be read: permission denied'],
};

async function openFile(path: string): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const known = error instanceof Error && 'code' in error ? OPEN_ERRORS[String(error.code)] : undefined;
    throw known === undefined ? error : new BackendError(known[0], `${path} ${known[1]}`);
  }
}

/** The part of a file to read. */
interface Portion {
  /** For messages. */
  readonly path: string;
  /** The first byte to read. */
  readonly from: number;
  /** How many bits to take, a multiple of 8. */
  readonly bits: number;
}

interface Taken {
  readonly bits: Uint8Array<ArrayBuffer>;
  /** SHA-256 (hex) of the file's bytes from `from` to `end`, verbatim. */
  readonly sha256: string;
  /** The byte after the last one taken. */
  readonly end: number;
}

const CHUNK_BYTES = 64 * 1024;
const WHITE_SPACE = new Set([0x09, 0x0a, 0x0d, 0x20]);
/** From this length on, bytes that are all printable are text: by chance that happens once in 2^88, (98/256)^64. */
const TEXT_BYTES_MIN = 64;

/** Takes bits that are packed eight to a byte, most significant first. */
async function takePacked(file: FileHandle, { path, from, bits }: Portion): Promise<Taken> {
  const packed = new Uint8Array(bits / 8);
  const size = await readFully(file, packed, from);
  if (size < packed.length) throw usedUp(path, 8 * size, bits);
  assertNotText(path, packed);
  return { bits: packed, sha256: hash('sha256', packed, 'hex'), end: from + size };
}

/** Takes the characters 0 and 1. White space may stand anywhere. */
async function takeText(
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

/** Reads until the target is full or the file ends. Resolves to how many bytes it read. */
async function readFully(file: FileHandle, target: Uint8Array, from: number): Promise<number> {
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
  throw new BackendError(
    'permanent',
    `${path} contains text, not packed bits; for the characters 0 and 1 set format to ascii`,
  );
}

function usedUp(path: string, leftBits: number, bits: number): BackendError {
  return new BackendError('permanent', `${path}: the file is used up: ${leftBits} of ${bits} bits are left`);
}

/** Where the unused part of a file begins. */
interface FilePosition {
  /** SHA-256 (hex) of the file's first HEAD_BYTES bytes, which identifies the file. */
  readonly headSha256: string;
  readonly offset: number;
}

/**
 * A file is identified by its first bytes, not by its name, size or time. So reading goes on at the same place after a
 * recording has grown, was cut, or was copied. Two recordings do not begin with the same 8,192 bits by chance. A
 * shorter file would not give the smallest lot.
 */
const HEAD_BYTES = 1024;

/** Runs the reads of all replay sources one after the other, so that no two reads take the same position. */
const inTurn = inOrder();

/** Resolves to where the file goes on, whichever source has read it. Rejects if the file is too short. */
async function positionIn(file: FileHandle, memory: SourceMemory): Promise<FilePosition> {
  const head = new Uint8Array(HEAD_BYTES);
  const size = await readFully(file, head, 0);
  if (size < HEAD_BYTES) {
    throw new BackendError('permanent', `the file has ${size} bytes; it must have at least ${HEAD_BYTES}`);
  }
  const headSha256 = hash('sha256', head, 'hex');
  const kept = await memory.recallAll(noteOf(headSha256));
  return { headSha256, offset: Math.max(0, ...kept.map(Number)) };
}

function noteOf(headSha256: string): string {
  return `offset ${headSha256}`;
}
