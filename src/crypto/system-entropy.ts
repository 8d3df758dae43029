import { randomFillSync } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { secretBytes, wipe } from '../core/bytes.ts';
import type { SystemGenerator } from '../core/vocabulary.ts';
import { CHACHA20_KEY_BYTES, chacha20 } from './chacha20.ts';

/**
 * The only source of system entropy: for seeds, mixing, salts, nonces, keys and the csprng mode.
 *
 * node:crypto reads OpenSSL's DRBG, which lives in the memory of this process and is reseeded from the kernel
 * only now and then: whoever has copied that memory can compute its output until the next reseed. So
 * this file reads the kernel instead, with a system call for each key. Larger amounts are expanded by ChaCha20 from 32
 * fresh kernel bytes for each piece, because reading the device costs ten times as much per byte. The key is erased
 * before the piece is handed out, so an image of the memory reveals the pieces that are in it and no later ones.
 */

const DEVICE = '/dev/urandom';

/** The device, open in this thread as long as it runs; undefined where the platform has none (Windows). */
const device = openDevice();

export const SYSTEM_GENERATOR: SystemGenerator = device === undefined ? 'openssl' : 'kernel';

const NONCE = new Uint8Array(12);
/** The largest piece, which is what the service expands from one key (crypto/expander.ts). */
const PIECE_BYTES_MAX = 65_536;
const ZEROS = new Uint8Array(PIECE_BYTES_MAX);

/**
 * Overwrites `out` with bytes of the kernel's generator, or of OpenSSL's where SYSTEM_GENERATOR says so, and
 * returns it. Throws when the device cannot be read: a running service has no substitute for it.
 */
export function fillSystemEntropy<Bytes extends Uint8Array | Uint32Array>(out: Bytes): Bytes {
  if (device === undefined) return randomFillSync(out);
  let at = 0;
  while (at < out.byteLength) {
    const count = readSync(device, out, at, out.byteLength - at, null);
    if (count === 0) throw new Error(`${DEVICE} is at its end, so it is not a generator`);
    at += count;
  }
  return out;
}

/** Returns a uniform integer of 0 to `bound` - 1; `bound` is at most 2^32. */
export function drawSystemInteger(bound: number): number {
  const limit = 2 ** 32 - (2 ** 32 % bound);
  for (;;) {
    const [word] = fillSystemEntropy(new Uint32Array(1));
    if (word < limit) return word % bound;
  }
}

/** Returns `size` bytes, at most 64 KiB, expanded by ChaCha20 from 32 fresh bytes of the kernel's generator. */
export function expandSystemEntropy(size: number): Uint8Array<ArrayBuffer> {
  if (size > PIECE_BYTES_MAX) throw new RangeError('expandSystemEntropy: a piece has at most 64 KiB');
  const key = fillSystemEntropy(secretBytes(CHACHA20_KEY_BYTES));
  const piece = chacha20(key, NONCE, 0, ZEROS.subarray(0, size));
  wipe(key);
  return piece;
}

/** Opens the device, unless a regular file has its name, as in a broken chroot. */
function openDevice(): number | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(DEVICE, 'r');
    if (fstatSync(opened).isCharacterDevice()) return opened;
  } catch {
    // The device does not exist or may not be read.
  }
  if (opened !== undefined) closeSync(opened);
  return undefined;
}
