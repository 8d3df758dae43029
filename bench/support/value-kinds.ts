import type { ValueRequest } from '../../src/values/value-request.ts';

/** The content of a batch request. */
export interface BatchKind {
  readonly name: string;
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Count of numbers, strings or items in each counted value; 1 by default. */
  readonly each?: number;
}

/** A kind of batch that is measured. Together the kinds cover each writer and each width of draw once. */
export interface ValueKind extends BatchKind {
  readonly type: 'integers' | 'floats' | 'bytes' | 'uuid';
  readonly params: Readonly<Record<string, number>>;
}

export const VALUE_KINDS: readonly ValueKind[] = [
  { name: 'integers 0..100', type: 'integers', params: { min: 0, max: 100 } },
  { name: 'integers 0..999,999', type: 'integers', params: { min: 0, max: 999_999 } },
  { name: 'integers int32', type: 'integers', params: { min: -(2 ** 31), max: 2 ** 31 - 1 } },
  { name: 'integers 0..2^53-1', type: 'integers', params: { min: 0, max: Number.MAX_SAFE_INTEGER } },
  { name: 'floats 15 places', type: 'floats', params: { precision: 15 } },
  { name: 'floats 53 bits', type: 'floats', params: {} },
  { name: 'uuid', type: 'uuid', params: {} },
  { name: 'bytes 16 hex', type: 'bytes', params: { length: 16 } },
];

/** The kinds that come in lists, are picked from a list, or are not plain numbers. */
export const LIST_KINDS: readonly BatchKind[] = [
  { name: 'gaussians 14 digits', type: 'gaussians', params: {} },
  { name: 'gaussians 100 ± 15, 5 digits', type: 'gaussians', params: { mean: 100, stddev: 15, digits: 5 } },
  { name: 'permutations of 10', type: 'permutations', params: { length: 10 }, each: 10 },
  { name: 'permutations of 1,000', type: 'permutations', params: { length: 1_000 }, each: 1_000 },
  {
    name: 'sequences 10 × 1..49',
    type: 'sequences',
    params: { length: [10], min: [1], max: [49] },
    each: 10,
  },
  { name: 'strings of 16', type: 'strings', params: { length: 16, alphabet: 'abcdefghijklmnopqrstuvwxyz' } },
  { name: 'weighted a b c', type: 'weighted', params: { items: ['a', 'b', 'c'], weights: [1, 2, 3] } },
];

/** The kinds that are measured where time is short: a cheap one and an expensive one. */
export const TWO_KINDS = VALUE_KINDS.filter(
  ({ name }) => name === 'integers 0..100' || name === 'floats 53 bits',
);

/** Returns the JSON body of POST /v1/batch. */
export function batchBody(kind: BatchKind, count: number, mode?: 'pure' | 'csprng'): string {
  return JSON.stringify({ type: kind.type, count, params: kind.params, ...(mode && { entropy_mode: mode }) });
}

/** Returns the request as the service's samplers take it. */
export function valueRequest({ type, params }: ValueKind, count: number): ValueRequest {
  switch (type) {
    case 'integers':
      return { kind: 'integers', count, min: params['min'], max: params['max'], unique: false, sort: 'none' };
    case 'floats':
      return { kind: 'floats', count, precision: params['precision'] ?? null };
    case 'bytes':
      return { kind: 'bytes', count, length: params['length'], encoding: 'hex', single: false };
    case 'uuid':
      return { kind: 'uuid', count };
  }
}
