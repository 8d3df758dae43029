import type { OctetType } from '../core/vocabulary.ts';
import { bitstringTextMax } from './bitstring.ts';
import { type ByteEncoding, bytesTextMax } from './bytes.ts';
import { descendingBytesMax } from './descending.ts';
import { floatsTextMax, POWERS_OF_TEN } from './floats.ts';
import { GAUSSIAN_TEXT_MAX, type GaussiansRequest, gaussianBytesMax, gaussianChoices } from './gaussians.ts';
import { bitsOfChoices, type Choices } from './information.ts';
import { fitsInt32, integersTextMax, type SortOrder, spanOf } from './integers.ts';
import { weightSpan } from './lists.ts';
import { offsetBytesMax, planOffsets } from './offsets.ts';
import { uniqueBytesMax } from './unique.ts';
import { UUID_BYTES, uuidsTextMax } from './uuid.ts';

/**
 * The values that an answer holds. Counts and lengths are integers from 1 on. The entry points of the service check its
 * limits (core/limits.ts).
 */
export type ValueRequest =
  | {
      readonly kind: 'integers';
      readonly count: number;
      /** min <= max, max - min below 2^53. */
      readonly min: number;
      readonly max: number;
      /** True: without repeats; then count <= max - min + 1. */
      readonly unique: boolean;
      readonly sort: SortOrder;
    }
  | {
      readonly kind: 'floats';
      readonly count: number;
      /** Decimal places, 1 to 15; null: multiples of 2^-53. */
      readonly precision: number | null;
    }
  | {
      readonly kind: 'bytes';
      readonly count: number;
      /** Size of each value, in bytes. */
      readonly length: number;
      readonly encoding: ByteEncoding;
      /** True: count is 1 and the answer is one JSON string. False: an array of strings. */
      readonly single: boolean;
    }
  | { readonly kind: 'uuid'; readonly count: number }
  | {
      readonly kind: 'bitstring';
      /** Count of bits. */
      readonly length: number;
    }
  | GaussiansRequest
  | ListRequest;

/** One of the ranges whose sequences are drawn together. */
export interface SequenceRange {
  readonly length: number;
  /** min <= max, max - min below 2^53. */
  readonly min: number;
  readonly max: number;
  /** True: without repeats; then length <= max - min + 1. */
  readonly unique: boolean;
}

/** Kinds whose values are picked from a list or come in lists (lists.ts). */
export type ListRequest =
  | { readonly kind: 'shuffle'; readonly items: readonly string[] }
  | {
      readonly kind: 'sample';
      /** At most the count of items. */
      readonly count: number;
      readonly items: readonly string[];
    }
  | {
      readonly kind: 'weighted';
      readonly count: number;
      readonly items: readonly string[];
      /** An integer from 1 on for each item; their sum is at most 2^53. */
      readonly weights: readonly number[];
    }
  | {
      readonly kind: 'strings';
      readonly count: number;
      /** Count of characters of each string. */
      readonly length: number;
      /** Distinct code points. */
      readonly alphabet: readonly string[];
    }
  | {
      readonly kind: 'sequences';
      /** How many times all sequences are drawn. */
      readonly count: number;
      readonly ranges: readonly SequenceRange[];
      readonly sort: SortOrder;
    }
  | {
      readonly kind: 'permutations';
      readonly count: number;
      /** Each permutes the numbers from 0 to length - 1. */
      readonly length: number;
    };

/** Returns the answer's `count`: how many values it holds; a bitstring is one. */
export function valueCount(request: ValueRequest): number {
  switch (request.kind) {
    case 'bytes':
      return request.single ? request.length : request.count;
    case 'bitstring':
      return 1;
    case 'shuffle':
      return request.items.length;
    case 'sequences':
      return request.count * request.ranges.reduce((sum, { length }) => sum + length, 0);
    case 'permutations':
      return request.count * request.length;
    default:
      return request.count;
  }
}

/** Returns the count of draws that are made one after the other. Each costs as much as some 25 numbers of a long draw. */
export function drawCount(request: ValueRequest): number {
  switch (request.kind) {
    case 'sequences':
      return request.count * request.ranges.length;
    case 'permutations':
    case 'gaussians':
      return request.count;
    default:
      return 1;
  }
}

/** Returns the independent choices that the answer consists of: they set its price and bound its entropy. */
function choicesOf(request: ValueRequest): readonly Choices[] {
  switch (request.kind) {
    case 'integers':
      return [choices(spanOf(request.min, request.max), request.count, request.unique)];
    case 'floats':
      return [choices(floatSpan(request.precision), request.count)];
    case 'bytes':
      return [choices(256, request.count * request.length)];
    case 'uuid':
      return [choices(2 ** 122, request.count)];
    case 'bitstring':
      return [choices(2, request.length)];
    case 'shuffle':
      return [choices(request.items.length, request.items.length, true)];
    case 'sample':
      return [choices(request.items.length, request.count, true)];
    case 'weighted':
      return [choices(weightSpan(request.weights), request.count)];
    case 'strings':
      return [choices(request.alphabet.length, request.count * request.length)];
    case 'sequences':
      return request.ranges.map(({ length, min, max, unique }) =>
        choices(spanOf(min, max), length, unique, request.count),
      );
    case 'permutations':
      return [choices(request.length, request.length, true, request.count)];
    case 'gaussians':
      return [choices(gaussianChoices(request), request.count)];
  }
}

