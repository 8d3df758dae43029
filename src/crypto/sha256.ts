import { sha256 as pure } from '@noble/hashes/sha2.js';

interface NodeCrypto {
  hash(algorithm: 'sha256', data: Uint8Array, encoding: 'binary'): string;
}

const SHA256_BYTES = 32;

const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
const { hash } = (process?.getBuiltinModule?.('node:crypto') ?? {}) as Partial<NodeCrypto>;

/**
 * SHA-256 (FIPS 180-4) by OpenSSL where the platform has it, else by @noble/hashes. Writes the 32 bytes to `digest` at
 * `at` and returns `digest`. Node returns a digest as text much faster than as a buffer (0.5 µs against 1.4 µs at 466
 * bytes), so the code asks for text with one character per byte. Runs in browsers.
 */
export function sha256(
  data: Uint8Array,
  digest: Uint8Array<ArrayBuffer> = new Uint8Array(SHA256_BYTES),
  at = 0,
): Uint8Array<ArrayBuffer> {
  if (hash === undefined) {
    digest.set(pure(data), at);
    return digest;
  }
  const text = hash('sha256', data, 'binary');
  for (let i = 0; i < SHA256_BYTES; i++) digest[at + i] = text.charCodeAt(i);
  return digest;
}
