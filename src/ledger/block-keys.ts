import { createCipheriv, createDecipheriv } from 'node:crypto';
import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { sha256 } from '@noble/hashes/sha2.js';
import { assert } from '../core/assert.ts';
import { concatBytes, secretBytes, secretCopy, utf8Bytes, wipe } from '../core/bytes.ts';
import { syncToDisk } from '../core/files.ts';
import { eraseFreed } from '../crypto/chacha20.ts';
import { fillSystemEntropy } from '../crypto/system-entropy.ts';
import { BLOCK_KINDS, type BlockKind } from './records.ts';

const MAGIC = 0x6b_6e_72_71; // "qrnk" read little-endian
const CHAIN_BYTES = 32;
const PLACE_BYTES = 8 + CHAIN_BYTES;
const FIRST_PLACE = 8;
/** Within one sector of 512 bytes, which disks write whole or not at all. */
const FILE_BYTES = FIRST_PLACE + BLOCK_KINDS.length * PLACE_BYTES;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Bytes that sealing adds to a block. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;

const BLOCK_KEY = Uint8Array.of(0);
const NEXT_LINK = Uint8Array.of(1);

/** A link of a chain and its ordinal. From a link, all later links can be computed and no earlier one. */
interface Place {
  ordinal: number;
  readonly link: Uint8Array<ArrayBuffer>;
}

type Places = Readonly<Record<BlockKind, Place>>;

/**
 * The keys that stored blocks are encrypted with. LMDB does not overwrite what a transaction removes: the bytes stay in the
 * file until LMDB needs their page again, which may be never. So a claim erases the key instead.
 *
 * Blocks of a kind are claimed oldest first, so one chain for each kind is enough: link(n + 1) = SHA-256(0x01 ‖ link(n)), and
 * the key of block n is SHA-256(0x00 ‖ link(n)). The file holds, for each kind, the link of the oldest block that may still
 * be claimed. It is overwritten in place, and after that nobody can decrypt the blocks before that one.
 *
 *   offset size
 *        0    4  magic
 *        4    4  CRC-32 of the rest
 *        8    8  ordinal of the pure chain's link, float64
 *       16   32  the link
 *       48    8  ordinal of the seed chain's link, float64
 *       56   32  the link
 *
 * A backup does not contain the file, so a copy cannot deliver blocks that its original also delivers.
 */
export class BlockKeys {
  readonly #fd: number;
  /** The links of the oldest blocks that can be opened; ahead of the file until `erase`. */
  readonly #oldest: Places;
  /** The links of the next blocks to seal. */
  readonly #newest: Places;
  #erased: boolean;

  private constructor(fd: number, oldest: Places, erased: boolean) {
    this.#fd = fd;
    this.#oldest = oldest;
    this.#newest = { pure: copyOf(oldest.pure), seed: copyOf(oldest.seed) };
    this.#erased = erased;
  }

