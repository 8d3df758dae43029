import { LOG_LOCK } from '../domain/log.ts';
import { dropNumbers, seriesLocks } from '../domain/series.ts';
import { decodeSegment } from '../segment.ts';
import type { Session } from './connection.ts';
import { foldSegments } from './fold.ts';
import { inSession } from './postgres-store.ts';
import { lockIn } from './statements.ts';
import type { UnsealedTallies } from './unsealed.ts';

/** What one transaction erases at most. */
const SEGMENTS_PER_SWEEP = 100;

const DUE_SEGMENTS = {
  name: 'expire_due',
  text: `SELECT sequence, body FROM qrn.segment WHERE at_ms < $1 ORDER BY at_ms, sequence LIMIT ${SEGMENTS_PER_SWEEP}`,
};
const DROP_SEGMENTS = { name: 'expire_segments', text: 'DELETE FROM qrn.segment WHERE sequence = ANY($1)' };
const RAISE_DROPPED = {
  name: 'expire_raise',
  text: 'UPDATE qrn.retention SET dropped_segment = greatest(dropped_segment, $1)',
};

/** Erases some of the segments that were committed before, within a transaction, and tells how many. The counters stay. */
export async function dropSegments(
  session: Session,
  unsealed: UnsealedTallies,
  beforeMs: number,
): Promise<number> {
  await lockIn(session, [LOG_LOCK]);
  const due = await session.run<{ sequence: number; body: Uint8Array }>(DUE_SEGMENTS, [beforeMs]);
  if (due.length === 0) return 0;
  const sequences = due.map(({ sequence }) => sequence);
  await foldSegments(session, unsealed, sequences);
  const segments = due.map(({ body }) => decodeSegment(new Uint8Array(body)));
  await lockIn(session, seriesLocks(segments));
  await inSession(session, dropNumbers(segments));
  await session.run(DROP_SEGMENTS, [sequences]);
  await session.run(RAISE_DROPPED, [Math.max(...sequences)]);
  return due.length;
}
