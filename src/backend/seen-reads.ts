import { BackendError } from './backend.ts';
import type { SourceMemory } from './source.ts';

/** Reads that are remembered, as many as the health tests do; 64 digests are 4 KiB on disk. */
const REMEMBERED_READS = 64;
/** Two reads of so many assessed bits agree by chance once in 2^128 / 64; shorter ones are not compared. */
const COMPARED_BITS_MIN = 128;
const KEY = 'seen_reads';

/**
 * Knows the last reads of a source, across restarts: a feeder that is a pseudo-random generator with a fixed seed
 * repeats itself each time it is started.
 */
export class SeenReads {
  readonly #memory: SourceMemory;
  readonly #minEntropyPerBit: number;

  constructor(memory: SourceMemory, minEntropyPerBit: number) {
    this.#memory = memory;
    this.#minEntropyPerBit = minEntropyPerBit;
  }

  /** Remembers a read, durably. Rejects with a permanent BackendError when it is one of those that are remembered. */
  async admit(rawSha256: string, bits: number): Promise<void> {
    if (bits * this.#minEntropyPerBit < COMPARED_BITS_MIN) return;
    const seen = (await this.#memory.recall(KEY))?.split(' ') ?? [];
    if (seen.includes(rawSha256)) {
      throw new BackendError('permanent', `the same ${bits} bits came before: the source repeats itself`);
    }
    await this.#memory.keep(KEY, [rawSha256, ...seen].slice(0, REMEMBERED_READS).join(' '));
  }
}
