import { assert } from '../core/assert.ts';
import { type BitstringSample, plainBitstring, sampleBitstring, writeBitstring } from './bitstring.ts';
import { type ByteSample, plainBytes, sampleBytes, writeBytes } from './bytes.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { type FloatSample, floatOctets, plainFloats, sampleFloats, writeFloats } from './floats.ts';
import {
  type IntegerSample,
  integerOctets,
  plainIntegers,
  sampleIntegers,
  writeIntegers,
} from './integers.ts';
import { type ShuffleSample, sampleShuffle, writeShuffle } from './shuffle.ts';
import { plainUuids, sampleUuids, type UuidSample, writeUuids } from './uuid.ts';
import type { ValueRequest } from './value-request.ts';

/** The values of one answer, as they were drawn and not yet written. */
export type Sample = IntegerSample | FloatSample | ByteSample | UuidSample | BitstringSample | ShuffleSample;

/** Draws the values. The same bytes give the same values, whatever the chunks they come in. */
export function sample(request: ValueRequest, reader: EntropyReader): Sample {
  switch (request.kind) {
    case 'integers':
      assert(request.count >= 1, 'an answer holds a value');
      return sampleIntegers(reader, request.count, request.min, request.max, request.unique, request.sort);
    case 'floats':
      assert(request.count >= 1, 'an answer holds a value');
      return sampleFloats(reader, request.count, request.precision);
    case 'bytes':
      assert(request.count >= 1 && request.length >= 1, 'an answer holds a value');
      assert(request.count === 1 || !request.single, 'a single string is one value');
      return sampleBytes(reader, request.count, request.length, request.encoding, request.single);
    case 'uuid':
      assert(request.count >= 1, 'an answer holds a value');
      return sampleUuids(reader, request.count);
    case 'bitstring':
      assert(request.length >= 1, 'an answer holds a value');
      return sampleBitstring(reader, request.length);
    case 'shuffle':
      assert(request.items.length >= 1, 'an answer holds a value');
      return sampleShuffle(reader, request.items);
  }
}

/**
 * Writes the values as canonical JSON (RFC 8785) into `target` from `at` on and returns where the text ends. The
 * target has room for `jsonBytesMax` of the request from there; what lies between the end and that may be scratch.
 */
export function writeJson(values: Sample, target: Uint8Array, at: number): number {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  switch (values.kind) {
    case 'integers':
      return writeIntegers(values, view, at);
    case 'floats':
      return writeFloats(values, view, at);
    case 'bytes':
      return writeBytes(values, view, at);
    case 'uuid':
      return writeUuids(values, view, at);
    case 'bitstring':
      return writeBitstring(values, view, at);
    case 'shuffle':
      return writeShuffle(values, view, at);
  }
}

/**
 * The bare values one behind the other: integers as little-endian int32 when min and max fit, else float64; floats as
 * little-endian float64; bytes and UUIDs as they are; bits packed, most significant first. Bytes, UUIDs and bits are
 * the sample's own memory, not a copy. A shuffle has no such form.
 */
export function octetsOf(values: Sample): Uint8Array<ArrayBuffer> {
  switch (values.kind) {
    case 'integers':
      return integerOctets(values);
    case 'floats':
      return floatOctets(values);
    case 'bytes':
    case 'uuid':
    case 'bitstring':
      return values.octets;
    case 'shuffle':
      throw new TypeError('a shuffle has no octets');
  }
}

/** The values as plain JavaScript: number[], string[] or string, the same that the JSON text reads as. */
export function plainOf(values: Sample): number[] | string[] | string {
  switch (values.kind) {
    case 'integers':
      return plainIntegers(values);
    case 'floats':
      return plainFloats(values);
    case 'bytes':
      return plainBytes(values);
    case 'uuid':
      return plainUuids(values);
    case 'bitstring':
      return plainBitstring(values);
    case 'shuffle':
      return values.items.slice();
  }
}
