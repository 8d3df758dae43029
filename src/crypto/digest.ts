import { hash } from 'node:crypto';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { concatBytes, secretCopy, utf8Bytes, wipe } from '../core/bytes.ts';

const KEY_BYTES = 32;

/**
 * The HKDF info string of each domain in which keys are derived. Labels are never reused and never
 * changed: a key with a new meaning gets a new label.
 */
export const KEY_LABELS = {
  /** Key of an expander, from a quantum seed, system entropy and the previous key. */
  seed: 'qrn seed v1',
  /** Key of the block cipher that makes certificate ids, from the key of the node. */
  certificateId: 'qrn certificate id v1',
  /** Key that seals a stored answer, from the node's secret, the account and the Idempotency-Key. */
  storedAnswer: 'qrn stored answer v1',
  /**
   * Key of the values of a committed draw, from its committed bytes, its caller’s nonce, its beacon and its statement.
   */
  draw: 'qrn draw v1',
  /** Id of a committed draw, from the node’s secret, the account and the Idempotency-Key. */
  drawId: 'qrn draw id v1',
  /** Key of the HMACs of JSON-RPC answers and tickets, from the node's secret. */
  jsonRpc: 'qrn json-rpc v1',
  /** Key that seals the raw shots of one lot, from an X25519 agreement and both of its public keys. */
  rawShots: 'qrn raw shots v1',
} as const;
export type KeyLabel = keyof typeof KEY_LABELS;

/** SHA-256 in lower-case hex, 64 characters. */
export function sha256Hex(data: Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/**
 * HKDF with SHA-256 (RFC 5869), `length` bytes, at most 255 * 32. It uses @noble/hashes, which erases its copies;
 * node:crypto keeps a copy of the keying material in one of its objects until that is garbage-collected
 * (test/secrets).
 */
export function hkdfSha256(
  ikm: Uint8Array,
  salt: Uint8Array,
  info: Uint8Array,
  length: number,
): Uint8Array<ArrayBuffer> {
  const key = hkdf(nobleSha256, ikm, salt, info, length);
  const kept = secretCopy(key);
  wipe(key);
  return kept;
}

/**
 * Derives a 32-byte key from secrets, in the domain of `label`. The keying material is each input after its length
 * as four big-endian bytes, so that no two lists of inputs give the same material. There is no salt, because
 * the inputs are uniform already (RFC 5869 §3.1). The caller wipes the inputs.
 */
export function deriveKey(label: KeyLabel, inputs: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const material = concatBytes(...inputs.flatMap((input) => [lengthPrefix(input.length), input]));
  const key = hkdfSha256(material, new Uint8Array(0), utf8Bytes(KEY_LABELS[label]), KEY_BYTES);
  wipe(material);
  return key;
}

/**
 * Derives the key of an expander from 32 bytes of quantum seed, 32 of system entropy and the key it replaces (null at the
 * first seed, which counts as an empty input). Without any one of them the key is unpredictable.
 */
export function seedKey(
  quantumSeed: Uint8Array,
  systemEntropy: Uint8Array,
  previousKey: Uint8Array | null,
): Uint8Array<ArrayBuffer> {
  if (quantumSeed.length !== KEY_BYTES) throw new RangeError('seedKey: the quantum seed has 32 bytes');
  if (systemEntropy.length !== KEY_BYTES) throw new RangeError('seedKey: the system entropy has 32 bytes');
  if (previousKey !== null && previousKey.length !== KEY_BYTES) {
    throw new RangeError('seedKey: the previous key has 32 bytes');
  }
  return deriveKey('seed', [quantumSeed, systemEntropy, previousKey ?? new Uint8Array(0)]);
}

function lengthPrefix(length: number): Uint8Array {
  const prefix = new Uint8Array(4);
  new DataView(prefix.buffer).setUint32(0, length);
  return prefix;
}
