import type { OctetType } from '../core/vocabulary.ts';
import { bitstringTextMax } from './bitstring.ts';
import { type ByteEncoding, bytesTextMax } from './bytes.ts';
import { floatsTextMax, POWERS_OF_TEN } from './floats.ts';
import type { GaussiansRequest } from './gaussians.ts';
import { bitsOfFallingFactorial, bitsOfPower } from './information.ts';
import { fitsInt32, integersTextMax, type SortOrder, spanOf } from './integers.ts';
import { listBits, listCount, listEntropyBytesMax, listTextMax } from './lists.ts';
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
  | GaussiansRequest
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
    case 'integers':
    case 'floats':
    case 'uuid':
      return request.count;
    case 'bytes':
      return request.single ? request.length : request.count;
    case 'bitstring':
      return 1;
    default:
      return listCount(request);
  }
}

/**
 * The entropy that the answer holds, in bits: the logarithm of how many answers are possible. A price is this
 * rounded up to bytes, and ceil(bits / 8) is exact (information.ts). Sorting a sample without repeats does
 * not make it cheaper.
 */
export function informationBits(request: ValueRequest): number {
  switch (request.kind) {
    case 'integers': {
      const span = spanOf(request.min, request.max);
      return request.unique ? bitsOfFallingFactorial(span, request.count) : bitsOfPower(span, request.count);
    }
    case 'floats':
      if (request.precision === null) return 53 * request.count;
      return bitsOfPower(POWERS_OF_TEN[request.precision], request.count);
    case 'bytes':
      return 8 * request.count * request.length;
    case 'uuid':
      return 122 * request.count;
    case 'bitstring':
      return request.length;
    default:
      return listBits(request);
  }
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
    case 'integers': {
      const span = spanOf(request.min, request.max);
      if (request.unique) return uniqueBytesMax(span, request.count, SECURITY_BITS);
      return offsetBytesMax(planOffsets(span), request.count, SECURITY_BITS);
    }
    case 'floats':
      if (request.precision === null) return 7 * request.count;
      return offsetBytesMax(planOffsets(POWERS_OF_TEN[request.precision]), request.count, SECURITY_BITS);
    case 'bytes':
      return request.count * request.length;
    case 'uuid':
      return request.count * UUID_BYTES;
    case 'bitstring':
      return Math.ceil(request.length / 8);
    default:
      return listEntropyBytesMax(request, SECURITY_BITS);
  }
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
    default:
      return listTextMax(request);
  }
}
