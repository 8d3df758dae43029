import { createCipheriv, hash } from 'node:crypto';

const POOL_BYTES = 4096;

/** Fills an array with the next bytes of a stream. */
export type ByteSource = (target: Uint8Array<ArrayBuffer>) => void;

/**
 * The one source of chance for tests: random numbers that depend on a label (often a seed) alone: AES-256-CTR of zeros, key = SHA-256(label). Streams of different labels
 * know nothing of each other, so that one more draw here does not change what is drawn there.
 */
export class Chance {
  readonly #label: string;
  readonly #cipher;
  #pool: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(label: string | number) {
    this.#label = String(label);
    this.#cipher = createCipheriv('aes-256-ctr', hash('sha256', this.#label, 'buffer'), new Uint8Array(16));
  }

  /** A stream of its own, which draws nothing from this one. */
  fork(label: string): Chance {
    return new Chance(`${this.#label}/${label}`);
  }

  fill<T extends Uint8Array>(target: T): T {
    target.set(this.#cipher.update(new Uint8Array(target.length)));
    return target;
  }

  u32(): number {
    if (this.#at === this.#pool.length) {
      this.#pool = this.#cipher.update(new Uint8Array(POOL_BYTES));
      this.#at = 0;
    }
    const value = this.#pool.readUInt32LE(this.#at);
    this.#at += 4;
    return value;
  }

  /** Returns a number in [0, 1). */
  uniform(): number {
    return this.u32() / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.uniform() < probability;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.uniform() * bound);
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** Exponentially distributed with this mean. */
  gap(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)];
  }

  /** A name, drawn in proportion to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.uniform() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) if ((left -= weight) < 0) return name;
    return entries[entries.length - 1][0];
  }
}

/** Uniform on multiples of 2^-32 in [0, 1). */
export function uniforms(label: string | number): () => number {
  const chance = new Chance(label);
  return () => chance.uniform();
}

/** Returns a function whose calls give the next bytes of a stream, the same in every run. */
export function bytesOf(label: string): (size: number) => Buffer<ArrayBuffer> {
  const chance = new Chance(label);
  return (size) => chance.fill(Buffer.alloc(size));
}
