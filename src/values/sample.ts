import { assert } from '../core/assert.ts';
import { type BitstringSample, drawBitstring, plainBitstring, sampleBitstring } from './bitstring.ts';
import { type ByteSample, drawBytes, plainBytes, sampleBytes } from './bytes.ts';
import { copyBytes } from './copy-bytes.ts';
import type { EntropyReader } from './entropy-reader.ts';
import {
  drawFloats,
  type FloatSample,
  floatOctets,
  plainFloats,
  sampleFloats,
  writeFloats,
} from './floats.ts';
import {
  drawIntegers,
  type IntegerSample,
  integerOctets,
  plainIntegers,
  sampleIntegers,
  writeIntegers,
} from './integers.ts';
import { type ByteSource, eraseWindows } from './kernels.ts';
import { type ShuffleSample, sampleShuffle, writeShuffle } from './shuffle.ts';
import { drawUuids, plainUuids, sampleUuids, UUID_BYTES, type UuidSample } from './uuid.ts';
import type { ValueRequest } from './value-request.ts';

/** The values of one answer, as they were drawn and not yet written. */
export type Sample = IntegerSample | FloatSample | ByteSample | UuidSample | BitstringSample | ShuffleSample;

/**
 * Draws the values and writes them as canonical JSON (RFC 8785) into `target` from `at` on, in one go;
 * returns where the text ends. It is what `writeJson` writes of `sample`, for whoever needs the text alone.
 * The target has room for
 * `jsonBytesMax` of the request from there.
 */
export function drawJson(
  request: ValueRequest,
  reader: EntropyReader,
  target: Uint8Array,
  at: number,
): number {
  assertValid(request);
  try {
    switch (request.kind) {
      case 'integers':
        if (request.unique || request.sort !== 'none') break;
        return drawIntegers(reader, request.count, request.min, request.max, target, at);
      case 'floats':
        return drawFloats(reader, request.count, request.precision, target, at);
      case 'bytes':
        return drawBytes(reader, request, target, at);
      case 'uuid':
        return drawUuids(reader, request.count, target, at);
      case 'bitstring':
        return drawBitstring(reader, request.length, target, at);
      case 'shuffle':
        break;
    }
    return write(draw(request, reader), target, at);
  } finally {
    eraseWindows();
  }
}

/** Draws the values. The same bytes give the same values, whatever the chunks they come in. */
export function sample(request: ValueRequest, reader: EntropyReader): Sample {
  assertValid(request);
  try {
    return draw(request, reader);
  } finally {
    eraseWindows();
  }
}

function assertValid(request: ValueRequest): void {
  switch (request.kind) {
    case 'integers':
    case 'floats':
    case 'uuid':
      assert(request.count >= 1, 'an answer holds a value');
      return;
    case 'bytes':
      assert(request.count >= 1 && request.length >= 1, 'an answer holds a value');
      assert(request.count === 1 || !request.single, 'a single string is one value');
      return;
    case 'bitstring':
      assert(request.length >= 1, 'an answer holds a value');
      return;
    case 'shuffle':
      assert(request.items.length >= 1, 'an answer holds a value');
  }
}

function draw(request: ValueRequest, reader: EntropyReader): Sample {
  switch (request.kind) {
    case 'integers':
      return sampleIntegers(reader, request.count, request.min, request.max, request.unique, request.sort);
    case 'floats':
      return sampleFloats(reader, request.count, request.precision);
    case 'bytes':
      return sampleBytes(reader, request.count, request.length, request.encoding, request.single);
    case 'uuid':
      return sampleUuids(reader, request.count);
    case 'bitstring':
      return sampleBitstring(reader, request.length);
    case 'shuffle':
      return sampleShuffle(reader, request.items);
  }
}

/** Writes the values as `drawJson` does. */
export function writeJson(values: Sample, target: Uint8Array, at: number): number {
  try {
    return write(values, target, at);
  } finally {
    eraseWindows();
  }
}

function write(values: Sample, target: Uint8Array, at: number): number {
  switch (values.kind) {
    case 'integers':
      return writeIntegers(values, target, at);
    case 'floats':
      return writeFloats(values, target, at);
    case 'bytes': {
      const count = values.octets.length / values.length;
      return drawBytes(drawnBefore(values.octets), { ...values, count }, target, at);
    }
    case 'uuid':
      return drawUuids(drawnBefore(values.octets), values.octets.length / UUID_BYTES, target, at);
    case 'bitstring':
      return drawBitstring(drawnBefore(values.octets), values.length, target, at);
    case 'shuffle':
      return writeShuffle(values, target, at);
  }
}

/** Bytes that were drawn, to be written as if they were drawn now. */
function drawnBefore(octets: Uint8Array): ByteSource {
  let at = 0;
  return {
    fill(out, start, end) {
      copyBytes(octets, at, out, start, end - start);
      at += end - start;
    },
  };
}

/**
 * The bare values one behind the other: integers as little-endian int32 when min and max fit, else float64;
 * floats as little-endian float64; bytes and UUIDs as they are; bits packed, most significant first. Bytes,
 * UUIDs and bits are the sample's own memory, not a copy. A shuffle has no such form.
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
