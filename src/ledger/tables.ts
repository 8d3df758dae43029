import type { DrawLeaf, DrawRecord } from './draw-records.ts';
import type { JobRecord, SourceSpend } from './records.ts';
import type { DaySpend } from './spending.ts';
import { type Body, type Key, plainCodec, type SharedTable, tx } from './store.ts';

/** The tables of the rules in `domain`, each under the name that its records have in every store. */
function table<K extends Key, V>(name: string, codec = plainCodec<V>()): SharedTable<K, V> {
  return { name, codec };
}

/** Numbers that are changed with what they count, so that an audit notices when records are missing. */
export const COUNT_NAMES = ['draws', 'drawLeaves', 'jobs', 'charges', 'sourceNotes'] as const;
export type CountName = (typeof COUNT_NAMES)[number];
export const COUNTS = table<CountName, number>('meta');

/** domain/draws.ts */
export const DRAWS = table<string, DrawRecord>('draws');
/** Account number, id: draws that have not ended. */
export const OPEN_DRAWS = table<readonly [number, string], number>('openDraws');
/** By ordinal: leaves that wait to be logged. */
export const DRAW_LEAVES = table<number, DrawLeaf>('drawLeaves');

/** domain/sources.ts. Source, key. */
export const SOURCE_NOTES = table<readonly [string, string], string>('sourceNotes');
/** By key of the charge. */
export const CHARGES = table<string, SourceSpend>('charges');
/** Source, day: the sum of its charges and jobs. */
export const SPENDS = table<readonly [string, number], DaySpend>('spends');
export const JOBS = table<string, StoredJob>('jobs');
/** Source, ordinal: jobs that have not ended. */
export const OPEN_JOBS = table<readonly [string, number], string>('openJobs');

/** A job, its place in the order of all jobs, the lot that it gave, and the number of the node that goes on with it. */
export interface StoredJob {
  readonly job: JobRecord;
  readonly ordinal: number;
  readonly lotId: string | null;
  readonly node: number;
}

/** All of them but COUNTS. */
export const DOMAIN_TABLES: readonly SharedTable<Key, unknown>[] = [
  DRAWS,
  OPEN_DRAWS,
  DRAW_LEAVES,
  SOURCE_NOTES,
  CHARGES,
  SPENDS,
  JOBS,
  OPEN_JOBS,
];

/** Adds to a number, and gives the sum. */
export function* increase(name: CountName, by: number): Body<number> {
  const sum = ((yield* tx.get(COUNTS, name)) ?? 0) + by;
  yield* tx.put(COUNTS, name, sum);
  return sum;
}
