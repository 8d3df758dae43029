import type { DrawLeaf, DrawRecord } from './draw-records.ts';
import { type Body, type Key, plainCodec, type SharedTable, tx } from './store.ts';

/** The tables of the rules in `domain`, each under the name that its records have in every store. */
function table<K extends Key, V>(name: string, codec = plainCodec<V>()): SharedTable<K, V> {
  return { name, codec };
}

/** Numbers that are changed with what they count, so that an audit notices when records are missing. */
export const COUNT_NAMES = ['draws', 'drawLeaves'] as const;
export type CountName = (typeof COUNT_NAMES)[number];
export const COUNTS = table<CountName, number>('meta');

/** domain/draws.ts */
export const DRAWS = table<string, DrawRecord>('draws');
/** Account number, id: draws that have not ended. */
export const OPEN_DRAWS = table<readonly [number, string], number>('openDraws');
/** By ordinal: leaves that wait to be logged. */
export const DRAW_LEAVES = table<number, DrawLeaf>('drawLeaves');

/** All of them but COUNTS. */
export const DOMAIN_TABLES: readonly SharedTable<Key, unknown>[] = [DRAWS, OPEN_DRAWS, DRAW_LEAVES] as never;

/** Adds to a number, and gives the sum. */
export function* increase(name: CountName, by: number): Body<number> {
  const sum = ((yield* tx.get(COUNTS, name)) ?? 0) + by;
  yield* tx.put(COUNTS, name, sum);
  return sum;
}
