import { createHash } from 'node:crypto';
import { answerBytesMax, type DrawOrder, type WorkerOrder } from '../../src/answer/make.ts';
import type { AnswerForm } from '../../src/answer/request.ts';
import { concatBytes, utf8Bytes } from '../../src/core/bytes.ts';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { octetsOf, plainOf, sample, writeJson } from '../../src/values/sample.ts';
import { jsonBytesMax, type ValueRequest } from '../../src/values/value-request.ts';
import { fixedBytes } from '../support/backends.ts';

/** One request of every kind and form. */
export const REQUESTS: Readonly<Record<string, ValueRequest>> = {
  integers: { kind: 'integers', count: 3_000, min: 0, max: 100, unique: false, sort: 'none' },
  'integers, unique and sorted': {
    kind: 'integers',
    count: 500,
    min: -1_000,
    max: 1_000,
    unique: true,
    sort: 'descending',
  },
  'integers, wide': {
    kind: 'integers',
    count: 100,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    unique: false,
    sort: 'none',
  },
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
  const order = {
    values,
    before: utf8Bytes(BEFORE),
    after: utf8Bytes(AFTER),
    salt: bytesOf('salt', 32),
    form,
  };
  return { ...order, draw, memory: new Uint8Array(answerBytesMax(order, jsonBytesMax(values))) };
}

/** What an answer from these bytes must be: the samplers on the bytes as one chunk, in this thread. */
export function expectedFrom(bytes: Uint8Array<ArrayBuffer>, values: ValueRequest) {
  let next: Uint8Array | undefined = new Uint8Array(bytes);
  const reader = new EntropyReader(() => {
    const chunk = next ?? new Uint8Array(0); // which the reader refuses
    next = undefined;
    return chunk;
  });
  const drawn = sample(values, reader);
  const text = new Uint8Array(jsonBytesMax(values));
  const json = text.subarray(0, writeJson(drawn, text, 0));
  const data = concatBytes(utf8Bytes(BEFORE), json, utf8Bytes(AFTER));
  return {
    data,
    delivered: new Uint8Array(createHash('sha256').update(bytesOf('salt', 32)).update(data).digest()),
    consumedBytes: reader.consumedBytes,
    octets: values.kind === 'shuffle' ? undefined : octetsOf(drawn),
    plain: plainOf(drawn),
  };
}
