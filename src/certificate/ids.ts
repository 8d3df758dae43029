import { type Cipher, createCipheriv, createDecipheriv, type Decipher } from 'node:crypto';
import { assert } from '../core/assert.ts';
import { base32Of, bytesOfBase32, CERTIFICATE_ID } from '../core/ids.ts';
import { deriveKey } from '../crypto/digest.ts';

/**
 * A certificate's id is the encrypted place of its record, so the ledger needs no index of ids. Nobody can guess an id,
 * so whoever knows one may open the public page.
 *
 *   offset size
 *        0    4  zero; an invented id decrypts to zero here only once in 2^32
 *        4    2  incarnation of the ledger
 *        6    6  segment
 *       12    4  index in the segment          big-endian, encrypted as one block of AES-256 (FIPS 197)
 *
 * One block under a key of its own is a permutation of all 128-bit values: equal places give equal ids, and different
 * places different ids. An id is printed as `cert_` and 26 characters of base32 (core/ids.ts).
 */
const BLOCK_BYTES = 16;
const NODE_AT = 4;
const SEGMENT_AT = 6;
const INDEX_AT = 12;
const NODE_MAX = 0xffff;
const SEGMENT_MAX = 2 ** 48 - 1;
const INDEX_MAX = 2 ** 32 - 1;
const PREFIX = 'cert_';

export interface CertificatePlace {
  readonly segment: number;
  readonly index: number;
}

/** `count` consecutive records of a segment, beginning at index `from`. */
export interface IdRange {
  readonly segment: number;
  readonly from: number;
  readonly count: number;
}

export class CertificateIds {
  readonly #incarnations: readonly { readonly number: number; readonly firstSegment: number }[];
  readonly #cipher: Cipher;
  readonly #decipher: Decipher;
  /** Buffer for places before their encryption; bytes 0 to 3 of each block stay zero. */
  #places = new Uint8Array(BLOCK_BYTES);
  /** Identifies the key without revealing it: the id of one fixed place, which is equal for equal keys alone. */
  readonly fingerprint: string;

  /**
   * `nodeKey` has 32 bytes and must never change, because all ids issued so far are decrypted with it. `incarnations`
   * are all those of the ledger, oldest first. The ids of a segment's records hold the number of the segment's
   * incarnation.
   */
  constructor(
    nodeKey: Uint8Array,
    incarnations: readonly { readonly number: number; readonly firstSegment: number }[] = [
      { number: 0, firstSegment: 0 },
    ],
  ) {
    if (nodeKey.length !== 32) throw new RangeError('certificate ids: the key of the node has 32 bytes');
    for (const { number } of incarnations)
      assert(isCount(number, NODE_MAX), 'an incarnation is numbered in 16 bits');
    this.#incarnations = incarnations.toReversed();
    const key = deriveKey('certificateId', [nodeKey]);
    // ECB without padding handles each block alone: one cipher object serves all calls, and `update` is the whole call.
    this.#cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
    this.#decipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false);
    this.fingerprint = this.textOf(0, 0);
  }

  textOf(segment: number, index: number): string {
    return PREFIX + base32Of(this.blocks([{ segment, from: index, count: 1 }]));
  }

