import { gaussians } from '../../src/certificate/draw-gaussians.ts';
import {
  ByteStream,
  floats,
  integers,
  permutation,
  sample,
  shuffle,
  strings,
  uuid,
  weighted,
} from '../../src/certificate/draw-samplers.ts';
import type { OctetType } from '../../src/core/vocabulary.ts';
import type { ValueRequest } from '../../src/values/value-request.ts';

/**
 * The slow twin of src/values: the same values from the same bytes, by the samplers of the verifier of draws, which share
 * nothing with those of the service.
 */

/** Numbers, texts, sequences, or sequences that were drawn together. */
type PlainValue = number | string | readonly number[] | readonly (readonly number[])[];

export interface TwinAnswer {
  readonly plain: readonly PlainValue[] | string;
  readonly consumedBytes: number;
}

export function twinSample(request: ValueRequest, entropy: Uint8Array): TwinAnswer {
  let isLeft = true;
  const bytes = new ByteStream(() => {
    if (!isLeft || entropy.length === 0) throw new RangeError('the test bytes are used up');
    isLeft = false;
    return entropy;
  });
  const plain = plainValues(request, bytes);
  return { plain, consumedBytes: bytes.used };
}

/** The plain values of a request as octets, through DataView alone. */
export function twinOctets(request: ValueRequest, type: OctetType, plain: TwinAnswer['plain']): Buffer {
  const values = (typeof plain === 'string' ? [plain] : plain) as readonly (number | string)[];
  const encoding = request.kind === 'bytes' ? request.encoding : 'hex';
  return Buffer.concat(values.map((value) => valueOctets(value, type, encoding)));
}

function valueOctets(value: number | string, type: OctetType, encoding: 'hex' | 'base64'): Buffer {
  const octets = new DataView(new ArrayBuffer(type === 'int32' ? 4 : 8));
  switch (type) {
    case 'int32':
      octets.setInt32(0, Number(value), true);
      break;
    case 'float64':
      octets.setFloat64(0, Number(value), true);
      break;
    case 'uuid':
      return Buffer.from(String(value).replaceAll('-', ''), 'hex');
    case 'bytes':
      return Buffer.from(String(value), encoding);
  }
  return Buffer.from(octets.buffer);
}

function plainValues(request: ValueRequest, bytes: ByteStream): TwinAnswer['plain'] {
  switch (request.kind) {
    case 'integers':
      return integers(request, bytes);
    case 'floats':
      return floats(request.count, request.precision, bytes);
    case 'bytes': {
      const values: string[] = [];
      for (let i = 0; i < request.count; i++)
        values.push(encode(bytes.take(request.length), request.encoding));
      return request.single ? values[0] : values;
    }
    case 'uuid':
      return Array.from({ length: request.count }, () => uuid(bytes.take(16)));
    case 'bitstring': {
      let bits = '';
      for (const byte of bytes.take(Math.ceil(request.length / 8))) {
        for (const place of [128, 64, 32, 16, 8, 4, 2, 1]) bits += (byte & place) > 0 ? '1' : '0';
      }
      return bits.slice(0, request.length);
    }
    case 'shuffle':
      return shuffle(request.items, request.items.length - 1, bytes);
    case 'sample':
      return sample(request.items, request.count, bytes);
    case 'weighted':
      return weighted(request.items, request.weights, request.count, bytes);
    case 'strings':
      return strings(request.count, request.length, request.alphabet, bytes);
    case 'gaussians':
      return gaussians(request.count, request, bytes);
    case 'sequences': {
      const { count, ranges, sort } = request;
      return Array.from({ length: count }, () =>
        ranges.map(({ length, ...range }) => integers({ count: length, ...range, sort }, bytes)),
      );
    }
    case 'permutations': {
      const { count, length } = request;
      return Array.from({ length: count }, () => permutation(length, bytes));
    }
  }
}

function encode(octets: Uint8Array, encoding: 'hex' | 'base64'): string {
  return encoding === 'hex'
    ? Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join('')
    : btoa(String.fromCharCode(...octets));
}

/** ceil(log2(possibilities) / 8) for ordered choices, by the full product. */
export function twinInformationBytes(factors: readonly bigint[]): number {
  const possibilities = productOf(factors);
  const digits = (possibilities - 1n).toString(16).length; // possibilities <= 16^digits, and > 16^(digits - 1)
  return possibilities === 1n ? 0 : Math.ceil(digits / 2);
}

function productOf(factors: readonly bigint[]): bigint {
  if (factors.length <= 8) return factors.reduce((a, b) => a * b, 1n);
  const half = factors.length >> 1;
  return productOf(factors.slice(0, half)) * productOf(factors.slice(half));
}
