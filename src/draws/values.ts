import { assert } from '../core/assert.ts';
import { wipe } from '../core/bytes.ts';
import { chacha20 } from '../crypto/chacha20.ts';
import { deriveKey } from '../crypto/digest.ts';
import { EntropyReader } from '../values/entropy-reader.ts';
import { drawJson } from '../values/sample.ts';
import { jsonBytesMax, type ValueRequest } from '../values/value-request.ts';

/** The inputs that determine the values of a committed draw. Nobody can compute the values without the first three. */
export interface DrawInputs {
  /** The committed bytes, 32. */
  readonly secret: Uint8Array;
  /** The caller's nonce; empty if the draw has none. */
  readonly nonce: Uint8Array;
  /** The beacon's randomness, 32 bytes; empty if the draw has no beacon. */
  readonly randomness: Uint8Array;
  /** SHA-256 of the statement, 32 bytes. */
  readonly statementSha256: Uint8Array;
}

const CHUNK_BYTES = 4_096;
const BLOCK_BYTES = 64;
const NO_NONCE = new Uint8Array(12);

/**
 * Returns the values of a committed draw. The same samplers as for all answers read the ChaCha20 keystream (RFC 8439, nonce
 * of zeros, counter from 0) under the key HKDF-SHA-256(inputs, each preceded by its length as four big-endian bytes; no salt;
 * info `qrn draw v1`).
 */
export function drawnValues(request: ValueRequest, inputs: DrawInputs): unknown {
  const { secret, nonce, randomness, statementSha256 } = inputs;
  assert(secret.length === 32 && statementSha256.length === 32, 'a draw has 32 bytes and a statement');
  const key = deriveKey('draw', [secret, nonce, randomness, statementSha256]);
  let counter = 0;
  const reader = new EntropyReader(() => {
    const chunk = chacha20(key, NO_NONCE, counter, new Uint8Array(CHUNK_BYTES));
    counter += CHUNK_BYTES / BLOCK_BYTES;
    return chunk;
  });
  try {
    const text = new Uint8Array(jsonBytesMax(request));
    const end = drawJson(request, reader, text, 0);
    return JSON.parse(Buffer.from(text.buffer, 0, end).toString('utf8'));
  } finally {
    reader.discard();
    wipe(key);
  }
}
