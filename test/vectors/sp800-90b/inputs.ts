/**
 * The inputs of sp800-90b.json, made rather than stored: keystream(id) is ChaCha20 (RFC 8439), key 32 zero
 * bytes, block counter 0, nonce [id, 0 x 11]. Every input is a million symbols, one per byte; the JSON has
 * their SHA-256.
 */
import { createCipheriv } from 'node:crypto';
import { digitsOf } from '../../support/constants.ts';

const SAMPLES = 1_000_000;

export function keystream(id: number, length: number): Buffer {
  const iv = Buffer.alloc(16); // OpenSSL's chacha20: 4 bytes of counter, little-endian, then the nonce
  iv[4] = id;
  return createCipheriv('chacha20', Buffer.alloc(32), iv).update(Buffer.alloc(length));
}

/** Bits of a byte stream, most significant first. */
function bitsOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: SAMPLES }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}

/** A symbol from each big-endian 32-bit word of the keystream. */
function fromWords(id: number, symbol: (word: number, index: number) => number): Uint8Array {
  const bytes = keystream(id, 4 * SAMPLES);
  return Uint8Array.from({ length: SAMPLES }, (_, i) => symbol(bytes.readUInt32BE(4 * i), i));
}

const threshold = (probability: number): number => Math.floor(probability * 2 ** 32);

export const INPUTS: Readonly<Record<string, () => Uint8Array>> = {
  'chacha-bits': () => bitsOf(keystream(1, SAMPLES / 8)),
  'chacha-bytes': () => Uint8Array.from(keystream(3, SAMPLES)),
  /** Independent, Pr[1] = 0.55. */
  'biased-055': () => fromWords(4, (word) => Number(word < threshold(0.55))),
  /** A Markov chain that begins with 0 and stays with probability 0.6. */
  'markov-060': () => {
    let state = 0;
    return fromWords(6, (word, i) => {
      if (i > 0) state ^= Number(word >= threshold(0.6));
      return state;
    });
  },
  /** 0xACE1 over and over, most significant bit first, each bit turned over with probability 0.25. */
  'period-16-noise': () =>
    fromWords(8, (word, i) => ((0xace1 >> (15 - (i & 15))) & 1) ^ Number(word < threshold(0.25))),
  /** The binary digits of pi, integer part included. */
  'pi-bits': () => bitsOf(digitsOf('pi', SAMPLES)),
};
