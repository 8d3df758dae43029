import { move, transferableSymbol, valueSymbol } from 'piscina';

/** Marks `value` so that it crosses to the caller's thread with its `buffers` moved instead of copied. */
export function transferring<T extends object>(value: T, buffers: readonly ArrayBuffer[]): T {
  const movable = { [transferableSymbol]: buffers, [valueSymbol]: value };
  return move(movable as never) as unknown as T;
}
