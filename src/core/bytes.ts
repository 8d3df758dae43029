/** Operations on bytes that several rooms share. */

const utf8 = new TextEncoder();

export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return utf8.encode(text);
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  if (hex.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(hex))
    throw new RangeError('hex: not an even run of hex digits');
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = 0;
  for (const part of parts) size += part.length;
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/**
 * The largest sizes, in bytes, for which a loop is faster than a call into the engine. Such a call takes 19 ns to copy
 * a whole array, 24 ns to fill it with zeros and 48 ns to copy a part of it, for which it needs a view.
 */
const PUT_LOOP_MAX = 12;
const ERASE_LOOP_MAX = 20;
const COPY_LOOP_MAX = 28;

/** Copies `size` bytes. The two ranges must not overlap. */
export function copyBytes(
  from: Uint8Array,
  fromAt: number,
  to: Uint8Array,
  toAt: number,
  size: number,
): void {
  if (size <= COPY_LOOP_MAX) {
    for (let i = 0; i < size; i++) to[toAt + i] = from[fromAt + i];
  } else {
    to.set(from.subarray(fromAt, fromAt + size), toAt);
  }
}

/** Returns a copy of `bitLength` bits from `firstBit` on, packed, with zero bits after the last. */
export function bitsFrom(bits: Uint8Array, firstBit: number, bitLength: number): Uint8Array<ArrayBuffer> {
  const first = Math.floor(firstBit / 8);
  const shift = firstBit % 8;
  const window = new Uint8Array(bits.subarray(first, first + Math.ceil(bitLength / 8)));
  for (let i = 0, at = first; shift !== 0 && i < window.length; i++, at++) {
    window[i] = (bits[at] << shift) | (bits[at + 1] >>> (8 - shift)); // undefined past the end counts as 0
  }
  if (bitLength % 8 !== 0) window[window.length - 1] &= 0xff00 >> (bitLength % 8);
  return window;
}

/** Copies all of `from` to `to` at offset `at`; returns the offset after it. */
export function putBytes(from: Uint8Array, to: Uint8Array, at: number): number {
  const size = from.length;
  if (size > PUT_LOOP_MAX) to.set(from, at);
  else for (let i = 0; i < size; i++) to[at + i] = from[i];
  return at + size;
}

/** Overwrites the bytes from offset `from` up to but not including `to` with zeros. */
export function eraseBytes(bytes: Uint8Array, from: number, to: number): void {
  if (to - from <= ERASE_LOOP_MAX) {
    for (let i = from; i < to; i++) bytes[i] = 0;
  } else bytes.fill(0, from, to);
}

/**
 * Returns `size` zero bytes for a secret, outside of the engine's heap. V8 puts a typed array of up to 64 bytes that is
 * made without a buffer on its heap. There the garbage collector moves it, and the first native call that takes the
 * array moves it off the heap. Each move leaves a copy that `wipe` does not reach.
 */
export function secretBytes(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(size));
}

/** Returns a copy outside of the engine's heap. The caller wipes the original and the copy. */
export function secretCopy(secret: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = secretBytes(secret.length);
  copy.set(secret);
  return copy;
}

/**
 * Erases key material. An array that was transferred to another thread is empty here; that thread erases it. JavaScript
 * may hold other copies: SECURITY.md says what the service promises.
 */
export function wipe(...secrets: readonly Uint8Array[]): void {
  for (const secret of secrets) if (secret.length > 0) secret.fill(0);
}

/**
 * From this size on it pays to transfer memory instead of copying it, and to free it before the garbage collector runs.
 */
const LARGE_BYTES = 32 * 1024;

/**
 * Returns whether `bytes` is large and fills its buffer, apart from at most 32 bytes (a key in front of a keystream).
 */
export function isLarge(bytes: Uint8Array<ArrayBuffer>): boolean {
  return bytes.length >= LARGE_BYTES && bytes.length >= bytes.buffer.byteLength - 32;
}

/**
 * Frees the memory of large arrays now; nobody may read them afterwards. Without this, the memory stays until the
 * garbage collector runs: six replies of 40 MB a minute left a gigabyte unfreed, and the keystream of 20,000 small
 * answers a second 17 MB.
 */
export function giveBack(...all: readonly Uint8Array<ArrayBuffer>[]): void {
  for (const bytes of all) if (isLarge(bytes)) bytes.buffer.transfer(0);
}
