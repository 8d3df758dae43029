import { assert } from '../../core/assert.ts';
import { secretBytes, wipe } from '../../core/bytes.ts';
import { seedKey } from '../../crypto/digest.ts';
import { Expander, expandPiece, PIECE_OUTPUT_BYTES } from '../../crypto/expander.ts';
import { expandSystemEntropy, fillSystemEntropy } from '../../crypto/system-entropy.ts';
import { EntropyReader } from '../../values/entropy-reader.ts';

/** The ring's size: pieces of PIECE_OUTPUT_BYTES that a stream keeps expanded ahead of its reader. */
const RING_PIECES = 8;
/** A refill is asked for when this many or fewer are left. */
const REFILL_AT_PIECES = RING_PIECES / 2;

/** What a worker needs to expand pieces: a one-time key, and nothing else that is secret. */
export interface RefillOrder {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly pieces: number;
}

/** The pieces of an order, whose key it erases. Runs in a worker; each piece lies in memory of its own. */
export function expandPieces({ key, pieces }: RefillOrder): Uint8Array<ArrayBuffer>[] {
  const stream = new Expander(key);
  wipe(key);
  const expanded = Array.from({ length: pieces }, () => nextPiece(stream));
  stream.erase();
  return expanded;
}

/** A piece from a key that is derived for it alone, mixed with system entropy. */
export function nextPiece(stream: Expander, size = PIECE_OUTPUT_BYTES): Uint8Array<ArrayBuffer> {
  const key = stream.deriveKey();
  const piece = expandPiece(key, size);
  wipe(key);
  return piece;
}

/**
 * The seeded mode's bytes for one seed group in one front thread. The group's root DRBG key lives here only;
 * each refill and each worker task gets a one-time key derived from it, so no task can see another's bytes,
 * before or after. Bytes of an older seed are erased unread.
 */
export class SeededKeystream {
  readonly reader: EntropyReader;
  readonly #order: (order: RefillOrder) => Promise<Uint8Array<ArrayBuffer>[]>;
  /** Pieces that workers have expanded and the reader has not taken, oldest first. It is used in one thread, so it is a plain list. */
  readonly #ring: Uint8Array<ArrayBuffer>[] = [];
  #root: Expander | undefined;
  #refilling = false;
  #closed = false;

  /** `order` has a worker expand pieces; a rejection means that it did not happen. */
  constructor(order: (order: RefillOrder) => Promise<Uint8Array<ArrayBuffer>[]>) {
    this.#order = order;
    this.reader = new EntropyReader(() => this.#nextPiece());
  }

  get seeded(): boolean {
    return this.#root !== undefined;
  }

  /**
   * Takes a new quantum seed: key = HKDF(seed ‖ 32 bytes of system entropy ‖ previous key). Bytes expanded
   * from the old seed and not handed out yet are erased. The caller wipes `quantumSeed`. A closed stream
   * takes no seed: one may be on its way when the service stops.
   */
  reseed(quantumSeed: Uint8Array): void {
    if (this.#closed) return;
    const system = fillSystemEntropy(secretBytes(32));
    const previous = this.#root?.deriveKey() ?? null;
    this.erase();
    const key = seedKey(quantumSeed, system, previous);
    this.#root = new Expander(key);
    wipe(key, system);
    if (previous !== null) wipe(previous);
    this.#keepFilled();
  }

  /** A one-time key for a worker that expands a large answer. */
  oneTimeKey(): Uint8Array<ArrayBuffer> {
    return this.#seededRoot().deriveKey();
  }

  /** Ends the use of this seed: nothing can be drawn until the next `reseed`. What was not handed out is erased. */
  erase(): void {
    this.#root?.erase();
    this.#root = undefined;
    this.reader.discard();
    wipe(...this.#ring.splice(0));
  }

  /** Ends the stream for good. */
  close(): void {
    this.#closed = true;
    this.erase();
  }

  #seededRoot(): Expander {
    assert(this.#root !== undefined, 'a keystream is drawn from only after it is seeded');
    return this.#root;
  }

  /** When the workers are behind (a cold start or a burst), this thread expands a piece itself. */
  #nextPiece(): Uint8Array<ArrayBuffer> {
    const root = this.#seededRoot();
    const piece = this.#ring.shift() ?? nextPiece(root);
    this.#keepFilled();
    return piece;
  }

  #keepFilled(): void {
    const root = this.#root;
    if (this.#refilling || root === undefined || this.#ring.length > REFILL_AT_PIECES) return;
    this.#refilling = true;
    const key = root.deriveKey();
    const settled = (pieces: readonly Uint8Array<ArrayBuffer>[]) => {
      wipe(key); // not before: a queued order is copied to its worker only when one is free
      this.#refilling = false;
      if (root === this.#root) {
        this.#ring.push(...pieces);
        return;
      }
      wipe(...pieces); // the seed changed or ended meanwhile
      // After a failure the next draw asks again: here it could turn in circles.
      if (pieces.length > 0) this.#keepFilled();
    };
    const nothing = () => settled([]);
    this.#order({ key, pieces: RING_PIECES - this.#ring.length }).then(settled, nothing);
  }
}

/** The csprng mode's bytes: system entropy in pieces, each expanded from a fresh kernel key. One per front thread. */
export function systemReader(): EntropyReader {
  return new EntropyReader(() => expandSystemEntropy(PIECE_OUTPUT_BYTES));
}
