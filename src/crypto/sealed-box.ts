import { createCipheriv, createDecipheriv, diffieHellman, type KeyObject } from 'node:crypto';
import { concatBytes, secretBytes, secretCopy, wipe } from '../core/bytes.ts';
import { deriveKey } from './digest.ts';
import { privateKeyOf, publicBytesOf, publicKeyOf, RAW_KEY_BYTES } from './raw-keys.ts';
import { fillSystemEntropy } from './system-entropy.ts';

/**
 * Seals bytes for the holder of an X25519 key (RFC 7748); the sender cannot open the box again. Each box has a fresh
 * key pair. The AES-256-GCM key is HKDF-SHA-256 of the agreement and both public keys.
 *
 * box = ephemeral public key (32) ‖ ciphertext ‖ tag (16)
 */

const TAG_BYTES = 16;
/** The nonce may be zero, because each key seals one box. */
const NONCE = new Uint8Array(12);

/** Makes a private key of 32 bytes; the caller wipes it. */
export function newRecipientKey(): Uint8Array<ArrayBuffer> {
  return fillSystemEntropy(secretBytes(RAW_KEY_BYTES));
}

/** Returns the public key of a private one, 32 bytes. */
export function recipientOf(privateKey: Uint8Array): Uint8Array<ArrayBuffer> {
  return publicBytesOf(privateKeyOf('x25519', privateKey));
}

/** Returns the box. Throws RangeError when `recipient` is not a public key. */
export function seal(recipient: Uint8Array, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const own = newRecipientKey();
  const ephemeral = privateKeyOf('x25519', own);
  wipe(own);
  const sender = publicBytesOf(ephemeral);
  const key = agreedKey(ephemeral, recipient, sender, recipient);
  const cipher = createCipheriv('aes-256-gcm', key, NONCE);
  wipe(key);
  return concatBytes(sender, cipher.update(bytes), cipher.final(), cipher.getAuthTag());
}

/** Returns the bytes in the box; undefined when the box is for another key or was changed. */
export function open(privateKey: Uint8Array, box: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (box.length < RAW_KEY_BYTES + TAG_BYTES) return undefined;
  const sender = box.subarray(0, RAW_KEY_BYTES);
  const recipient = privateKeyOf('x25519', privateKey);
  let opened: Buffer | undefined;
  try {
    const key = agreedKey(recipient, sender, sender, publicBytesOf(recipient));
    const decipher = createDecipheriv('aes-256-gcm', key, NONCE).setAuthTag(box.subarray(-TAG_BYTES));
    wipe(key);
    opened = decipher.update(box.subarray(RAW_KEY_BYTES, -TAG_BYTES));
    decipher.final();
    return secretCopy(opened);
  } catch {
    return undefined; // includes a sender's public key of low order
  } finally {
    if (opened !== undefined) wipe(opened);
  }
}

function agreedKey(
  own: KeyObject,
  other: Uint8Array,
  sender: Uint8Array,
  recipient: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const agreed = diffieHellman({ privateKey: own, publicKey: publicKeyOf(other) });
  const key = deriveKey('rawShots', [agreed, sender, recipient]);
  wipe(agreed);
  return key;
}