function choices(of: number, count: number, unique = false, times = 1): Choices {
  return { of, count, unique, times };
}

function floatSpan(precision: number | null): number {
  return precision === null ? 2 ** 53 : POWERS_OF_TEN[precision];
}

/**
 * Returns the entropy of the answer in bits: the logarithm of the number of possible answers. A price is this
 * rounded up to bytes, and ceil(bits / 8) is exact (information.ts). Sorting a sample without repeats does
 * not make it cheaper.
 */
export function informationBits(request: ValueRequest): number {
  return bitsOfChoices(choicesOf(request));
}

/** A draw exceeds its bound with a probability below 2^-64. If one does, suspect a bug. */
const SECURITY_BITS = 64;

/**
 * Returns the bytes that the sampler draws at most, exceeded with probability below 2^-64. Kinds without rejection draw
 * exactly this many; for the others `refusalsMax` (offsets.ts) has the proof.
 */
export function entropyBytesMax(request: ValueRequest): number {
  switch (request.kind) {
    case 'bytes':
      return request.count * request.length;
    case 'uuid':
      return request.count * UUID_BYTES;
    case 'bitstring':
      return Math.ceil(request.length / 8);
    case 'shuffle':
      return descendingBytesMax(request.items.length, request.items.length - 1, SECURITY_BITS);
    case 'gaussians':
      return gaussianBytesMax(request);
  }
  const all = choicesOf(request);
  // Each choice may exceed its bound with an equal part of the probability.
  const bits = SECURITY_BITS + Math.ceil(Math.log2(all.length));
  return all.reduce((bytes, { of, count, unique, times }) => {
    if (unique) return bytes + uniqueBytesMax(of, count, bits, times);
    return bytes + offsetBytesMax(planOffsets(of), count, bits, times);
  }, 0);
}

/** Returns the type of the values as octets. Bits and items have none: a reader could not tell where they end. */
export function octetTypeOf(request: ValueRequest): OctetType | undefined {
  switch (request.kind) {
    case 'integers':
      return fitsInt32(request.min, request.max) ? 'int32' : 'float64';
    case 'floats':
    case 'gaussians':
      return 'float64';
    case 'uuid':
      return 'uuid';
    case 'bytes':
      return 'bytes';
    default:
      return undefined;
  }
}

/** Returns the exact size of the values as octets. */
export function octetBytes(request: ValueRequest): number {
  if (request.kind === 'bytes') return request.count * request.length;
  const type = octetTypeOf(request);
  if (type === undefined) throw new TypeError(`${request.kind} has no octets`);
  return valueCount(request) * OCTET_WIDTHS[type];
}

const OCTET_WIDTHS: Readonly<Record<OctetType, number>> = {
  int32: 4,
  float64: 8,
  uuid: UUID_BYTES,
  bytes: 1,
};

/** Returns the bytes that `drawJson` needs: an upper bound of the text. */
export function jsonBytesMax(request: ValueRequest): number {
  switch (request.kind) {
    case 'integers':
      return integersTextMax(request.count, request.min, request.max);
    case 'floats':
      return floatsTextMax(request.count, request.precision);
    case 'bytes':
      return bytesTextMax(request.count, request.length, request.encoding);
    case 'uuid':
      return uuidsTextMax(request.count);
    case 'bitstring':
      return bitstringTextMax(request.length);
    case 'shuffle':
      // The order of the items does not change the size.
      return wholeListText(request.items);
    case 'sample':
      return Math.min(wholeListText(request.items), 2 + request.count * (1 + longest(request.items)));
    case 'weighted':
      return 2 + request.count * (1 + longest(request.items));
    case 'strings':
      // jsonStringBytes counts two quotes for each character
      return 2 + request.count * (3 + request.length * (longest(request.alphabet) - 2));
    case 'sequences': {
      const each = request.ranges.map(({ length, min, max }) => 1 + integersTextMax(length, min, max));
      return 2 + request.count * each.reduce((sum, bytes) => sum + bytes, 3);
    }
    case 'permutations':
      return 2 + request.count * (1 + integersTextMax(request.length, 0, request.length - 1));
    case 'gaussians':
      return 2 + request.count * (GAUSSIAN_TEXT_MAX + 1);
  }
}

/** Returns the size of all items as JSON: brackets, commas and the items themselves. */
function wholeListText(items: readonly string[]): number {
  return items.reduce((bytes, item) => bytes + jsonStringBytes(item), 1 + items.length);
}

/** Returns the size of the item as a JSON string in UTF-8, which RFC 8785 writes as ECMAScript does. */
function jsonStringBytes(item: string): number {
  return Buffer.byteLength(JSON.stringify(item));
}

/** Returns the size of the longest text as a JSON string. */
function longest(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => Math.max(bytes, jsonStringBytes(text)), 0);
}