  /** Returns the ids of records in binary, 16 bytes each, concatenated. One cipher call makes them all. */
  blocks(ranges: readonly IdRange[]): Uint8Array<ArrayBuffer> {
    let size = 0;
    for (const { count } of ranges) size += count * BLOCK_BYTES;
    if (this.#places.length < size) this.#places = new Uint8Array(size);
    const places = this.#places.subarray(0, size);
    const view = new DataView(places.buffer);
    let at = 0;
    for (const { segment, from, count } of ranges) {
      assert(isCount(segment, SEGMENT_MAX), 'a segment is numbered in 48 bits');
      assert(isCount(from, INDEX_MAX) && isCount(count, INDEX_MAX + 1 - from), 'an index has 32 bits');
      const node = this.#nodeOf(segment);
      const high = Math.floor(segment / 2 ** 32);
      for (let index = from; index < from + count; index++, at += BLOCK_BYTES) {
        view.setUint16(at + NODE_AT, node);
        view.setUint16(at + SEGMENT_AT, high);
        view.setUint32(at + SEGMENT_AT + 2, segment >>> 0);
        view.setUint32(at + INDEX_AT, index);
      }
    }
    return this.#cipher.update(places);
  }

  /**
   * Returns the place that an id names; there may be no record in it. `malformed`: the text is no certificate id (400
   * `invalid_id`). `unknown`: the text has the right form, but this ledger issued no such id (404 `cert_not_found`).
   */
  placeOf(text: string): CertificatePlace | 'malformed' | 'unknown' {
    if (!CERTIFICATE_ID.test(text)) return 'malformed';
    // 26 characters hold 130 bits: a text whose first one is above 7 has the right form and is no id (core/ids.ts).
    const block = bytesOfBase32(text.slice(PREFIX.length));
    if (block === undefined) return 'unknown';
    const place = this.#decipher.update(block);
    const view = new DataView(place.buffer, place.byteOffset, BLOCK_BYTES);
    if (view.getUint32(0) !== 0) return 'unknown';
    const segment = view.getUint16(SEGMENT_AT) * 2 ** 32 + view.getUint32(SEGMENT_AT + 2);
    if (view.getUint16(NODE_AT) !== this.#nodeOf(segment)) return 'unknown';
    return { segment, index: view.getUint32(INDEX_AT) };
  }

  #nodeOf(segment: number): number {
    return this.#incarnations.find(({ firstSegment }) => firstSegment <= segment)?.number ?? 0;
  }
}

/** Certificate ids that one cipher call of NextIds makes. */
const IDS_PER_CALL = 256;
const SEGMENT_IDS_MIN = 16;

/**
 * Gives the ids of records in their order, and makes them ahead, because a cipher call costs more than the rest of an id. The ids
 * of a call serve the next segments; each gets about as many as the segment before it had records, and at least SEGMENT_IDS_MIN.
 */
export class NextIds {
  readonly #ids: CertificateIds;
  readonly #bytes = new Uint8Array(IDS_PER_CALL * BLOCK_BYTES);
  readonly #views = Array.from({ length: IDS_PER_CALL }, (_, i) =>
    this.#bytes.subarray(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES),
  );
  /** Which ids those are: of each of `segments` segments from `segment` on, the ids of `count` records from index `from` on. */
  #range = { segment: 0, segments: 0, from: 0, count: 0 };
  /** The place of the record before. */
  #segment = 0;
  #index = 0;
  /** Count of the records of the segment before. */
  #usualCount = 0;

  constructor(ids: CertificateIds) {
    this.#ids = ids;
  }

  /** Returns the id of a record, 16 bytes, valid until the next call. */
  of(segment: number, index: number): Uint8Array {
    if (segment !== this.#segment) this.#usualCount = this.#index + 1;
    this.#segment = segment;
    this.#index = index;
    const { segments, count, from } = this.#range;
    const place = index - from;
    const ahead = segment - this.#range.segment;
    if (ahead >= 0 && ahead < segments && place >= 0 && place < count)
      return this.#views[ahead * count + place];
    this.#make(segment, index);
    return this.#views[0];
  }

  #make(segment: number, from: number): void {
    const count = Math.min(Math.max(this.#usualCount, SEGMENT_IDS_MIN), IDS_PER_CALL);
    const segments = from === 0 ? Math.floor(IDS_PER_CALL / count) : 1;
    const ranges = Array.from({ length: segments }, (_, i) => ({ segment: segment + i, from, count }));
    this.#bytes.set(this.#ids.blocks(ranges));
    this.#range = { segment, segments, from, count }; // last: if the cipher call throws, the old ids must not pass for these
  }
}

function isCount(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}
