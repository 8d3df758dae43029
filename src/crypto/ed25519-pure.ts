import { ed25519 } from '@noble/curves/ed25519.js';

/** As `verifyEd25519`, for platforms without OpenSSL; apart from it, for no service has to load the curve. Runs in browsers. */
export function verifyPurely(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  // by the letter of RFC 8032, as OpenSSL
  return ed25519.verify(signature, message, publicKey, { zip215: false });
}
