import { randomFillSync } from 'node:crypto';

/** Fills the whole target with random bytes. */
export type ByteSource = (target: Uint8Array<ArrayBuffer>) => void;

/** The operating system's CSPRNG, the only source of measurement outcomes outside of tests. */
export const systemBytes: ByteSource = (target) => {
  randomFillSync(target);
};

/** One call of randomFillSync per 64 KiB keeps its fixed cost (about 1 µs) below 1 % of the time per byte. */
const CHUNK_BYTES = 65_536;

/**
 * A byte source read as 32-bit words (in the host's byte order: little-endian on every platform that Node
 * ships for).
 */
export class RandomWords {
  readonly #source: ByteSource;
  readonly #bytes = new Uint8Array(CHUNK_BYTES);
  readonly #words = new Int32Array(this.#bytes.buffer);
  #next = CHUNK_BYTES / 4;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** 32 random bits as a signed word. */
  word(): number {
    if (this.#next === this.#words.length) {
      this.#source(this.#bytes);
      this.#next = 0;
    }
    return this.#words[this.#next++];
  }

  /** A multiple of 2^-53, uniform in [0, 1). */
  uniform(): number {
    const high = this.word() >>> 5;
    const low = this.word() >>> 6;
    return (high * 0x400_0000 + low) * 2 ** -53;
  }

  /**
   * Uniform in 0..bound-1 without bias, for bounds up to 16: four bits at a time, refused above the bound.
   */
  below(bound: number): number {
    for (;;) {
      const value = this.word() >>> 28;
      if (value < bound) return value;
    }
  }

  /** Erases the words that have been used: they say what the source is about to deliver. */
  eraseUsed(): void {
    this.#words.fill(0, 0, this.#next);
  }
}
