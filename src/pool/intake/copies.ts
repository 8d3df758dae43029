import { hash } from 'node:crypto';
import type { RawRead } from '../../backend/backend.ts';
import { bitsFrom } from '../../core/bytes.ts';

/** How many places of a read are remembered on average. The bits at a place select it, not its position. */
const PLACES = 512;
/** Most places of a read. Random bits stay far below; structured bits may select places again and again. */
const PLACES_MAX = 4 * PLACES;
/** How many reads of each source are remembered, as many as HealthMonitor has digests of. */
const REMEMBERED_READS = 64;
/**
 * Assessed bits that are compared at a place. Two places of a sound source agree with probability 2^-128. The 2^9
 * places of a read are compared with 2^15 others, so a false alarm comes once in 2^104 reads.
 */
const COMPARED_ASSESSED_BITS = 128;
/** Shorter reads have too few places. It is the smallest lot that an operator can configure. */
const SEARCHED_BITS_MIN = 8192;
/**
 * 2^32 divided by the golden ratio, odd. Multiplying by it mixes all bits of a word into its upper bits (Knuth 6.4).
 */
const MIXER = 0x9e3779b1;

const SLICE_BITS = 128 * 1024;

/**
 * Finds raw bits that came before, in an earlier read or in the same one, at any shift: a buffer that is read before it
 * is full again, a page of results that overlaps the last one, a recording that starts over, two sources with one
 * provider. HealthMonitor finds copies of whole reads by a digest; this test finds copies of parts by their places
 * (min-wise sampling, Broder 1997). A place is a position where a hash of the last 32 bits is small, so a copy has the
 * places of its original. The test remembers a hash of the bits before each place. A copy of the share f of a read has
 * about 512 f known places, so the test misses it with probability e^(-512 f), which is 2^-46 for a sixteenth. Reads of
 * a source should have one size: a larger read has fewer places per bit.
 */
export class CopyTest {
  readonly #comparedBits: number;
  readonly #rememberedReads: number;
  /** For the fingerprint of each remembered place, the number of the last read that had it. */
  readonly #readOf = new Map<string, number>();
  /** Fingerprints of the remembered reads, oldest first. */
  readonly #recent: string[][] = [];
  #reads = 0;

  /** `minEntropyPerBit` is the least that any of the `sources` claims for a bit. */
  constructor(minEntropyPerBit: number, sources = 1) {
    this.#rememberedReads = REMEMBERED_READS * sources;
    this.#comparedBits = 8 * Math.ceil(COMPARED_ASSESSED_BITS / minEntropyPerBit / 8);
  }

  /**
   * Remembers the read. Returns how many reads ago some of its bits came last; 0 for bits that it holds twice;
   * undefined if all are new. Yields between slices, so that the caller can give the event loop a turn.
   */
  *search({ bits, width, shots }: RawRead): Generator<undefined, number | undefined> {
    const bitLength = width * shots;
    if (bitLength < SEARCHED_BITS_MIN) return undefined;
    const number = ++this.#reads;
    const comparedBits = this.#comparedBits;
    const fingerprints: string[] = [];
    let latest: number | undefined;
    for (let from = 0; from < bitLength && fingerprints.length < PLACES_MAX; from += SLICE_BITS) {
      if (from > 0) yield;
      for (const end of placesIn(bits, from, Math.min(from + SLICE_BITS, bitLength), bitLength)) {
        if (end < comparedBits) continue;
        const compared = bitsFrom(bits, end - comparedBits, comparedBits);
        const fingerprint = hash('sha256', compared, 'base64url');
        const earlier = this.#readOf.get(fingerprint);
        if (earlier !== undefined) latest = Math.max(latest ?? 0, earlier);
        this.#readOf.set(fingerprint, number);
        fingerprints.push(fingerprint);
      }
    }
    this.#remember(fingerprints, number);
    return latest === undefined ? undefined : number - latest;
  }

  #remember(fingerprints: string[], number: number): void {
    this.#recent.push(fingerprints);
    if (this.#recent.length <= this.#rememberedReads) return;
    const forgotten = number - this.#rememberedReads;
    for (const each of this.#recent.shift() ?? []) {
      if (this.#readOf.get(each) === forgotten) this.#readOf.delete(each);
    }
  }
}

/** Returns the places in the bits [from, to): for each the position after its last bit. `from` is a multiple of 8. */
function placesIn(bits: Uint8Array, from: number, to: number, bitLength: number): number[] {
  const small = Math.floor((PLACES / bitLength) * 2 ** 32);
  const places: number[] = [];
  let word = 0;
  for (let byte = Math.max(0, from / 8 - 4); byte < from / 8; byte++) word = (word << 8) | bits[byte];
  for (let at = from; at < to; at++) {
    word = (word << 1) | ((bits[at >>> 3] >>> (7 - (at & 7))) & 1);
    if (Math.imul(word, MIXER) >>> 0 < small) places.push(at + 1);
  }
  return places;
}
