import { assert } from '../core/assert.ts';
import { type Blocks, entropyBlocks, writeBlocks } from './blocks.ts';
import {
  appendText,
  BLOCK_VALUES,
  type ByteSource,
  kernels,
  offsetAt,
  putText,
  type StoppingWriter,
  secondResult,
  wideWord,
} from './kernels.ts';
import { drawnBlocks, type OffsetBlocks, planOffsets, remainder, takeWords } from './offsets.ts';
import { type Output, putArrayHead } from './packed.ts';

/** Powers of ten, exact up to 10^22. */
export const POWERS_OF_TEN: readonly number[] = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/** A multiple of 2^-53 takes a word of seven bytes, whose three highest bits are dropped. */
const WORD_BYTES = 7;

function decimalBlocks(source: ByteSource, count: number, precision: number): OffsetBlocks {
  return drawnBlocks(source, planOffsets(denominatorOf(precision)), count);
}

function denominatorOf(precision: number): number {
  assert(precision >= 1 && precision <= 15, 'a double represents up to 15 decimal places uniquely');
  return POWERS_OF_TEN[precision];
}

/**
 * Writes the JSON array of `count` floats. Without a precision each is uniform on the multiples of 2^-53 in [0, 1),
 * from seven bytes; with a precision p of 1 to 15 it is uniform on k / 10^p for 0 <= k < 10^p. Each is in the shortest
 * form that reads back to the same double (RFC 8785 §3.2.2.3). Returns the end of the text.
 */
export function drawFloats(
  source: ByteSource,
  count: number,
  precision: number | null,
  target: Uint8Array,
  start: number,
  packed?: Output,
): number {
  if (packed !== undefined) putArrayHead(count, packed);
  target[start] = 0x5b; // '['
  const end = drawList(source, count, precision, target, start + 1, packed);
  target[end - 1] = 0x5d; // ']' replaces the last comma
  return end;
}

function drawList(
  source: ByteSource,
  count: number,
  precision: number | null,
  target: Uint8Array,
  at: number,
  packed: Output | undefined,
): number {
  if (precision === null)
    return writeBlocks(unitBlocks(source, count), writeUnitBlock, target, at, packed, kernels.packedUnits);
  if (packed !== undefined)
    return writeDecimals(decimalBlocks(source, count, precision), precision, target, at, packed);
  switch (precision) {
    case 5:
    case 6:
      return drawPlaces(source, count, precision, target, at);
    case 15:
      return drawFifteenPlaces(source, count, target, at);
    default:
      return writeDecimals(decimalBlocks(source, count, precision), precision, target, at);
  }
}

/** Copies the words of multiples of 2^-53 into the window. */
function unitBlocks(source: ByteSource, count: number): Blocks {
  return entropyBlocks(source, count, WORD_BYTES, BLOCK_VALUES);
}

/** Writes the words in the window as multiples of 2^-53. */
function writeUnitBlock(words: number): number {
  return writeStopping(kernels.shortestOfWords, words, 0, (i) => `${wideWord(i) * 2 ** -53},`);
}

/** Five or six places: one word of 32 bits gives one value, and the kernel computes its digits while it draws. */
function drawPlaces(
  source: ByteSource,
  count: number,
  precision: 5 | 6,
  target: Uint8Array,
  start: number,
): number {
  const refused = remainder(2 ** 32, POWERS_OF_TEN[precision]);
  let at = start;
  for (let missing = count; missing > 0; ) {
    const words = takeWords(source, 4, missing);
    const size = precision === 5 ? kernels.fivePlaces(words, refused) : kernels.sixPlaces(words, refused);
    missing -= secondResult();
    at = putText(size, target, at);
  }
  return at;
}

/** Fifteen places: one word of seven bytes gives one value, as planOffsets chooses for 10^15. */
function drawFifteenPlaces(source: ByteSource, count: number, target: Uint8Array, start: number): number {
  const denominator = POWERS_OF_TEN[15];
  const accepted = 2 ** 53 - (2 ** 53 % denominator);
  let at = start;
  let missing = count;
  const textAt = (i: number): string => {
    const word = wideWord(i);
    if (word < accepted) return `${(word % denominator) / denominator},`;
    missing++;
    return '';
  };
  while (missing > 0) {
    const words = takeWords(source, WORD_BYTES, missing);
    missing -= words;
    at = putText(writeStopping(kernels.fifteenPlaces, words, 0, textAt), target, at);
  }
  return at;
}

/** Writes each k / 10^precision and a comma, where the offsets are the k; returns their end. */
export function writeDecimals(
  blocks: OffsetBlocks,
  precision: number,
  target: Uint8Array,
  start: number,
  packed?: Output,
): number {
  const pack = blocks.isWide ? kernels.packedQuotients64 : kernels.packedQuotients32;
  const write = (count: number) => writeDecimalBlock(count, precision, blocks.isWide);
  return writeBlocks(blocks, write, target, start, packed, (count) => pack(count, denominatorOf(precision)));
}

/*
 * Why the decimal digits of k / 10^p without trailing zeros are the shortest form: decimals of up to 15
 * significant digits are farther apart than doubles, so no two of them read as the same double (C11
 * 5.2.4.2.2, DBL_DIG = 15). The correctly rounded quotient k / 10^p is the double that its own decimal
 * reads as. A shorter decimal for the same double would be a second one of at most 15 digits. Below 10^-6
 * JavaScript prints an exponent (ECMA-262 6.1.6.1.20).
 */
function writeDecimalBlock(count: number, precision: number, wide: boolean): number {
  const write = wide ? kernels.decimals64 : kernels.decimals32;
  const scale = 10 * POWERS_OF_TEN[15 - precision];
  return writeStopping(write, count, scale, (i) => `${offsetAt(i, wide) / POWERS_OF_TEN[precision]},`);
}

/** Lets a kernel write the block. At values where it stops, which are rare, the text comes from JavaScript. */
function writeStopping(
  write: StoppingWriter,
  count: number,
  scale: number,
  textAt: (i: number) => string,
): number {
  let size = 0;
  for (let from = 0; ; from++) {
    from = write(from, count, size, scale);
    size = secondResult();
    if (from === count) return size;
    size = appendText(size, textAt(from));
  }
}

/** Writes the values as float64; returns their end. */
export function drawFloatOctets(
  source: ByteSource,
  count: number,
  precision: number | null,
  target: Uint8Array,
  start: number,
): number {
  if (precision === null) {
    const write = (words: number) => {
      kernels.unitOctets(words);
      return 8 * words;
    };
    return writeBlocks(unitBlocks(source, count), write, target, start);
  }
  const blocks = decimalBlocks(source, count, precision);
  const octets = blocks.isWide ? kernels.float64Octets64 : kernels.float64Octets32;
  const write = (drawn: number) => {
    // The correctly rounded k / 10^p is the double that the decimal text of k / 10^p reads as.
    octets(drawn, 0, denominatorOf(precision));
    return 8 * drawn;
  };
  return writeBlocks(blocks, write, target, start);
}

/**
 * Length of the longest text of a multiple of 2^-53: five zeros after the point and 17 digits,
 * `0.0000012345678901234567`.
 */
const BINARY_TEXT_MAX = 24;

/** Returns an upper bound of the text size of `count` values. */
export function floatsTextMax(count: number, precision: number | null): number {
  return 2 + count * ((precision === null ? BINARY_TEXT_MAX : 2 + precision) + 1);
}
