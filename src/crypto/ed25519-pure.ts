import { ed25519 } from '@noble/curves/ed25519.js';
import { verifyWithoutOpenSsl } from './ed25519.ts';

verifyWithoutOpenSsl(verifyPurely);

/**
 * Does what `verifyEd25519` does, on platforms without OpenSSL. The builds for browsers and packages load it first
 * (`inject`); no service loads the curve, which takes 13 MB of memory. Runs in browsers.
 */
export function verifyPurely(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (!ed25519.verify(signature, message, publicKey, { zip215: false })) return false;
  // The library multiplies the equation by the cofactor and OpenSSL does not. They agree when the key and R are in the
  // subgroup of prime order. With any other key its holder could make signatures that pages accept and programs reject.
  const { Point } = ed25519;
  return [publicKey, signature.subarray(0, 32)].every((point) => Point.fromBytes(point).isTorsionFree());
}
