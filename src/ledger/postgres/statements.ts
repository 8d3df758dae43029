import type { Session } from './connection.ts';

/** Names the locks of bodies: "body" in ASCII. */
const BODY_LOCK = 0x62_6f_64_79;
const LOCK = { name: 'store_lock', text: `SELECT pg_advisory_xact_lock(${BODY_LOCK}, hashtext($1))` };

/** Takes the locks of a body until the transaction ends. */
export async function lockIn(session: Session, locks: readonly string[]): Promise<void> {
  for (const lock of [...locks].sort()) await session.run(LOCK, [lock]);
}

/** The rows as one array for each column, for `unnest`. */
export function columns<R extends object>(rows: readonly R[], ...names: readonly (keyof R)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]));
}

/**
 * Many values as one, with where each begins (from 1) and its size: one value is sent as it is, and an array of them would
 * be sent as text.
 */
export function packedColumn(values: readonly Uint8Array[]): [Buffer, number[], number[]] {
  const sizes = values.map(({ length }) => length);
  let next = 1;
  const firsts = sizes.map((size) => {
    const first = next;
    next += size;
    return first;
  });
  return [Buffer.concat(values), firsts, sizes];
}
