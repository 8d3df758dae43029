import type { ValueRequest } from '../../src/values/value-request.ts';

/** The kinds of batch that are measured: each writer and each width of draw once. */
export interface ValueKind {
  readonly name: string;
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

/** The kinds measured where time is short: one cheap, one expensive. */
export const TWO_KINDS = VALUE_KINDS.filter(
  ({ name }) => name === 'integers 0..100' || name === 'floats 53 bits',
);

/** The JSON body of POST /v1/batch. */
export function batchBody(kind: ValueKind, count: number, mode?: 'pure' | 'csprng'): string {
  return JSON.stringify({ type: kind.type, count, params: kind.params, ...(mode && { entropy_mode: mode }) });
}

/** What the service makes of it. */
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
