import { createCipheriv } from 'node:crypto';

export const CHACHA20_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const BLOCK_BYTES = 64;

/**
 * ChaCha20 (RFC 8439 §2.4) by OpenSSL. Returns `input` XOR the keystream of (key, nonce, counter) as a fresh array,
 * which the caller wipes. `key` has 32 bytes, `nonce` 12; `counter` is the number of the keystream's first block.
 * Throws RangeError.
 */
export function chacha20(
  key: Uint8Array,
  nonce: Uint8Array,
  counter: number,
  input: Uint8Array,
): Uint8Array<ArrayBuffer> {
  if (key.length !== CHACHA20_KEY_BYTES) throw new RangeError('chacha20: the key has 32 bytes');
  if (nonce.length !== NONCE_BYTES) throw new RangeError('chacha20: the nonce has 12 bytes');
  // RFC 8439 §2.4: one (key, nonce) has 2^32 blocks; after them OpenSSL would carry into the nonce.
  const blocks = Math.ceil(input.length / BLOCK_BYTES);
  if (!Number.isInteger(counter) || counter < 0 || counter + blocks > 0xffff_ffff) {
    throw new RangeError('chacha20: the block counter leaves its 32 bits');
  }
  // OpenSSL's IV of 16 bytes is the counter, little-endian, and the nonce: state words 12 to 15 of RFC 8439 §2.3.
  const iv = new Uint8Array(4 + NONCE_BYTES);
  new DataView(iv.buffer).setUint32(0, counter, true);
  iv.set(nonce, 4);
  const cipher = createCipheriv('chacha20', key, iv);
  const output = cipher.update(input);
  cipher.final(); // makes OpenSSL erase and free its copy of the key now, not at the next garbage collection
  // The methods `fill` and `subarray` of the Buffer that Node returns take several times as long as those of a Uint8Array.
  return new Uint8Array(output.buffer, output.byteOffset, output.length);
}

/**
 * Erases the copy of a cipher's output that `update` leaves in freed memory: Node has OpenSSL write into a buffer that is
 * a byte larger, copies the output and frees that buffer as it is. The allocator gives the memory that was freed last to
 * the next request of its size, which is this one, and V8 fills it with zeros. Call it at once, with the output's size.
 */
export function eraseFreed(size: number): void {
  new ArrayBuffer(size + 1).transfer(0);
}
