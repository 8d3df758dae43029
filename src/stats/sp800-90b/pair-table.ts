const EMPTY = -1;

/** A map from non-negative 31-bit integers to counts: open addressing, at most half full. */
export class PairTable {
  #keys = new Int32Array(1 << 12).fill(EMPTY);
  #values = new Int32Array(1 << 12);
  #size = 0;

  /** The value, or -1 when the key is absent. */
  get(key: number): number {
    const slot = this.#slotOf(key);
    return this.#keys[slot] === EMPTY ? -1 : this.#values[slot];
  }

  /** Adds a key that is absent, or replaces its value. */
  set(key: number, value: number): void {
    const slot = this.#occupy(key); // before the arrays are named: it may replace them
    this.#values[slot] = value;
  }

  /** Adds one to the value, an absent key counting as 0; gives the new value. */
  increment(key: number): number {
    const slot = this.#occupy(key);
    return ++this.#values[slot];
  }

  /** The slot that holds the key or would. */
  #slotOf(key: number): number {
    const mask = this.#keys.length - 1;
    // Multiplicative hashing by 2^32 / golden ratio (Knuth, TAOCP vol. 3, 6.4); the high bits are the mixed
    // ones.
    const hash = Math.imul(key, 0x9e3779b1);
    let slot = (hash ^ (hash >>> 15)) & mask;
    while (this.#keys[slot] !== key && this.#keys[slot] !== EMPTY) slot = (slot + 1) & mask;
    return slot;
  }

  #occupy(key: number): number {
    const slot = this.#slotOf(key);
    if (this.#keys[slot] === key) return slot;
    this.#keys[slot] = key;
    if (++this.#size * 2 <= this.#keys.length) return slot;
    this.#double();
    return this.#slotOf(key);
  }

  #double(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new Int32Array(keys.length * 2).fill(EMPTY);
    this.#values = new Int32Array(keys.length * 2);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === EMPTY) continue;
      const slot = this.#slotOf(keys[i]);
      this.#keys[slot] = keys[i];
      this.#values[slot] = values[i];
    }
  }
}