  /**
   * Opens the file. When it is missing or not whole, starts new chains at `ordinal`, the first ordinal that no block has:
   * blocks that were sealed before cannot be opened any more. Throws errors of the file system.
   */
  static open(path: string, ordinal: number): BlockKeys {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const kept = readPlaces(fd);
      if (kept !== undefined) return new BlockKeys(fd, kept, true);
      const begin = () => ({ ordinal, link: fillSystemEntropy(secretBytes(CHAIN_BYTES)) });
      const keys = new BlockKeys(fd, { pure: begin(), seed: begin() }, false);
      keys.erase();
      syncToDisk(dirname(path));
      return keys;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** Returns the lowest ordinal whose block can be opened. */
  oldest(kind: BlockKind): number {
    return this.#oldest[kind].ordinal;
  }

  /** Returns nonce ‖ ciphertext ‖ tag. The blocks of a kind must be sealed in the order of their ordinals. */
  seal(kind: BlockKind, ordinal: number, lotId: string, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const place = this.#newest[kind];
    const oldest = this.#oldest[kind];
    if (place.ordinal < oldest.ordinal) {
      place.ordinal = oldest.ordinal;
      place.link.set(oldest.link);
    }
    // A key is for one block, yet the nonce is random: a transaction that failed may have used the ordinal before.
    const nonce = fillSystemEntropy(new Uint8Array(NONCE_BYTES));
    const key = takeKey(place, ordinal);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(nameOf(kind, ordinal, lotId));
    wipe(key);
    return concatBytes(nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag());
  }

  /**
   * Returns the bytes of a block. It can be opened only once, and from then on no older block of its kind can be. Returns
   * undefined when the key was erased or never was in this file.
   */
  open(
    kind: BlockKind,
    ordinal: number,
    lotId: string,
    sealed: Uint8Array,
  ): Uint8Array<ArrayBuffer> | undefined {
    const place = this.#oldest[kind];
    if (ordinal < place.ordinal || sealed.length < SEAL_BYTES) return undefined;
    this.#erased = false;
    const key = takeKey(place, ordinal);
    const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
      .setAAD(nameOf(kind, ordinal, lotId))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    wipe(key);
    const opened = cipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    eraseFreed(opened.length);
    const bytes = secretCopy(opened);
    wipe(opened);
    try {
      cipher.final();
    } catch {
      wipe(bytes); // another ledger's key, or damage that the checksum did not notice
      return undefined;
    }
    return bytes;
  }

  /** Makes every block of the kind before this ordinal impossible to open. */
  passOver(kind: BlockKind, ordinal: number): void {
    if (ordinal <= this.#oldest[kind].ordinal) return;
    advance(this.#oldest[kind], ordinal);
    this.#erased = false;
  }

  /** Erases from the disk the keys of all blocks that were opened or passed over. */
  erase(): void {
    if (this.#erased) return;
    const content = encodePlaces(this.#oldest);
    const written = writeSync(this.#fd, content, 0, content.length, 0);
    assert(written === content.length, 'the block keys were written whole');
    fdatasyncSync(this.#fd);
    wipe(content);
    this.#erased = true;
  }

  close(): void {
    for (const { link } of [...Object.values(this.#oldest), ...Object.values(this.#newest)]) wipe(link);
    closeSync(this.#fd);
  }
}

function copyOf({ ordinal, link }: Place): Place {
  return { ordinal, link: secretCopy(link) };
}

/** Returns the key of a block, and moves the chain to the next one. */
function takeKey(place: Place, ordinal: number): Uint8Array {
  advance(place, ordinal);
  const key = secretBytes(CHAIN_BYTES);
  hashInto(key, BLOCK_KEY, place.link);
  advance(place, ordinal + 1);
  return key;
}

function advance(place: Place, ordinal: number): void {
  assert(ordinal >= place.ordinal, 'a chain of keys has no way back');
  for (; place.ordinal < ordinal; place.ordinal++) {
    hashInto(place.link, NEXT_LINK, place.link);
  }
}

/** Uses @noble/hashes because it erases its copies, as HKDF in crypto/digest.ts does. */
function hashInto(out: Uint8Array, label: Uint8Array, link: Uint8Array): void {
  const input = concatBytes(label, link);
  const digest = sha256(input);
  out.set(digest);
  wipe(input, digest);
}

/** Returns the additional data that binds a sealed block to its place: it opens nowhere else. */
function nameOf(kind: BlockKind, ordinal: number, lotId: string): Uint8Array {
  return utf8Bytes(`${kind} ${ordinal} ${lotId}`);
}

function encodePlaces(places: Places): Uint8Array<ArrayBuffer> {
  const content = new Uint8Array(FILE_BYTES);
  const view = new DataView(content.buffer);
  view.setUint32(0, MAGIC, true);
  BLOCK_KINDS.forEach((kind, i) => {
    view.setFloat64(FIRST_PLACE + i * PLACE_BYTES, places[kind].ordinal, true);
    content.set(places[kind].link, FIRST_PLACE + i * PLACE_BYTES + 8);
  });
  view.setUint32(4, crc32(content.subarray(FIRST_PLACE)), true);
  return content;
}

function readPlaces(fd: number): Places | undefined {
  const content = new Uint8Array(FILE_BYTES);
  if (fstatSync(fd).size !== FILE_BYTES || readSync(fd, content, 0, FILE_BYTES, 0) !== FILE_BYTES)
    return undefined;
  const view = new DataView(content.buffer);
  const isWhole =
    view.getUint32(0, true) === MAGIC && view.getUint32(4, true) === crc32(content.subarray(FIRST_PLACE));
  if (!isWhole) return undefined;
  const placeOf = (i: number): Place => {
    const at = FIRST_PLACE + i * PLACE_BYTES;
    return {
      ordinal: view.getFloat64(at, true),
      link: secretCopy(content.subarray(at + 8, at + PLACE_BYTES)),
    };
  };
  const places: Places = { pure: placeOf(0), seed: placeOf(1) };
  wipe(content);
  return places;
}
