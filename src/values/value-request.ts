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
 * What values an answer holds. Counts and lengths are whole numbers from 1 on; the bounds of the service
 * (core/limits.ts) are checked where requests come in.
 */
export type ValueRequest =
  | {
      readonly kind: 'integers';
      readonly count: number;
      /** min <= max, max - min below 2^53. */
      readonly min: number;
      readonly max: number;
      /** Without repeats; then count <= max - min + 1. */
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
      /** Bytes of each value. */
      readonly length: number;
      readonly encoding: ByteEncoding;
      /** True: count is 1 and the answer is one JSON string. False: an array of strings. */
      readonly single: boolean;
    }
  | { readonly kind: 'uuid'; readonly count: number }
  | {
      readonly kind: 'bitstring';
      /** Bits. */
      readonly length: number;
    }
  | GaussiansRequest
  | ListRequest;

/** One of the sequences that are drawn together. */
export interface SequenceRange {
  readonly length: number;
  /** min <= max, max - min below 2^53. */
  readonly min: number;
  readonly max: number;
  /** Without repeats; then length <= max - min + 1. */
  readonly unique: boolean;
}

/** Kinds whose values are picked from a list or come in lists (lists.ts). */
export type ListRequest =
  | { readonly kind: 'shuffle'; readonly items: readonly string[] }
  | {
      readonly kind: 'sample';
      /** At most as many as there are items. */
      readonly count: number;
      readonly items: readonly string[];
    }
  | {
      readonly kind: 'weighted';
      readonly count: number;
      readonly items: readonly string[];
      /** A whole number from 1 on for each item; their sum is at most 2^53. */
      readonly weights: readonly number[];
    }
  | {
      readonly kind: 'strings';
      readonly count: number;
      /** Characters of each string. */
      readonly length: number;
      /** Code points, each once. */
      readonly alphabet: readonly string[];
    }
  | {
      readonly kind: 'sequences';
      /** How often all sequences are drawn. */
      readonly count: number;
      readonly ranges: readonly SequenceRange[];
      readonly sort: SortOrder;
    }
  | {
      readonly kind: 'permutations';
      readonly count: number;
      /** Of the numbers from 0 to length - 1. */
      readonly length: number;
    };

/** How many values the answer holds: what it calls its count; a bitstring is one. */
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

/** Draws that are made one after the other: each costs as much as some 25 numbers of a long one. */
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

/** The independent choices that the answer is made of: it is priced by them, and they bound what is drawn for it. */
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
 * The entropy that the answer holds, in bits: the logarithm of how many answers are possible. A price is this
 * rounded up to bytes, and ceil(bits / 8) is exact (information.ts). Sorting a sample without repeats does
 * not make it cheaper.
 */
export function informationBits(request: ValueRequest): number {
  return bitsOfChoices(choicesOf(request));
}

/**
 * A draw that goes beyond its bound is a bug or an event that nobody will see: its probability is below
 * 2^-64.
 */
const SECURITY_BITS = 64;

/**
 * Bytes that the sampler draws at most, exceeded with probability below 2^-64. Kinds without rejection draw
 * exactly this; for the others the proof is that of `refusalsMax` (offsets.ts).
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
  // each kind of choice may run over with an equal part of the probability
  const bits = SECURITY_BITS + Math.ceil(Math.log2(all.length));
  return all.reduce((bytes, { of, count, unique, times }) => {
    if (unique) return bytes + uniqueBytesMax(of, count, bits, times);
    return bytes + offsetBytesMax(planOffsets(of), count, bits, times);
  }, 0);
}

/**
 * What the values are as octets. Bits and items have none: a reader could not tell where bits end, nor items.
 */
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

/** Bytes of the values as octets, exactly. */
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

/** Bytes that `drawJson` needs from where they start: an upper bound of the text. */
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
      // no order of the items changes the size
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

/** Bytes of all items as JSON: brackets and commas, and the items themselves. */
function wholeListText(items: readonly string[]): number {
  return items.reduce((bytes, item) => bytes + jsonStringBytes(item), 1 + items.length);
}

/** Bytes of the item as a JSON string in UTF-8, which RFC 8785 prints as ECMAScript does. */
function jsonStringBytes(item: string): number {
  return Buffer.byteLength(JSON.stringify(item));
}

/** Bytes of the longest text as a JSON string. */
function longest(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => Math.max(bytes, jsonStringBytes(text)), 0);
}
