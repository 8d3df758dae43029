import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { secretBytes, utf8Bytes, wipe } from '../core/bytes.ts';
import { COSIGNATURE_TYPE, cosignatureText, type Note, noteKeyId, timestampedSignature } from './note.ts';
import { privateKeyOf, publicBytesOf, RAW_KEY_BYTES } from './raw-keys.ts';
import { fillSystemEntropy } from './system-entropy.ts';

/**
 * Signing by Ed25519 (RFC 8032) with node:crypto. A private key stays in a KeyObject; only crypto/key-files.ts writes it,
 * as PKCS #8 PEM.
 */

export class SigningKey {
  readonly #private: KeyObject;
  /** 32 bytes, encoded as in RFC 8032 §5.1.5. */
  readonly publicKey: Uint8Array<ArrayBuffer>;

  private constructor(key: KeyObject) {
    if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('signing key: not an Ed25519 key');
    this.#private = key;
    this.publicKey = publicBytesOf(key);
  }

  static generate(): SigningKey {
    const seed = fillSystemEntropy(secretBytes(RAW_KEY_BYTES));
    const key = SigningKey.fromSeed(seed);
    wipe(seed);
    return key;
  }

  /** Makes the key from the 32-byte seed that RFC 8032 §5.1.5 calls the private key; the caller wipes it. */
  static fromSeed(seed: Uint8Array): SigningKey {
    return new SigningKey(privateKeyOf('ed25519', seed));
  }

  /** Reads PKCS #8 PEM. Throws when it is not an Ed25519 private key. */
  static fromPem(pem: string): SigningKey {
    return new SigningKey(createPrivateKey(pem));
  }

  /** Returns PKCS #8 PEM, for a file that only its owner can read. */
  toPem(): string {
    return this.#private.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  /** Returns 64 bytes: R || S of RFC 8032 §5.1.6. */
  sign(message: Uint8Array): Uint8Array<ArrayBuffer> {
    return new Uint8Array(sign(null, message, this.#private));
  }
}

/** Signs the text of a note, or cosigns it when `atS`, the time in seconds since 1970, is given (crypto/note.ts). */
export function noteSignature(
  name: string,
  key: SigningKey,
  text: string,
  atS?: number,
): Note['signatures'][number] {
  const { publicKey } = key;
  if (atS === undefined)
    return { name, keyId: noteKeyId(name, publicKey), signature: key.sign(utf8Bytes(text)) };
  const signature = timestampedSignature(atS, key.sign(utf8Bytes(cosignatureText(atS, text))));
  return { name, keyId: noteKeyId(name, publicKey, COSIGNATURE_TYPE), signature };
}
