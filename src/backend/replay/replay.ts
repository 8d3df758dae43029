import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import {
  BackendError,
  type Provenance,
  type RawRead,
  type SourceFacts,
  type StreamBackend,
} from '../backend.ts';
import { SeenReads } from '../seen-reads.ts';
import { wholeShots } from '../shots.ts';
import type { SourceParts } from '../source-kind.ts';
import { type Taken, takePacked, takeText } from './bits.ts';
import { type FilePosition, ReplayPositions } from './positions.ts';
import type { ReplayOptions } from './source.ts';

/**
 * A file whose bits are used once: where it was read to is on disk before a bit is given, so that a crash burns bits and
 * repeats none.
 */
export class Replay implements StreamBackend {
  readonly kind = 'stream';
  readonly name: string;
  readonly origin = 'replay';
  readonly quantumBackend = 'replay';
  /** Its bits were recorded, not computed: nobody has them who has not the file. That they were recorded, the origin says. */
  readonly deterministic = false;
  readonly claimedMinEntropyPerBit: number;
  readonly lotRawBits: number;
  readonly #values: ReplayOptions;
  readonly #clock: Clock;
  readonly #positions: ReplayPositions;
  readonly #seen: SeenReads;
  /** Settles when the last read has: nobody else reads between a position's being looked up and moved. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(name: string, values: ReplayOptions, { clock, memory }: SourceParts) {
    this.name = name;
    this.claimedMinEntropyPerBit = values.min_entropy;
    this.lotRawBits = values.lot_bits;
    this.#values = values;
    this.#clock = clock;
    this.#positions = new ReplayPositions(name, memory);
    this.#seen = new SeenReads(memory, values.min_entropy);
  }

  read(bits: number, signal: AbortSignal): Promise<RawRead> {
    const turn = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#withFile((file) => this.#readFrom(file, bits, signal));
    });
    this.#last = turn.catch(() => {}); // whoever asked for it hears of it
    return turn;
  }

  async describe(): Promise<SourceFacts> {
    return this.#withFile(async (file) => {
      const { size } = await file.stat();
      const { headSha256, offset } = await this.#positions.find(file);
      const { path, format, width, recorded_from } = this.#values;
      return { path, format, width, recorded_from, size, head_sha256: headSha256, used_bytes: offset };
    });
  }

  async #readFrom(file: FileHandle, bits: number, signal: AbortSignal): Promise<RawRead> {
    const { width } = this.#values;
    const startedAtMs = this.#clock.wallMs();
    const unit = wholeByteBits(width);
    const count = wholeShots(bits, unit) * unit;
    const position = await this.#positions.find(file);
    const taken = await this.#take(file, position.offset, count, signal);
    signal.throwIfAborted();
    await this.#positions.move(position, taken.end);
    await this.#seen.admit(taken.sha256, count);
    signal.throwIfAborted();
    const shots = count / width;
    const provenance = this.#provenance(position, shots, startedAtMs);
    return { bits: taken.bits, width, shots, rawSha256: taken.sha256, provenance };
  }

  #take(file: FileHandle, from: number, bits: number, signal: AbortSignal): Promise<Taken> {
    const { format, path } = this.#values;
    const portion = { path, from, bits };
    return format === 'packed' ? takePacked(file, portion) : takeText(file, portion, signal);
  }

  async #withFile<T>(use: (file: FileHandle) => Promise<T>): Promise<T> {
    const { path } = this.#values;
    const file = await openFile(path);
    try {
      if (!(await file.stat()).isFile()) {
        throw new BackendError(
          'permanent',
          `${path} is no regular file: a source of type device reads devices`,
        );
      }
      return await use(file);
    } finally {
      await file.close();
    }
  }

  #provenance({ headSha256, offset }: FilePosition, shots: number, startedAtMs: number): Provenance {
    const { path, format, recorded_from } = this.#values;
    return {
      provider: 'replay',
      device: basename(path),
      jobId: null,
      circuit: 'none',
      circuitVersion: 'none',
      circuitSha256: null,
      qubitsUsed: 0,
      circuitDepth: 0,
      shots,
      startedAtMs,
      finishedAtMs: this.#clock.wallMs(),
      calibration: {
        ...(recorded_from === null ? {} : { declared_by: 'operator', recorded_from }),
        format,
        head_sha256: headSha256,
        from_byte: offset,
      },
    };
  }
}

/** The least bits that are whole shots and whole bytes, lcm(8, width): the next read begins at a byte. */
function wholeByteBits(width: number): number {
  let bits = width;
  while (bits % 8 !== 0) bits += width;
  return bits;
}

const OPEN_ERRORS: Readonly<Record<string, readonly ['permanent' | 'auth', string]>> = {
  ENOENT: ['permanent', 'does not exist'],
  ENOTDIR: ['permanent', 'does not exist'],
  ENXIO: ['permanent', 'is no regular file: a source of type device reads devices'],
  EACCES: ['auth', 'may not be read: permission denied'],
  EPERM: ['auth', 'may not be read: permission denied'],
};

async function openFile(path: string): Promise<FileHandle> {
  try {
    // O_NONBLOCK: were it a FIFO, the open would wait for its writer.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const known = error instanceof Error && 'code' in error ? OPEN_ERRORS[String(error.code)] : undefined;
    throw known === undefined ? error : new BackendError(known[0], `${path} ${known[1]}`);
  }
}
