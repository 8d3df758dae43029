import { assert } from '../core/assert.ts';
import { writeAscii, writeTrimmedEightDigits } from './digits.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { drawOffsets, type Offsets } from './offsets.ts';
import { writeShortest } from './shortest.ts';

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

/**
 * `count` floats, each uniform on the multiples of 2^-53 in [0, 1), made of seven bytes; or, with a precision p of
 * 1 to 15, uniform on k / 10^p for 0 <= k < 10^p.
 */
export function sampleFloats(reader: EntropyReader, count: number, precision: number | null): FloatSample {
  if (precision !== null) {
    assert(precision >= 1 && precision <= 15, 'a double tells 15 decimal places apart');
    return { kind: 'floats', precision, numerators: drawOffsets(reader, POWERS_OF_TEN[precision], count) };
  }
  const values = new Float64Array(count);
  reader.fillWide(values, 0, count, 3);
  for (let i = 0; i < count; i++) values[i] *= 2 ** -53;
  return { kind: 'floats', precision, values };
}

/** The JSON array of the values, each in the shortest form that reads back to the same double (RFC 8785 §3.2.2.3). */
export function writeFloats(sample: FloatSample, view: DataView, at: number): number {
  view.setUint8(at, 0x5b); // '['
  const end =
    sample.precision === null
      ? writeBinary(sample.values, view, at + 1)
      : sample.precision <= 8
        ? writeShortDecimals(sample.numerators, sample.precision, view, at + 1)
        : writeLongDecimals(sample.numerators, sample.precision, view, at + 1);
  view.setUint8(end - 1, 0x5d); // ']' over the last comma
  return end;
}

function writeBinary(values: Float64Array, view: DataView, start: number): number {
  let at = start;
  for (let i = 0; i < values.length; i++) {
    at = writeShortest(view, at, values[i]);
    view.setUint8(at++, 0x2c); // ','
  }
  return at;
}

/*
 * Why the decimal digits of k / 10^p without trailing zeros are the shortest form: decimals of up to 15 significant
 * digits are farther apart than doubles, so no two of them read as the same double (C11 5.2.4.2.2, DBL_DIG = 15), and
 * k / 10^p, divided with correct rounding, is the double that its own decimal reads as. A shorter decimal for the same
 * double would be a second one of at most 15 digits. Below 10^-6 JavaScript prints an exponent (ECMA-262 6.1.6.1.20).
 */

/** Precision 1 to 8: all digits at once. */
function writeShortDecimals(numerators: Offsets, precision: number, view: DataView, start: number): number {
  const scale = POWERS_OF_TEN[8 - precision];
  const plainFrom = POWERS_OF_TEN[Math.max(0, precision - 6)];
  let at = start;
  for (let i = 0; i < numerators.length; i++) {
    const numerator = numerators[i];
    if (numerator < plainFrom) {
      at = writeAscii(view, at, String(numerator / POWERS_OF_TEN[precision]));
    } else {
      view.setUint16(at, 0x2e30, true); // '0.'
      at = writeTrimmedEightDigits(view, (at + 2) | 0, Math.imul(numerator, scale));
    }
    view.setUint8(at, 0x2c);
    at = (at + 1) | 0;
  }
  return at;
}

/** Precision 9 to 15: eight digits and then the rest. */
function writeLongDecimals(numerators: Offsets, precision: number, view: DataView, start: number): number {
  const divisor = POWERS_OF_TEN[precision - 8];
  const scale = POWERS_OF_TEN[16 - precision];
  const plainFrom = POWERS_OF_TEN[precision - 6];
  let at = start;
  for (let i = 0; i < numerators.length; i++) {
    const numerator = numerators[i];
    if (numerator < plainFrom) {
      at = writeAscii(view, at, String(numerator / POWERS_OF_TEN[precision]));
    } else {
      // The rounded quotient does not reach the next whole number: it is below 2^27, where half the spacing of doubles
      // is at most 2^-27 < 10^-7, the least distance that a fraction with this denominator has from it.
      const high = Math.floor(numerator / divisor) | 0;
      const low = ((numerator - high * divisor) * scale) | 0;
      view.setUint16(at, 0x2e30, true);
      const middle = (at + 10) | 0;
      const endOfHigh = writeTrimmedEightDigits(view, (at + 2) | 0, high);
      at = low === 0 ? endOfHigh : writeTrimmedEightDigits(view, middle, low);
    }
    view.setUint8(at, 0x2c);
    at = (at + 1) | 0;
  }
  return at;
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

/** Longest text of a multiple of 2^-53: five zeros behind the point and 17 digits, `0.0000012345678901234567`. */
const BINARY_TEXT_MAX = 24;

/** An upper bound of the text of `count` values. */
export function floatsTextMax(count: number, precision: number | null): number {
  return 2 + count * ((precision === null ? BINARY_TEXT_MAX : 2 + precision) + 1);
}
