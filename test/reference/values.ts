import { drawnValues } from '../../src/certificate/draw-kinds.ts';
import { ByteStream, shuffle } from '../../src/certificate/draw-samplers.ts';
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

/** A shuffle and a string of bits are no kinds of a committed draw. */
function plainValues(request: ValueRequest, bytes: ByteStream): TwinAnswer['plain'] {
  if (request.kind === 'shuffle') return shuffle(request.items, request.items.length - 1, bytes);
  if (request.kind === 'bitstring') {
    const octets = [...bytes.take(Math.ceil(request.length / 8))];
    return octets
      .map((octet) => octet.toString(2).padStart(8, '0'))
      .join('')
      .slice(0, request.length);
  }
  const values = drawnValues(request, bytes);
  const plain = values as readonly PlainValue[];
  return request.kind === 'bytes' && request.single ? String(plain[0]) : plain;
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
