import { createCipheriv } from 'node:crypto';

/** Consecutive blocks of one ChaCha20 keystream, each of so many bytes: key 0, nonce [`nonce`, 0 ...], counter 0. */
export function keystream(nonce: number): (bytes: number) => Uint8Array {
  const iv = Buffer.alloc(16);
  iv[4] = nonce;
  const cipher = createCipheriv('chacha20', Buffer.alloc(32), iv);
  return (bytes) => cipher.update(Buffer.alloc(bytes));
}
