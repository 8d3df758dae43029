import { assert } from '../core/assert.ts';
import { drawBitstring } from './bitstring.ts';
import { drawBytes } from './bytes.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { drawFloatOctets, drawFloats } from './floats.ts';
import { drawGaussianOctets, drawGaussians } from './gaussians.ts';
import { drawIntegerOctets, drawIntegers } from './integers.ts';
import { eraseWindows } from './kernels.ts';
import { drawList } from './lists.ts';
import type { Output } from './packed.ts';
import { drawUuidOctets, drawUuids } from './uuid.ts';
import { type ValueRequest, valueCount } from './value-request.ts';

/**
 * Draws values and writes them, block by block. The same bytes give the same values, whatever the chunks and the output
 * form.
 */

/**
 * Writes the values as canonical JSON (RFC 8785) into `target` from `at` on, where `jsonBytesMax` of the request fits;
 * returns the end of the text. Writes the same values as MessagePack to `packed`, if given, which has
 * room for `packedBytesMax`.
 */
export function drawJson(
  request: ValueRequest,
  reader: EntropyReader,
  target: Uint8Array,
  at: number,
  packed?: Output,
): number {
  assertValid(request);
  try {
    switch (request.kind) {
      case 'integers':
        return drawIntegers(reader, request, target, at, packed);
      case 'floats':
        return drawFloats(reader, request.count, request.precision, target, at, packed);
      case 'bytes':
        return drawBytes(reader, request, target, at, packed);
      case 'uuid':
        return drawUuids(reader, request.count, target, at, packed);
      case 'bitstring':
        return drawBitstring(reader, request.length, target, at, packed);
      case 'gaussians':
        return drawGaussians(reader, request, target, at, packed);
      default:
        return drawList(reader, request, target, at, packed);
    }
  } finally {
    eraseWindows();
  }
}

/** Writes the values as octets of the type `octetTypeOf`; returns their end, which is `at` plus `octetBytes`. */
export function drawOctets(
  request: ValueRequest,
  reader: EntropyReader,
  target: Uint8Array,
  at: number,
): number {
  assertValid(request);
  try {
    switch (request.kind) {
      case 'integers':
        return drawIntegerOctets(reader, request, target, at);
      case 'floats':
        return drawFloatOctets(reader, request.count, request.precision, target, at);
      case 'gaussians':
        return drawGaussianOctets(reader, request, target, at);
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

function assertValid(request: ValueRequest): void {
  assert(valueCount(request) >= 1, 'an answer holds a value');
  switch (request.kind) {
    case 'bytes':
      assert(request.length >= 1, 'an answer holds a value');
      assert(request.count === 1 || !request.single, 'a single string is one value');
      return;
    case 'bitstring':
      assert(request.length >= 1, 'an answer holds a value');
      return;
    case 'sequences':
      for (const { length } of request.ranges) assert(length >= 1, 'a sequence holds a value');
      return;
    case 'strings':
      assert(request.length >= 1, 'an answer holds a value');
      assertTexts(request.alphabet);
      return;
    case 'sample':
      assert(request.count <= request.items.length, 'a sample is part of its items');
      assertTexts(request.items);
      return;
    case 'weighted':
      assert(request.weights.length === request.items.length, 'each item has a weight');
      assertTexts(request.items);
      return;
    case 'shuffle':
      assertTexts(request.items);
  }
}

function assertTexts(texts: readonly string[]): void {
  assert(texts.length >= 1, 'an answer holds a value');
  for (const text of texts) assert(text.isWellFormed(), 'texts are decoded from UTF-8');
}
