import { hash } from 'node:crypto';
import type { RawRead } from '../../backend/backend.ts';
import { bitsFrom } from '../../core/bytes.ts';

/**
 * Places of a read that are remembered, on average; evenly spread, chosen by the bits that lie there and not
 * by where.
 */
const PLACES = 512;
/** Where structure has the same choice made again and again; random bits come nowhere near. */
const PLACES_MAX = 4 * PLACES;
/** Reads that are remembered of each source, as many as HealthMonitor has digests of. */
const REMEMBERED_READS = 64;
/**
 * Assessed bits that are compared at a place. Of a source that meets its claim two places agree with 2^-128;
 * the 2^9 of a read are compared with 2^15 others: a false alarm is one read in 2^104.
 */
const COMPARED_ASSESSED_BITS = 128;
/** The least lot that an operator can configure; in less there would be too few places. */
const SEARCHED_BITS_MIN = 8192;
/**
 * 2^32 divided by the golden ratio, odd: a bijection of words whose upper bits depend on all bits (Knuth
 * 6.4).
 */
const MIXER = 0x9e3779b1;

const SLICE_BITS = 128 * 1024;

/**
 * Finds raw bits that came before, in an earlier read or in the same one, at whatever shift: a buffer that is
 * read before it is full again, a page of results that overlaps the last one, a recording that starts over, one provider behind two sources. A
 * copy of the whole read is known by its digest; this knows it by its places (min-wise sampling, Broder
 * 1997). A place is where a hash of the last 32 bits is small, so that a copy has the places of its original;
 * what is remembered is the hash of the bits before it. Of a copy of the share f of a read about 512 f places
 * are known: it is missed with a chance of e^(-512 f), 2^-46 for a sixteenth. Reads of a source should be of
 * one size; of two sizes the larger one's fewer places per bit count.
 */
export class CopyTest {
  readonly #comparedBits: number;
  readonly #rememberedReads: number;
  /** Fingerprint of a place to the number of the read that had it last. */
  readonly #readOf = new Map<string, number>();
  /** Fingerprints of the remembered reads, oldest first. */
  readonly #recent: string[][] = [];
  #reads = 0;

  /** For one source, or for several of a pool: the least that any of them claims for a bit, and how many they are. */
  constructor(minEntropyPerBit: number, sources = 1) {
    this.#rememberedReads = REMEMBERED_READS * sources;
    this.#comparedBits = 8 * Math.ceil(COMPARED_ASSESSED_BITS / minEntropyPerBit / 8);
  }

  /**
   * Remembers the read. Gives how many reads ago bits of it came before, the latest time: 0 for bits that it
   * holds twice; undefined for new ones. Yields where others may have a turn.
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

/**
 * The places among the bits from `from`, a multiple of 8, to `to`: each is the position behind its last bit.
 */
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
