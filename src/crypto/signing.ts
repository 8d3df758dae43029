import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { assert } from '../core/assert.ts';
import { secretBytes, wipe } from '../core/bytes.ts';
import { fillSystemEntropy } from './system-entropy.ts';

/**
 * Ed25519 (RFC 8032) by node:crypto. A private key lives in a KeyObject and is only ever written as PKCS #8
 * PEM, by crypto/key-files.ts.
 */

const PUBLIC_KEY_BYTES = 32;
const SEED_BYTES = 32;
const SIGNATURE_BYTES = 64;

/**
 * DER of a PKCS #8 Ed25519 private key up to its 32-byte seed, and of an SPKI public key up to its 32 bytes:
 * RFC 8410 §10.
 */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export class SigningKey {
  readonly #private: KeyObject;
  /** 32 bytes, as RFC 8032 §5.1.5 encodes them. */
  readonly publicKey: Uint8Array<ArrayBuffer>;

  private constructor(key: KeyObject) {
    if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('signing key: not an Ed25519 key');
    this.#private = key;
    const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
    assert(spki.length === SPKI_PREFIX.length + PUBLIC_KEY_BYTES, 'an Ed25519 SPKI has 44 bytes');
    this.publicKey = new Uint8Array(spki.subarray(SPKI_PREFIX.length));
  }

  static generate(): SigningKey {
    const seed = fillSystemEntropy(secretBytes(SEED_BYTES));
    const key = SigningKey.fromSeed(seed);
    wipe(seed);
    return key;
  }

  /** From the 32-byte seed that RFC 8032 §5.1.5 calls the private key; the caller wipes it. */
  static fromSeed(seed: Uint8Array): SigningKey {
    if (seed.length !== SEED_BYTES) throw new RangeError('signing key: the seed has 32 bytes');
    const der = Buffer.concat([PKCS8_PREFIX, seed]);
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    der.fill(0);
    return new SigningKey(key);
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

/** Whether `signature` is what the holder of the key made for `message`. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  const spki = Buffer.concat([SPKI_PREFIX, publicKey]);
  return verify(null, message, createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature);
}
