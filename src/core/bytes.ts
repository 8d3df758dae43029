/** Small operations on bytes that several rooms share. */

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

/** Up to here a loop is faster than a call into the engine, which takes 19 ns for whole arrays, 24 for zeros and 48 with a view. */
const PUT_LOOP_MAX = 12;
const ERASE_LOOP_MAX = 20;
const COPY_LOOP_MAX = 28;

/** Copies `size` bytes between arrays that do not share them. */
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

/** A copy of `bitLength` bits from `firstBit` on, packed, with zeros behind the last. */
export function bitsFrom(bits: Uint8Array, firstBit: number, bitLength: number): Uint8Array<ArrayBuffer> {
  const first = Math.floor(firstBit / 8);
  const shift = firstBit % 8;
  const window = new Uint8Array(bits.subarray(first, first + Math.ceil(bitLength / 8)));
  for (let i = 0, at = first; shift !== 0 && i < window.length; i++, at++) {
    window[i] = (bits[at] << shift) | (bits[at + 1] >>> (8 - shift)); // nothing is carried behind the end
  }
  if (bitLength % 8 !== 0) window[window.length - 1] &= 0xff00 >> (bitLength % 8);
  return window;
}

/** Writes all of `from` at `at`; returns where it ends. */
export function putBytes(from: Uint8Array, to: Uint8Array, at: number): number {
  const size = from.length;
  if (size > PUT_LOOP_MAX) to.set(from, at);
  else for (let i = 0; i < size; i++) to[at + i] = from[i];
  return at + size;
}

/** Erases the bytes from `from` to `to`. */
export function eraseBytes(bytes: Uint8Array, from: number, to: number): void {
  if (to - from <= ERASE_LOOP_MAX) {
    for (let i = from; i < to; i++) bytes[i] = 0;
  } else bytes.fill(0, from, to);
}

/**
 * Zeros for a secret, off the engine's heap. A typed array of up to 64 bytes that is made without a buffer
 * lives on the heap (V8): the garbage collector moves it about, and the first native call that takes it moves it off,
 * leaving a copy that `wipe` does not reach.
 */
export function secretBytes(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(size));
}

/** A copy off the engine's heap; the caller wipes both. */
export function secretCopy(secret: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = secretBytes(secret.length);
  copy.set(secret);
  return copy;
}

/**
 * Erases key material. What moved to another thread is empty here, and erased there. JavaScript may hold
 * copies elsewhere; SECURITY.md says what this does and does not promise.
 */
export function wipe(...secrets: readonly Uint8Array[]): void {
  for (const secret of secrets) if (secret.length > 0) secret.fill(0);
}

/** From here on memory is worth moving instead of copying it, and worth giving back before the garbage collector looks for it. */
const LARGE_BYTES = 32 * 1024;

/** Large, and alone in its buffer but for what a head of 32 bytes took. */
export function isLarge(bytes: Uint8Array<ArrayBuffer>): boolean {
  return bytes.length >= LARGE_BYTES && bytes.length >= bytes.buffer.byteLength - 32;
}

/**
 * Gives large memory back to the system now, of which nobody reads anything any more. The garbage collector would do so when it
 * next runs: six replies of 40 MB each minute left a gigabyte of dead ones, and the pieces of keystream that 20,000 small answers a second read 17 MB.
 */
export function giveBack(...all: readonly Uint8Array<ArrayBuffer>[]): void {
  for (const bytes of all) if (isLarge(bytes)) bytes.buffer.transfer(0);
}
