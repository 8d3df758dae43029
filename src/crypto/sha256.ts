import { sha256 as pure } from '@noble/hashes/sha2.js';

interface NodeCrypto {
  hash(algorithm: 'sha256', data: Uint8Array, encoding: 'binary'): string;
}

const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
const native = process?.getBuiltinModule?.('node:crypto') as Partial<NodeCrypto> | undefined;

/**
 * SHA-256 (FIPS 180-4) for what runs in browsers too: by OpenSSL where the platform has it, which hands a digest over
 * as one character a byte (crypto/digest.ts), else by @noble/hashes.
 */
export const sha256: (data: Uint8Array) => Uint8Array<ArrayBuffer> =
  native?.hash === undefined
    ? (data) => pure(data) as Uint8Array<ArrayBuffer>
    : (data) => bytesOf(native.hash!('sha256', data, 'binary'));

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
