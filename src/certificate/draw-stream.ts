import { chacha20 } from '@noble/ciphers/chacha.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { ByteStream } from './draw-samplers.ts';

/**
 * Makes the bytes that the values of a committed draw are drawn from (draw-kinds.ts), out of the committed secret and
 * what became known later (docs/draws.md). Runs in browsers.
 */
export interface DrawKeyParts {
  /** The 32 bytes that the service committed to. */
  readonly secret: Uint8Array;
  /** The caller's bytes; empty if the caller gave none. */
  readonly nonce: Uint8Array;
  /** The randomness of the beacon's round, 32 bytes; empty without a beacon. */
  readonly randomness: Uint8Array;
  /** SHA-256 of the statement. */
  readonly statementDigest: Uint8Array;
}

const INFO = new TextEncoder().encode('qrn draw v1');
const KEY_BYTES = 32;
const CHUNK_BYTES = 4_096;
const BLOCK_BYTES = 64;

/** Returns the key: HKDF-SHA-256 without salt over the parts, each preceded by its length as four bytes, big-endian. */
export function drawKey({ secret, nonce, randomness, statementDigest }: DrawKeyParts): Uint8Array {
  const parts = [secret, nonce, randomness, statementDigest];
  const joined = new Uint8Array(parts.reduce((size, part) => size + 4 + part.length, 0));
  let at = 0;
  for (const part of parts) {
    new DataView(joined.buffer).setUint32(at, part.length);
    joined.set(part, at + 4);
    at += 4 + part.length;
  }
  return hkdf(sha256, joined, new Uint8Array(0), INFO, KEY_BYTES);
}

/** Returns the stream of bytes: the ChaCha20 keystream (RFC 8439) with a nonce of zeros, from counter 0 on. */
export function drawStream(key: Uint8Array): ByteStream {
  let counter = 0;
  return new ByteStream(() => {
    const bytes = chacha20(key, new Uint8Array(12), new Uint8Array(CHUNK_BYTES), undefined, counter);
    counter += CHUNK_BYTES / BLOCK_BYTES;
    return bytes;
  });
}
