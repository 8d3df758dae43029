import { assert } from '../core/assert.ts';
import { giveBack, secretBytes, wipe } from '../core/bytes.ts';
import { CHACHA20_KEY_BYTES, chacha20, eraseFreed } from './chacha20.ts';
import { expandSystemEntropy } from './system-entropy.ts';

/**
 * The DRBG that expands a seed: ChaCha20 (RFC 8439) with fast key erasure (D. J. Bernstein, "Fast-key-erasure
 * random-number generators", 2017). This is its byte-exact specification; test/vectors/crypto/expander.json pins it.
 *
 * State: one 32-byte key K. Refill(K, P), where the plaintext P has 32 + n bytes:
 *   C  = P XOR ChaCha20 keystream of (K, nonce = 12 zero bytes, block counter from 0)      RFC 8439 §2.4
 *   K' = C[0..32)         replaces K before any output is handed out
 *   output = C[32..32+n)
 * Nonce and counter may stay zero because no key is ever used for two refills.
 *
 * Expander: every refill has P = 4096 zero bytes, so a key gives 4064 bytes of output. They are handed out in order
 *   and in portions of any size: fill(2) then fill(2) gives the bytes of fill(4). Bytes are erased once they are handed
 *   out. A refill happens when a byte is needed and none is buffered.
 * A reseed makes a new expander, whose key is seedKey(quantum seed, system entropy, the next output)
 * (crypto/digest.ts). expandPiece: one refill with n up to 65504 and P = system entropy, expanded from 32 fresh bytes
 * of the kernel's generator
 *   for this piece (crypto/system-entropy.ts). The output is keystream XOR system entropy: each alone keeps it
 *   unpredictable. The key is used for nothing else, and K' is erased.
 *
 * Guaranteed is backtracking resistance: whoever reads the state learns nothing about earlier output. Not guaranteed is
 * recovery after a compromise without a reseed.
 */

const NONCE = new Uint8Array(12);

/**
 * Size of one refill of an Expander. At 4 KiB the next key takes 32 of 4096 bytes (0.8 %), and no more output than this
 * is in memory.
 */
const REFILL_BYTES = 4096;

/**
 * Size of one refill of expandPiece, where OpenSSL through Node is fastest (medians of a loop of calls on one core, Node
 * 22.23, EPYC: 4 KiB 1.4 GB/s, 16 KiB 2.7, 64 KiB 3.6; with the system entropy 0.8, 1.7, 2.7).
 */
const PIECE_BYTES = 65_536;
export const PIECE_OUTPUT_BYTES = PIECE_BYTES - CHACHA20_KEY_BYTES;

const ZEROS = new Uint8Array(REFILL_BYTES);

export class Expander {
  readonly #key = secretBytes(CHACHA20_KEY_BYTES);
  /** The output of the last refill, without K'; bytes before #next are zero. */
  readonly #buffer = new Uint8Array(REFILL_BYTES - CHACHA20_KEY_BYTES);
  #next = this.#buffer.length;
  #erased = false;

  /** `key` has 32 bytes; it is copied, and the caller wipes its own. */
  constructor(key: Uint8Array) {
    if (key.length !== CHACHA20_KEY_BYTES) throw new RangeError('expander: the key has 32 bytes');
    this.#key.set(key);
  }

  /** XORs the next `out.length` bytes of output into `out`. */
  fill(out: Uint8Array): void {
    assert(!this.#erased, 'an erased expander gives nothing');
    let at = 0;
    while (at < out.length) {
      if (this.#next === this.#buffer.length) this.#refill();
      const count = Math.min(out.length - at, this.#buffer.length - this.#next);
      const given = this.#buffer.subarray(this.#next, this.#next + count);
      for (let i = 0; i < count; i++) out[at + i] ^= given[i];
      wipe(given);
      this.#next += count;
      at += count;
    }
  }

  /** Returns the next 32 bytes of output: a one-time key for a worker, which wipes it. */
  deriveKey(): Uint8Array<ArrayBuffer> {
    const key = secretBytes(CHACHA20_KEY_BYTES);
    this.fill(key);
    return key;
  }

  /** Erases the key and the output; every later call throws. */
  erase(): void {
    wipe(this.#key, this.#buffer);
    this.#next = this.#buffer.length;
    this.#erased = true;
  }

  #refill(): void {
    const refilled = chacha20(this.#key, NONCE, 0, ZEROS);
    eraseFreed(REFILL_BYTES);
    this.#key.set(refilled.subarray(0, CHACHA20_KEY_BYTES));
    this.#buffer.set(refilled.subarray(CHACHA20_KEY_BYTES));
    wipe(refilled);
    this.#next = 0;
  }
}

/**
 * Expands a key that is used for nothing else (see the header). Returns `size` bytes, PIECE_OUTPUT_BYTES at most, in a
 * buffer that holds nothing else but the erased K'. The caller wipes them and the key.
 */
export function expandPiece(key: Uint8Array, size = PIECE_OUTPUT_BYTES): Uint8Array<ArrayBuffer> {
  if (key.length !== CHACHA20_KEY_BYTES) throw new RangeError('expandPiece: the key has 32 bytes');
  const input = expandSystemEntropy(CHACHA20_KEY_BYTES + size);
  const refilled = chacha20(key, NONCE, 0, input);
  eraseFreed(input.length);
  wipe(input, refilled.subarray(0, CHACHA20_KEY_BYTES)); // system entropy XOR output would reveal the keystream
  giveBack(input);
  return new Uint8Array(refilled.buffer, refilled.byteOffset + CHACHA20_KEY_BYTES, size);
}
