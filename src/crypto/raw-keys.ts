import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** Keys of 32 bytes as node:crypto takes them: private ones in DER (RFC 8410 §10), public ones as JWK (RFC 8037). */

export const RAW_KEY_BYTES = 32;
/** The DER of a private key up to its 32 bytes. */
const PKCS8_HEADS = {
  ed25519: '302e020100300506032b657004220420',
  x25519: '302e020100300506032b656e04220420',
} as const;

/** Throws RangeError for another length. The caller wipes its bytes. */
export function privateKeyOf(curve: keyof typeof PKCS8_HEADS, bytes: Uint8Array): KeyObject {
  if (bytes.length !== RAW_KEY_BYTES) throw new RangeError(`${curve}: a private key has 32 bytes`);
  const der = Buffer.concat([Buffer.from(PKCS8_HEADS[curve], 'hex'), bytes]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  return key;
}

/** Of X25519. Throws RangeError for another length. */
export function publicKeyOf(bytes: Uint8Array): KeyObject {
  if (bytes.length !== RAW_KEY_BYTES) throw new RangeError('x25519: a public key has 32 bytes');
  const x = Buffer.from(bytes).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
}

/** The 32 bytes of the public key of a private one. */
export function publicBytesOf(privateKey: KeyObject): Uint8Array<ArrayBuffer> {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x, 'base64url'));
}
