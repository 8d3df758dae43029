import { assert } from '../../core/assert.ts';

/** Symbols renumbered without gaps: every value is below `size`, and every value below `size` occurs. */
export interface Alphabet {
  readonly symbols: Uint8Array;
  /** k, the number of distinct symbols that occur (SP 800-90B 6.3, "alphabet"). */
  readonly size: number;
}

/** Renumbers the symbols that occur as 0..k-1, in order. Returns the array itself when its numbering has no gaps. */
export function compactAlphabet(symbols: Uint8Array): Alphabet {
  const occurs = new Uint8Array(256);
  for (let i = 0; i < symbols.length; i++) occurs[symbols[i]] = 1;
  const numberOf = new Uint8Array(256);
  let size = 0;
  let largest = 0;
  for (let value = 0; value < 256; value++) {
    if (occurs[value] === 0) continue;
    numberOf[value] = size++;
    largest = value;
  }
  if (size === largest + 1) return { symbols, size };
  return { symbols: symbols.map((value) => numberOf[value]), size };
}

/** Returns the bits that any symbol of an alphabet of `size` symbols fits into; at least one. */
export function symbolBits(size: number): number {
  return Math.max(1, 32 - Math.clz32(size - 1));
}

/**
 * Returns symbols of `bitsPerSymbol` bits as a bit string, most significant bit first, one bit per byte (SP 800-90B
 * 3.1.3).
 */
export function bitStringOf(symbols: Uint8Array, bitsPerSymbol: number): Uint8Array {
  const bits = new Uint8Array(symbols.length * bitsPerSymbol);
  let at = 0;
  for (let i = 0; i < symbols.length; i++) {
    const value = symbols[i];
    for (let shift = bitsPerSymbol - 1; shift >= 0; shift--) bits[at++] = (value >>> shift) & 1;
  }
  return bits;
}

/** Returns the first `bitLength` bits of packed bytes, most significant bit first, one bit per byte. */
export function unpackBits(packed: Uint8Array, bitLength: number): Uint8Array {
  assert(bitLength >= 0 && bitLength <= packed.length * 8, 'bitLength lies within the packed bytes');
  const bits = new Uint8Array(bitLength);
  for (let i = 0; i < bitLength; i++) bits[i] = (packed[i >>> 3] >>> (7 - (i & 7))) & 1;
  return bits;
}
