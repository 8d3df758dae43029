import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { secretBytes, utf8Bytes, wipe } from '../core/bytes.ts';
import { COSIGNATURE_TYPE, cosignatureText, type Note, noteKeyId, timestampedSignature } from './note.ts';
import { privateKeyOf, publicBytesOf, RAW_KEY_BYTES } from './raw-keys.ts';
import { fillSystemEntropy } from './system-entropy.ts';

/**
 * Signing by Ed25519 (RFC 8032) with node:crypto. A private key lives in a KeyObject and is only ever written as PKCS #8
 * PEM, by crypto/key-files.ts.
 */

export class SigningKey {
  readonly #private: KeyObject;
  /** 32 bytes, as RFC 8032 §5.1.5 encodes them. */
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

  /** From the 32-byte seed that RFC 8032 §5.1.5 calls the private key; the caller wipes it. */
  static fromSeed(seed: Uint8Array): SigningKey {
    return new SigningKey(privateKeyOf('ed25519', seed));
  }

  /** From PKCS #8 PEM. Throws when it is not an Ed25519 private key. */
  static fromPem(pem: string): SigningKey {
    return new SigningKey(createPrivateKey(pem));
  }

  /** PKCS #8 PEM, for a file that only its owner reads. */
  toPem(): string {
    return this.#private.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  /** 64 bytes: R || S of RFC 8032 §5.1.6. */
  sign(message: Uint8Array): Uint8Array<ArrayBuffer> {
    return new Uint8Array(sign(null, message, this.#private));
  }
}

/** A signature of a note: of its text alone, or as a cosigner with the time, in seconds since 1970 (crypto/note.ts). */
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
