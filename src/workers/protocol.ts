import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { WorkerOrder } from '../answer/make.ts';
import type { Assessor } from '../pool/intake/assessor.ts';
import type { RefillOrder } from '../pool/supply/keystream.ts';

/** A task of the workers: plain data. Buffers move instead of being copied. */
export type ExpandTask =
  | { readonly task: 'expand'; readonly order: RefillOrder }
  | { readonly task: 'make'; readonly order: WorkerOrder };

/** A call of the assessor. `bits` is one of the arguments; it moves to the worker, which erases it. */
export interface AssessTask {
  readonly method: keyof Assessor;
  readonly args: readonly unknown[];
  readonly bits: Uint8Array<ArrayBuffer>;
}

/** Marks `value` so that it crosses to the caller's thread with its `buffers` moved instead of copied. */
export function transferring<T extends object>(value: T, buffers: readonly ArrayBuffer[]): T {
  const movable = { [transferableSymbol]: buffers, [valueSymbol]: value };
  return move(movable as never) as unknown as T;
}
