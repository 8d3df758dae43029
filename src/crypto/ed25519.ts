import { concatBytes } from '../core/bytes.ts';

interface NodeCrypto {
  createPublicKey(spki: { readonly key: Uint8Array; readonly format: 'der'; readonly type: 'spki' }): object;
  verify(algorithm: null, message: Uint8Array, key: object, signature: Uint8Array): boolean;
}
type Verify = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** The DER encoding of a public key before its 32 bytes (RFC 8410 §4). */
const SPKI_HEAD = Uint8Array.from([0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0]);

const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
const native = process?.getBuiltinModule?.('node:crypto') as NodeCrypto | undefined;

/** Verifies Ed25519 signatures (RFC 8032) with OpenSSL, where the platform has it. */
let verify = native === undefined ? undefined : nativeVerify(native);

/**
 * Sets the function that verifies signatures where there is no OpenSSL. Builds for such platforms load ed25519-pure.ts
 * first, which calls it.
 */
export function verifyWithoutOpenSsl(pure: Verify): void {
  verify ??= pure;
}

/** Tells whether `signature` is a signature of `message` by the holder of the key. Runs in browsers. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  if (verify === undefined)
    throw new Error('Ed25519: this platform has no OpenSSL; load crypto/ed25519-pure.ts first');
  return verify(publicKey, message, signature);
}

function nativeVerify(crypto: NodeCrypto): Verify {
  return (publicKey, message, signature) => {
    const key = concatBytes(SPKI_HEAD, publicKey);
    return crypto.verify(
      null,
      message,
      crypto.createPublicKey({ key, format: 'der', type: 'spki' }),
      signature,
    );
  };
}
