import { assert } from '../core/assert.ts';
import type { OctetType } from '../core/vocabulary.ts';
import { drawBitstring } from './bitstring.ts';
import { drawBytes } from './bytes.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { drawFloatOctets, drawFloats } from './floats.ts';
import { drawIntegerOctets, drawIntegers } from './integers.ts';
import { eraseWindows } from './kernels.ts';
import { type Output, writeBoth } from './packed.ts';
import { drawShuffle } from './shuffle.ts';
import { drawUuidOctets, drawUuids } from './uuid.ts';
import { octetTypesOf, type ValueRequest } from './value-request.ts';

/**
 * Draws values and writes them, block by block. The same bytes give the same values, whatever the chunks they come in
 * and whatever form they are written in.
 */

/**
 * Writes the values as canonical JSON (RFC 8785) into `target` from `at` on; returns where the text ends. The target has
 * room for `jsonBytesMax` of the request from there.
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
        return drawIntegers(reader, request, target, at);
      case 'floats':
        return drawFloats(reader, request.count, request.precision, target, at);
      case 'bytes':
        return drawBytes(reader, request, target, at);
      case 'uuid':
        return drawUuids(reader, request.count, target, at);
      case 'bitstring':
        return drawBitstring(reader, request.length, target, at);
      case 'shuffle':
        return drawShuffle(reader, request.items, target, at);
    }
  } finally {
    eraseWindows();
  }
}

/**
 * Writes the values as octets of a type that `octetTypesOf` the request has; returns where they end, `octetBytes` of the
 * request from `at`.
 */
export function drawOctets(
  request: ValueRequest,
  type: OctetType,
  reader: EntropyReader,
  target: Uint8Array,
  at: number,
): number {
  assertValid(request);
  assert(octetTypesOf(request).includes(type), 'the values have octets of this type');
  try {
    switch (request.kind) {
      case 'integers':
        return drawIntegerOctets(reader, request, type, target, at);
      case 'floats':
        return drawFloatOctets(reader, request.count, request.precision, target, at);
      case 'uuid':
        return drawUuidOctets(reader, request.count, target, at);
      case 'bytes': {
        const end = at + request.count * request.length;
        reader.fill(target, at, end);
        return end;
      }
      default:
        throw new TypeError(`${request.kind} has no octets`);
    }
  } finally {
    eraseWindows();
  }
}

/**
 * Writes the values as JSON to `text` and as MessagePack to `packed`, which have room for `jsonBytesMax` of the request and
 * for `packedBytesMax`.
 */
export function drawPacked(request: ValueRequest, reader: EntropyReader, text: Output, packed: Output): void {
  assertValid(request);
  try {
    writeBoth(request, reader, text, packed);
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
