/** Pseudo-random numbers of a fuzzer: the same from the same seed. Mulberry32: 32 bits of state, quick, and good enough to choose mutations. */
export class FuzzRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }
}
