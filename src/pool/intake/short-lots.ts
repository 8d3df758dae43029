import type { RawRead } from '../../backend/backend.ts';
import { wipe } from '../../core/bytes.ts';
import { ASSESSED_BITS, type Assessor } from './assessor.ts';

/**
 * The raw bits of one source's lots below 10^6 bits, until together they are enough for an estimate that
 * counts (SP 800-90B §3.1.1). Estimates of less are biased and unstable; a source whose lots are all short
 * would never get a sound one. The bits are erased when they have been assessed, and when another channel
 * layout begins.
 */
export class ShortLots {
  #width = 0;
  #shots = 0;
  #bits = new Uint8Array(0);
  #estimate: number | null = null;

  /**
   * Adds the bits of a lot that passed its own tests. Gives the estimate over the last 10^6 bits or more,
   * which counts from the lot that completes them on until the next such window is full; null before the
   * first.
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

  /** Shots of lots need not end where bytes do. */
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
