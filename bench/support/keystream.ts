import { createCipheriv } from 'node:crypto';

/** Returns a function that gives consecutive blocks of a ChaCha20 keystream: key 0, nonce [`nonce`, 0 ...], counter 0. */
export function keystream(nonce: number): (bytes: number) => Uint8Array {
  const iv = Buffer.alloc(16);
  iv[4] = nonce;
  const cipher = createCipheriv('chacha20', Buffer.alloc(32), iv);
  return (bytes) => cipher.update(Buffer.alloc(bytes));
}
