import assert from 'node:assert/strict';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The place of a match, and the name of the needle. */
export interface Hit {
  readonly name: string;
  readonly place: string;
  readonly at: number;
}

interface Needle {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A word of a needle, and where it stands in it. */
interface Word {
  readonly needle: Needle;
  readonly offset: number;
}

const STRIDE = 8;
/** Least size of a needle: a search at every eighth position sees eight whole bytes of it. */
const NEEDLE_BYTES_MIN = 2 * STRIDE - 1;
const FILTER_BITS = 24;
const CHUNK_BYTES = 2 ** 24;
const PAGE_BYTES = 4_096;
const ZERO_PAGE = Buffer.alloc(PAGE_BYTES);

/**
 * Looks for thousands of byte strings at once. Only every eighth place is looked at: what stands there is compared with
 * the eight bytes at each of the first eight places of every needle, by a filter of hashes and then a map.
 */
export class Needles {
  readonly #filter = new Uint8Array(2 ** FILTER_BITS / 8);
  readonly #words = new Map<number, Word[]>();
  readonly #known = new Set<string>();
  #longest = 0;

  /** The bytes as they are. One that is known keeps its first name. */
  add(name: string, content: Uint8Array): void {
    assert(content.length >= NEEDLE_BYTES_MIN, `${name} is too short to look for`);
    const needle = { name, bytes: Buffer.from(content) };
    const identity = needle.bytes.toString('latin1');
    if (this.#known.has(identity)) return;
    this.#known.add(identity);
    this.#longest = Math.max(this.#longest, content.length);
    const view = viewOf(needle.bytes);
    for (let offset = 0; offset < STRIDE; offset++) {
      const hash = wordHash(view, offset);
      this.#filter[hash >>> (32 - FILTER_BITS + 3)] |= 1 << ((hash >>> (32 - FILTER_BITS)) & 7);
      this.#words.set(hash, [...(this.#words.get(hash) ?? []), { needle, offset }]);
    }
  }

  /** Adds bytes as they are, and in the forms of texts: hex in either case, base64 and base64url. */
  addBytes(name: string, bytes: Uint8Array): void {
    const buffer = Buffer.from(bytes);
    this.add(name, buffer);
    this.add(`${name}, hex`, Buffer.from(buffer.toString('hex')));
    this.add(`${name}, hex`, Buffer.from(buffer.toString('hex').toUpperCase()));
    // without the last group, which is another when more bytes follow
    const whole = buffer.subarray(0, buffer.length - (buffer.length % 3));
    this.add(`${name}, base64`, Buffer.from(whole.toString('base64')));
    this.add(`${name}, base64`, Buffer.from(whole.toString('base64url')));
  }

  /** Adds a text with one byte a character, and with two, as engines store strings. */
  addText(name: string, text: string): void {
    this.add(name, Buffer.from(text, 'utf8'));
    this.add(name, Buffer.from(text, 'utf16le'));
  }

  /** 16 of every 64 bytes, so that a part that is left is found too. */
  addPieces(name: string, bytes: Uint8Array): void {
    for (let at = 0; at + 16 <= bytes.length; at += 64) this.addBytes(name, bytes.subarray(at, at + 16));
  }

  /** Searches one piece of memory; `from` is the position of its first byte. */
  in(place: string, content: Uint8Array, from = 0): Hit[] {
    const hits: Hit[] = [];
    const filter = this.#filter;
    const view = viewOf(content);
    const buffer = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    for (let at = 0; at + STRIDE <= buffer.length; at += STRIDE) {
      // files of a fixed length, and memory that was never used, are mostly such pages
      while (at % PAGE_BYTES === 0 && isZeroPage(buffer, at)) at += PAGE_BYTES;
      if (at + STRIDE > buffer.length) break;
      const hash = wordHash(view, at);
      if ((filter[hash >>> (32 - FILTER_BITS + 3)] & (1 << ((hash >>> (32 - FILTER_BITS)) & 7))) === 0)
        continue;
      for (const { needle, offset } of this.#words.get(hash) ?? []) {
        const start = at - offset;
        if (start >= 0 && needle.bytes.equals(buffer.subarray(start, start + needle.bytes.length))) {
          hits.push({ name: needle.name, place, at: from + start });
        }
      }
    }
    return hits;
  }

  /**
   * Searches `size` bytes from `from` on. `read` fills the buffer as far as it can and returns the count; 0 ends the
   * search.
   */
  inStream(place: string, from: number, size: number, read: (into: Buffer, at: number) => number): Hit[] {
    const hits: Hit[] = [];
    const overlap = PAGE_BYTES * Math.ceil(this.#longest / PAGE_BYTES);
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size) + overlap);
    let kept = 0;
    for (let at = from; at < from + size; ) {
      const got = read(buffer.subarray(kept, Math.min(buffer.length, kept + from + size - at)), at);
      if (got === 0) break;
      hits.push(...this.in(place, buffer.subarray(0, kept + got), at - kept));
      at += got;
      const next = Math.min(overlap, kept + got);
      buffer.copyWithin(0, kept + got - next, kept + got);
      kept = next;
    }
    return distinct(hits);
  }

  inFile(path: string): Hit[] {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      return this.inStream(path, 0, size, (into, at) => readSync(file, into, 0, into.length, at));
    } finally {
      closeSync(file);
    }
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A hash of eight bytes; its highest bits are the best mixed. */
function wordHash(view: DataView, at: number): number {
  const low = Math.imul(view.getUint32(at, true), 0x9e3779b1);
  const high = view.getUint32(at + 4, true);
  return Math.imul(low ^ (low >>> 15) ^ high, 0x85ebca6b) >>> 0;
}

function isZeroPage(buffer: Buffer, at: number): boolean {
  return at + PAGE_BYTES <= buffer.length && ZERO_PAGE.compare(buffer, at, at + PAGE_BYTES) === 0;
}

/** Removes matches that were found twice in the overlap of two chunks. */
function distinct(hits: readonly Hit[]): Hit[] {
  return [...new Map(hits.map((hit) => [`${hit.name} ${hit.at}`, hit])).values()];
}
