import { assert } from '../core/assert.ts';
import type { EntropyReader } from './entropy-reader.ts';
import {
  appendText,
  BLOCK_VALUES,
  type ByteSource,
  kernels,
  offsetAt,
  offsets64,
  putText,
  type StoppingWriter,
  secondResult,
  useOffsets,
  wideWord,
} from './kernels.ts';
import {
  drawBlock,
  drawOffsets,
  isWide,
  type Offsets,
  planOffsets,
  putBlock,
  remainder,
  takeWords,
} from './offsets.ts';

/** Multiples of 2^-53 in [0, 1). */
interface BinaryFloatSample {
  readonly kind: 'floats';
  readonly precision: null;
  readonly values: Float64Array<ArrayBuffer>;
}

/** Multiples of 10^-precision in [0, 1): numerator / 10^precision. */
interface DecimalFloatSample {
  readonly kind: 'floats';
  readonly precision: number;
  readonly numerators: Offsets;
}

export type FloatSample = BinaryFloatSample | DecimalFloatSample;

/** Powers of ten, exact up to 10^22. */
export const POWERS_OF_TEN: readonly number[] = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/** A multiple of 2^-53 takes a word of seven bytes, of which the three topmost bits are dropped. */
const WORD_BYTES = 7;

/**
 * `count` floats, each uniform on the multiples of 2^-53 in [0, 1), made of seven bytes; or, with a precision p of
 * 1 to 15, uniform on k / 10^p for 0 <= k < 10^p.
 */
export function sampleFloats(reader: EntropyReader, count: number, precision: number | null): FloatSample {
  if (precision !== null) {
    return { kind: 'floats', precision, numerators: drawOffsets(reader, denominatorOf(precision), count) };
  }
  const numerators = drawOffsets(reader, 2 ** 53, count) as Float64Array<ArrayBuffer>;
  return { kind: 'floats', precision, values: numerators.map((numerator) => numerator * 2 ** -53) };
}

function denominatorOf(precision: number): number {
  assert(precision >= 1 && precision <= 15, 'a double tells 15 decimal places apart');
  return POWERS_OF_TEN[precision];
}

/** What `writeFloats` writes of a sample, drawn and written block by block. */
export function drawFloats(
  source: ByteSource,
  count: number,
  precision: number | null,
  target: Uint8Array,
  start: number,
): number {
  target[start] = 0x5b; // '['
  const end = drawList(source, count, precision, target, start + 1);
  target[end - 1] = 0x5d; // ']' over the last comma
  return end;
}

function drawList(
  source: ByteSource,
  count: number,
  precision: number | null,
  target: Uint8Array,
  at: number,
): number {
  switch (precision) {
    case null:
      return drawBinary(source, count, target, at);
    case 5:
    case 6:
      return drawPlaces(source, count, precision, target, at);
    case 15:
      return drawFifteenPlaces(source, count, target, at);
    default:
      return drawDecimal(source, count, precision, target, at);
  }
}

/**
 * The JSON array of the values, each in the shortest form that reads back to the same double (RFC 8785
 * §3.2.2.3).
 */
export function writeFloats(sample: FloatSample, target: Uint8Array, start: number): number {
  target[start] = 0x5b;
  const at = start + 1;
  const end =
    sample.precision === null
      ? writeBinary(sample.values, target, at)
      : writeDecimal(sample.numerators, sample.precision, target, at);
  target[end - 1] = 0x5d;
  return end;
}

function drawBinary(source: ByteSource, count: number, target: Uint8Array, start: number): number {
  let at = start;
  for (let missing = count; missing > 0; ) {
    const drawn = takeWords(source, WORD_BYTES, missing);
    const size = writeStopping(kernels.shortestOfWords, drawn, 0, (i) => `${wideWord(i) * 2 ** -53},`);
    at = putText(size, target, at);
    missing -= drawn;
  }
  return at;
}

function writeBinary(values: Float64Array, target: Uint8Array, start: number): number {
  let at = start;
  for (let done = 0; done < values.length; done += BLOCK_VALUES) {
    const block = values.subarray(done, done + BLOCK_VALUES);
    useOffsets(block.byteLength);
    offsets64.set(block);
    kernels.fromDoubles(block.length, 2 ** 53);
    const size = writeStopping(kernels.shortestOfOffsets, block.length, 0, (i) => `${block[i]},`);
    at = putText(size, target, at);
  }
  return at;
}

/** Five or six places: one word of 32 bits gives one value, whose digits come with the draw. */
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

/** Fifteen places: one word of seven bytes gives one value, as planned for 10^15. */
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

function drawDecimal(
  source: ByteSource,
  count: number,
  precision: number,
  target: Uint8Array,
  start: number,
): number {
  const plan = planOffsets(denominatorOf(precision));
  let at = start;
  for (let missing = count; missing > 0; ) {
    const drawn = drawBlock(source, plan, missing);
    at = putText(writeDecimalBlock(drawn, precision, isWide(plan)), target, at);
    missing -= drawn;
  }
  return at;
}

function writeDecimal(numerators: Offsets, precision: number, target: Uint8Array, start: number): number {
  let at = start;
  for (let done = 0; done < numerators.length; ) {
    const count = putBlock(numerators, done);
    const size = writeDecimalBlock(count, precision, numerators instanceof Float64Array);
    at = putText(size, target, at);
    done += count;
  }
  return at;
}

/*
 * Why the decimal digits of k / 10^p without trailing zeros are the shortest form: decimals of up to 15
 * significant digits are farther apart than doubles, so no two of them read as the same double (C11
 * 5.2.4.2.2, DBL_DIG = 15), and k / 10^p, divided with correct rounding, is the double that its own decimal
 * reads as. A shorter decimal for the same double would be a second one of at most 15 digits. Below 10^-6
 * JavaScript prints an exponent (ECMA-262 6.1.6.1.20).
 */
function writeDecimalBlock(count: number, precision: number, wide: boolean): number {
  const write = wide ? kernels.decimals64 : kernels.decimals32;
  const scale = 10 * POWERS_OF_TEN[15 - precision];
  return writeStopping(write, count, scale, (i) => `${offsetAt(i, wide) / POWERS_OF_TEN[precision]},`);
}

/** Has a kernel write the block; where it stops, which is rare, the text of JavaScript is put in. */
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

export function plainFloats(sample: FloatSample): number[] {
  if (sample.precision === null) return Array.from(sample.values);
  const denominator = POWERS_OF_TEN[sample.precision];
  return Array.from(sample.numerators, (numerator) => numerator / denominator);
}

/** Little-endian float64. */
export function floatOctets(sample: FloatSample): Uint8Array<ArrayBuffer> {
  const values = plainFloats(sample);
  const octets = new Uint8Array(8 * values.length);
  const view = new DataView(octets.buffer);
  for (let i = 0; i < values.length; i++) view.setFloat64(8 * i, values[i], true);
  return octets;
}

/**
 * Longest text of a multiple of 2^-53: five zeros behind the point and 17 digits, `0.0000012345678901234567`.
 */
const BINARY_TEXT_MAX = 24;

/** An upper bound of the text of `count` values. */
export function floatsTextMax(count: number, precision: number | null): number {
  return 2 + count * ((precision === null ? BINARY_TEXT_MAX : 2 + precision) + 1);
}
