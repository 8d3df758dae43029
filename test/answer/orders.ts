import { createHash } from 'node:crypto';
import { AT_SALT, answerBytesMax, type DrawOrder, type WorkerOrder } from '../../src/answer/make.ts';
import type { AnswerForm } from '../../src/answer/request.ts';
import { concatBytes, utf8Bytes } from '../../src/core/bytes.ts';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { jsonBytesMax, octetBytes, octetTypeOf, type ValueRequest } from '../../src/values/value-request.ts';
import { fixedBytes } from '../support/backends.ts';
import { drawnOctets, drawnText } from '../values/drawn.ts';
import { integers } from '../values/requests.ts';

/** One request of every kind and form. */
export const REQUESTS: Readonly<Record<string, ValueRequest>> = {
  integers: integers(3_000, 0, 100),
  'integers, unique and sorted': integers(500, -1_000, 1_000, { unique: true, sort: 'descending' }),
  'integers, wide': integers(100, 0, Number.MAX_SAFE_INTEGER),
  floats: { kind: 'floats', count: 500, precision: null },
  'floats, decimal': { kind: 'floats', count: 500, precision: 5 },
  'bytes, one hex string': { kind: 'bytes', count: 1, length: 1_000, encoding: 'hex', single: true },
  'bytes, base64': { kind: 'bytes', count: 50, length: 31, encoding: 'base64', single: false },
  uuid: { kind: 'uuid', count: 300 },
  bitstring: { kind: 'bitstring', length: 1_001 },
  shuffle: { kind: 'shuffle', items: Array.from({ length: 100 }, (_, i) => `item ${i}`) },
};

export function bytesOf(label: string, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  fixedBytes(label)(bytes);
  return bytes;
}

export const BEFORE = '{"count":3,"values":';
export const AFTER = '}';
export function orderOf(draw: DrawOrder, values: ValueRequest, form: AnswerForm = 'json'): WorkerOrder {
  const octets = form === 'octet-stream' ? octetTypeOf(values) : undefined;
  const order = {
    values,
    octets,
    template: { before: utf8Bytes(BEFORE), after: utf8Bytes(AFTER) },
    form,
  };
  const size = octets === undefined ? jsonBytesMax(values) : octetBytes(values);
  const memory = new Uint8Array(answerBytesMax(order, size));
  memory.set(bytesOf('salt', 32), AT_SALT);
  return { ...order, draw, memory };
}

/** Returns the answer for these bytes: the samplers run on them as one chunk, in this thread. */
export function expectedFrom(bytes: Uint8Array<ArrayBuffer>, values: ValueRequest) {
  const reader = () => {
    let next: Uint8Array<ArrayBuffer> | undefined = new Uint8Array(bytes);
    return new EntropyReader(() => {
      const chunk = next ?? new Uint8Array(0); // which the reader refuses
      next = undefined;
      return chunk;
    });
  };
  const read = reader();
  const json = drawnText(values, read);
  const octets = octetTypeOf(values) === undefined ? undefined : drawnOctets(values, reader());
  const data = concatBytes(utf8Bytes(BEFORE), utf8Bytes(json), utf8Bytes(AFTER));
  return {
    data,
    delivered: commitmentOf(data),
    consumedBytes: read.consumedBytes,
    octets,
    deliveredOctets: octets && commitmentOf(octets),
    plain: JSON.parse(json),
  };
}

function commitmentOf(data: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytesOf('salt', 32)).update(data).digest());
}
