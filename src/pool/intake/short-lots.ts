import type { RawRead } from '../../backend/backend.ts';
import { wipe } from '../../core/bytes.ts';
import { ASSESSED_BITS, type Assessor } from './assessor.ts';

/**
 * Collects the raw bits of a source's lots below 10^6 bits until together they are enough for a valid estimate (SP
 * 800-90B §3.1.1). Estimates of fewer bits are biased and unstable, and a source with short lots alone would never get
 * a sound one. The bits are erased when they have been assessed, and when the channel layout changes.
 */
export class ShortLots {
  #width = 0;
  #shots = 0;
  #bits = new Uint8Array(0);
  #estimate: number | null = null;

  /**
   * Adds the bits of a lot that passed its own tests. Resolves to the estimate over the last complete window of 10^6
   * bits or more; null before the first is complete.
   */
  async add({ bits, width, shots }: RawRead, assessor: Assessor): Promise<number | null> {
    if (width !== this.#width) {
      this.erase();
      this.#estimate = null;
      this.#width = width;
    }
    this.#append(bits, shots);
    if (this.#shots * width < ASSESSED_BITS) return this.#estimate;
    this.#estimate = (await assessor.assessLot(this.#bits, width, this.#shots)).minEntropyPerBit;
    this.erase();
    return this.#estimate;
  }

  erase(): void {
    wipe(this.#bits);
    this.#bits = new Uint8Array(0);
    this.#shots = 0;
  }

  /** Appends the bits of a lot, which need not begin or end with a whole byte. */
  #append(bits: Uint8Array, shots: number): void {
    const used = this.#shots * this.#width;
    const grown = new Uint8Array(Math.ceil((used + shots * this.#width) / 8));
    grown.set(this.#bits);
    const shift = used & 7;
    for (let i = 0, at = used >>> 3; i < bits.length; i++, at++) {
      grown[at] |= bits[i] >>> shift;
      if (shift !== 0 && at + 1 < grown.length) grown[at + 1] = bits[i] << (8 - shift);
    }
    wipe(this.#bits);
    this.#bits = grown;
    this.#shots += shots;
  }
}
