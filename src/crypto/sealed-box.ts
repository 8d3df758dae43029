import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
} from 'node:crypto';
import { concatBytes, secretBytes, secretCopy, wipe } from '../core/bytes.ts';
import { deriveKey } from './digest.ts';
import { fillSystemEntropy } from './system-entropy.ts';

/**
 * Seals bytes for the holder of an X25519 key (RFC 7748) who is not here: whoever seals cannot open again. A
 * fresh key pair for each box; key = HKDF-SHA-256 of the agreement and both public keys; AES-256-GCM.
 *
 * box = ephemeral public key (32) ‖ ciphertext ‖ tag (16)
 */

/** DER up to the 32 bytes of an X25519 private key, and of a public key: RFC 8410 §10. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');
const KEY_BYTES = 32;
const TAG_BYTES = 16;
/** A key seals one box. */
const NONCE = new Uint8Array(12);

/** A new private key, 32 bytes; the caller wipes it. */
export function newRecipientKey(): Uint8Array<ArrayBuffer> {
  return fillSystemEntropy(secretBytes(KEY_BYTES));
}

/** The public key of a private one, 32 bytes. */
export function recipientOf(privateKey: Uint8Array): Uint8Array<ArrayBuffer> {
  return publicBytes(privateObject(privateKey));
}

/** Throws RangeError when `recipient` is not a public key. */
export function seal(recipient: Uint8Array, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const own = newRecipientKey();
  const ephemeral = privateObject(own);
  wipe(own);
  const sender = publicBytes(ephemeral);
  const key = agreedKey(ephemeral, recipient, sender, recipient);
  const cipher = createCipheriv('aes-256-gcm', key, NONCE);
  wipe(key);
  return concatBytes(sender, cipher.update(bytes), cipher.final(), cipher.getAuthTag());
}

/** The bytes in the box; undefined when it is not for this key or was changed. */
export function open(privateKey: Uint8Array, box: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (box.length < KEY_BYTES + TAG_BYTES) return undefined;
  const sender = box.subarray(0, KEY_BYTES);
  const recipient = privateObject(privateKey);
  let opened: Buffer | undefined;
  try {
    const key = agreedKey(recipient, sender, sender, publicBytes(recipient));
    const decipher = createDecipheriv('aes-256-gcm', key, NONCE).setAuthTag(box.subarray(-TAG_BYTES));
    wipe(key);
    opened = decipher.update(box.subarray(KEY_BYTES, -TAG_BYTES));
    decipher.final();
    return secretCopy(opened);
  } catch {
    return undefined; // a sender's key of low order among them
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
  if (other.length !== KEY_BYTES) throw new RangeError('sealed box: a public key has 32 bytes');
  const der = Buffer.concat([SPKI_PREFIX, other]);
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
  const agreed = diffieHellman({ privateKey: own, publicKey });
  const key = deriveKey('rawShots', [agreed, sender, recipient]);
  wipe(agreed);
  return key;
}

function privateObject(bytes: Uint8Array): KeyObject {
  if (bytes.length !== KEY_BYTES) throw new RangeError('sealed box: a private key has 32 bytes');
  const der = Buffer.concat([PKCS8_PREFIX, bytes]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  return key;
}

function publicBytes(key: KeyObject): Uint8Array<ArrayBuffer> {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return new Uint8Array(spki.subarray(SPKI_PREFIX.length));
}
