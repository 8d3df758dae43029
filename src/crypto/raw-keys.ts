import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** Keys of 32 bytes as node:crypto takes them: in DER, behind the heads of RFC 8410 §10. */

export type Curve = 'ed25519' | 'x25519';

export const RAW_KEY_BYTES = 32;
/** The last bytes of the curve's object identifier, 1.3.101.112 and 1.3.101.110. */
const IDENTIFIERS: Readonly<Record<Curve, string>> = { ed25519: '70', x25519: '6e' };

function pkcs8Head(curve: Curve): Buffer {
  return Buffer.from(`302e020100300506032b65${IDENTIFIERS[curve]}04220420`, 'hex');
}

function spkiHead(curve: Curve): Buffer {
  return Buffer.from(`302a300506032b65${IDENTIFIERS[curve]}032100`, 'hex');
}

/** Throws RangeError for another length. The caller wipes its bytes. */
export function privateKeyOf(curve: Curve, bytes: Uint8Array): KeyObject {
  if (bytes.length !== RAW_KEY_BYTES) throw new RangeError(`${curve}: a private key has 32 bytes`);
  const der = Buffer.concat([pkcs8Head(curve), bytes]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  return key;
}

/** Throws RangeError for another length. */
export function publicKeyOf(curve: Curve, bytes: Uint8Array): KeyObject {
  if (bytes.length !== RAW_KEY_BYTES) throw new RangeError(`${curve}: a public key has 32 bytes`);
  const der = Buffer.concat([spkiHead(curve), bytes]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

/** The 32 bytes of the public key of a private one. */
export function publicBytesOf(privateKey: KeyObject): Uint8Array<ArrayBuffer> {
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return new Uint8Array(spki.subarray(-RAW_KEY_BYTES));
}
