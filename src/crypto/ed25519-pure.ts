import { ed25519 } from '@noble/curves/ed25519.js';

/** As `verifyEd25519`, for platforms without OpenSSL; apart from it, for no service has to load the curve. Runs in browsers. */
export function verifyPurely(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (!ed25519.verify(signature, message, publicKey, { zip215: false })) return false;
  // The library multiplies the equation by the cofactor and OpenSSL does not. They agree where the key and R lie in the group of
  // prime order; else its holder could sign what pages believe and programs refuse.
  const { Point } = ed25519;
  return [publicKey, signature.subarray(0, 32)].every((point) => Point.fromBytes(point).isTorsionFree());
}
