import { assert } from '../../core/assert.ts';
import { secretBytes, wipe } from '../../core/bytes.ts';
import { eraseFreed } from '../../crypto/chacha20.ts';
import { seedKey } from '../../crypto/digest.ts';
import { Expander, expandPiece, PIECE_OUTPUT_BYTES } from '../../crypto/expander.ts';
import { expandSystemEntropy, fillSystemEntropy } from '../../crypto/system-entropy.ts';
import { EntropyReader } from '../../values/entropy-reader.ts';

/** Size of the ring: how many pieces of PIECE_OUTPUT_BYTES a stream expands ahead of its reader. */
const RING_PIECES = 8;
/** The stream orders a refill when this many pieces or fewer are left. */
const REFILL_AT_PIECES = RING_PIECES / 2;

/** What a worker needs to expand pieces. The one-time key is the only secret in it. */
export interface RefillOrder {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly pieces: number;
}

/** Returns the pieces of an order, each in memory of its own, and erases the order's key. Runs in a worker. */
export function expandPieces({ key, pieces }: RefillOrder): Uint8Array<ArrayBuffer>[] {
  const stream = new Expander(key);
  wipe(key);
  const expanded = Array.from({ length: pieces }, () => nextPiece(stream));
  stream.erase();
  return expanded;
}

/** Returns a piece, expanded from a key that is derived for it alone, and mixed with system entropy. */
export function nextPiece(stream: Expander, size = PIECE_OUTPUT_BYTES): Uint8Array<ArrayBuffer> {
  const key = stream.deriveKey();
  const piece = expandPiece(key, size);
  wipe(key);
  return piece;
}

/**
 * The bytes of the seeded mode for one seed group in one front thread. Only this thread has the group's root DRBG key.
 * Each refill and each worker task gets a one-time key derived from it, so no task can compute another's earlier or
 * later bytes. Unread bytes of an older seed are erased.
 */
export class SeededKeystream {
  readonly reader: EntropyReader;
  readonly #order: (order: RefillOrder) => Promise<Uint8Array<ArrayBuffer>[]>;
  /** Pieces that workers have expanded and the reader has not taken, oldest first. One thread uses the list. */
  readonly #ring: Uint8Array<ArrayBuffer>[] = [];
  #root: Expander | undefined;
  #refilling = false;
  #closed = false;

  /** `order` has a worker expand pieces. It rejects if no pieces were expanded. */
  constructor(order: (order: RefillOrder) => Promise<Uint8Array<ArrayBuffer>[]>) {
    this.#order = order;
    this.reader = new EntropyReader(() => this.#nextPiece());
  }

  get seeded(): boolean {
    return this.#root !== undefined;
  }

  /**
   * Takes a new quantum seed: key = HKDF(seed ‖ 32 bytes of system entropy ‖ previous key). Erases the bytes of the old
   * seed that nobody has read. The caller wipes `quantumSeed`. A closed stream ignores the call, since a seed may still
   * arrive when the service stops.
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

  /** Returns a one-time key for a worker that expands a large answer. */
  oneTimeKey(): Uint8Array<ArrayBuffer> {
    return this.#seededRoot().deriveKey();
  }

  /** Erases the seed's key and all unread bytes. Nothing can be drawn until the next `reseed`. */
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

  /** Returns the next piece. If the workers are behind (a cold start, a burst), this thread expands it. */
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
      wipe(key); // not earlier: an order is copied to its worker only when one is free
      this.#refilling = false;
      if (root === this.#root) {
        this.#ring.push(...pieces);
        return;
      }
      wipe(...pieces); // the seed changed or ended meanwhile
      // After a failure do not order again here, which could loop without end: the next draw does.
      if (pieces.length > 0) this.#keepFilled();
    };
    const nothing = () => settled([]);
    this.#order({ key, pieces: RING_PIECES - this.#ring.length }).then(settled, nothing);
  }
}

/** Returns a reader of the csprng mode's bytes: pieces expanded from fresh system entropy. One per front thread. */
export function systemReader(): EntropyReader {
  return new EntropyReader(() => {
    const piece = expandSystemEntropy(PIECE_OUTPUT_BYTES);
    eraseFreed(piece.length);
    return piece;
  });
}
