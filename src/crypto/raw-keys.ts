import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/**
 * Keys of 32 bytes in the forms that node:crypto takes: private ones in DER (RFC 8410 §10), public ones as JWK (RFC
 * 8037).
 */

export const RAW_KEY_BYTES = 32;
/** The DER encoding of a private key before its 32 bytes. */
const PKCS8_HEADS = {
  ed25519: '302e020100300506032b657004220420',
  x25519: '302e020100300506032b656e04220420',
} as const;

/** Returns the private key with these bytes, which the caller wipes. Throws RangeError for another length. */
export function privateKeyOf(curve: keyof typeof PKCS8_HEADS, bytes: Uint8Array): KeyObject {
  if (bytes.length !== RAW_KEY_BYTES) throw new RangeError(`${curve}: a private key has 32 bytes`);
  const der = Buffer.concat([Buffer.from(PKCS8_HEADS[curve], 'hex'), bytes]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  return key;
}

/** Returns the X25519 public key with these bytes. Throws RangeError for another length. */
export function publicKeyOf(bytes: Uint8Array): KeyObject {
  if (bytes.length !== RAW_KEY_BYTES) throw new RangeError('x25519: a public key has 32 bytes');
  const x = Buffer.from(bytes).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
}

/** Returns the 32 bytes of the public key that belongs to a private key. */
export function publicBytesOf(privateKey: KeyObject): Uint8Array<ArrayBuffer> {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x, 'base64url'));
}
