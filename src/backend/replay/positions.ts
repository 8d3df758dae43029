import { hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { BackendError } from '../backend.ts';
import type { SourceMemory } from '../source.ts';
import { readFully } from './replay.ts';

/** Where the unused part of a file begins. */
export interface FilePosition {
  /** SHA-256 (hex) of the file's first HEAD_BYTES bytes: what it is known by. */
  readonly headSha256: string;
  readonly offset: number;
}

/**
 * A file is known by its beginning alone, not by its name, size or time: a recording that grew, was cut, copied or
 * half-copied goes on where it stood. Two recordings do not begin with the same 8,192 bits by chance; a shorter file would
 * not make the least lot.
 */
const HEAD_BYTES = 1024;

/** The source that reads a file, by its head: in a second one of this process the bits would come a second time. */
const readers = new Map<string, string>();

/** How far files were read, for as long as the source's memory lasts. */
export class ReplayPositions {
  readonly #source: string;
  readonly #memory: SourceMemory;

  constructor(source: string, memory: SourceMemory) {
    this.#source = source;
    this.#memory = memory;
  }

  /** Rejects with a BackendError when the file is too short, or another source's. */
  async find(file: FileHandle): Promise<FilePosition> {
    const head = new Uint8Array(HEAD_BYTES);
    const size = await readFully(file, head, 0);
    if (size < HEAD_BYTES) {
      throw new BackendError(
        'permanent',
        `a file of ${size} bytes is too short to be known by its first ${HEAD_BYTES}`,
      );
    }
    const headSha256 = hash('sha256', head, 'hex');
    const reader = readers.get(headSha256) ?? this.#source;
    if (reader !== this.#source) {
      throw new BackendError('permanent', `the source ${reader} reads this file already`);
    }
    readers.set(headSha256, reader);
    const kept = await this.#memory.recall(noteOf(headSha256));
    return { headSha256, offset: kept === undefined ? 0 : Number(kept) };
  }

  /** Resolves when it is on disk that everything before `offset` is used. */
  async move({ headSha256 }: FilePosition, offset: number): Promise<void> {
    await this.#memory.keep(noteOf(headSha256), String(offset));
  }
}

function noteOf(headSha256: string): string {
  return `offset ${headSha256}`;
}
