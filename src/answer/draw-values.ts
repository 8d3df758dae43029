import { assert } from '../core/assert.ts';
import { wipe } from '../core/bytes.ts';
import { chacha20 } from '../crypto/chacha20.ts';
import { deriveKey } from '../crypto/digest.ts';
import { EntropyReader } from '../values/entropy-reader.ts';
import { drawJson } from '../values/sample.ts';
import { jsonBytesMax, type ValueRequest } from '../values/value-request.ts';

/** What the values of a committed draw follow from. Nobody who lacks one of the first three knows them. */
export interface DrawInputs {
  /** The committed bytes, 32. */
  readonly secret: Uint8Array;
  /** The caller's nonce; no bytes without one. */
  readonly nonce: Uint8Array;
  /** The beacon's randomness, 32 bytes; none without a beacon. */
  readonly randomness: Uint8Array;
  /** SHA-256 of the statement, 32 bytes. */
  readonly statementSha256: Uint8Array;
}

const CHUNK_BYTES = 4_096;
const BLOCK_BYTES = 64;
const NO_NONCE = new Uint8Array(12);

/**
 * The values: the samplers of all answers over the ChaCha20 keystream (RFC 8439, nonce of zeros, counter from 0) of the key
 * HKDF-SHA-256(inputs, each behind its length as four big-endian bytes; no salt; info `qrn draw v1`).
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
