import { SERIES_LISTED_MAX, type SeriesAnswer, type SeriesPage } from '../label-records.ts';
import type { SeriesPart } from '../ledger.ts';
import type { SegmentRecord } from '../records.ts';
import { EntryCursor } from '../segment.ts';
import type { Session } from './connection.ts';
import { columns } from './statements.ts';

/**
 * The serials of labelled answers, given in the transaction that stores their segment: so no number is left out and none
 * is given twice. Two commits with answers of one series wait for each other.
 */
const ADD_COUNTS = {
  name: 'series_add',
  text: `INSERT INTO qrn.series_count (series, count) SELECT * FROM unnest($1::text[], $2::bigint[])
    ON CONFLICT (series) DO UPDATE SET count = series_count.count + excluded.count RETURNING series, count`,
};
const PUT_ANSWERS = {
  name: 'series_put',
  text: `INSERT INTO qrn.series_answer (series, serial, sequence, index, issued_at_ms, is_public)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::bool[])`,
};
const PUT_PUBLIC = {
  name: 'series_public',
  text: `INSERT INTO qrn.public_series (purpose, series) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING`,
};
const SERIALS = {
  name: 'series_serials',
  text: 'SELECT sequence, index, serial FROM qrn.series_answer WHERE sequence = ANY($1)',
};
const DROP = {
  name: 'series_drop',
  text: `WITH gone AS (DELETE FROM qrn.series_answer WHERE sequence = ANY($1) RETURNING series),
      sums AS (SELECT series, count(*) AS n FROM gone GROUP BY series ORDER BY series)
    UPDATE qrn.series_count c SET dropped = c.dropped + sums.n FROM sums WHERE c.series = sums.series`,
};
const LIST = {
  name: 'series_list',
  text: `SELECT p.series AS id, coalesce(c.count, 0) AS count FROM qrn.public_series p
    LEFT JOIN qrn.series_count c USING (series) WHERE p.purpose = $1 ORDER BY p.series LIMIT $2`,
};
const IS_PUBLIC = {
  name: 'series_is_public',
  text: 'SELECT 1 FROM qrn.public_series WHERE purpose = $1 AND series = $2',
};
const PAGE = {
  name: 'series_page',
  text: `SELECT serial, sequence, index, issued_at_ms AS "issuedAtMs", is_public AS "isPublic" FROM qrn.series_answer
    WHERE series = $1 AND serial >= $2 ORDER BY serial LIMIT $3`,
};

interface Labelled extends Omit<SeriesAnswer, 'serial'> {
  readonly series: string;
  readonly purpose: string | undefined;
}

/** Numbers the labelled answers of segments that are stored for the first time, within their transaction. */
export async function numberAnswers(session: Session, segments: readonly SegmentRecord[]): Promise<void> {
  const labelled = segments.flatMap(labelledIn);
  if (labelled.length === 0) return;
  const bySeries = Map.groupBy(labelled, ({ series }) => series);
  const names = [...bySeries.keys()].sort(); // the order in which all commits lock them
  const more = names.map((name) => bySeries.get(name)?.length ?? 0);
  const counts = await session.run<{ series: string; count: number }>(ADD_COUNTS, [names, more]);
  const rows = counts.flatMap(({ series, count }) => {
    const answers = bySeries.get(series) ?? [];
    return answers.map((answer, i) => ({ ...answer, serial: count - answers.length + 1 + i }));
  });
  const stored = columns(rows, 'series', 'serial', 'sequence', 'index', 'issuedAtMs', 'isPublic');
  await session.run(PUT_ANSWERS, stored);
  const publicRows = labelled.filter(({ purpose }) => purpose !== undefined);
  const inOrder = publicRows.sort((a, b) => (a.series < b.series ? -1 : 1));
  if (inOrder.length > 0) await session.run(PUT_PUBLIC, columns(inOrder, 'purpose', 'series'));
}

/** Forgets where the answers of dropped segments were; the counts stay. */
export async function dropNumbers(session: Session, sequences: readonly number[]): Promise<void> {
  await session.run(DROP, [sequences]);
}

/** The segments with the serials of their labels. */
export async function withSerials(session: Session, segments: SegmentRecord[]): Promise<SegmentRecord[]> {
  const noted = segments.filter(({ notes }) => notes !== undefined).map(({ sequence }) => sequence);
  if (noted.length === 0) return segments;
  const rows = await session.run<{ sequence: number; index: number; serial: number }>(SERIALS, [noted]);
  const serials = new Map(rows.map(({ sequence, index, serial }) => [`${sequence} ${index}`, serial]));
  return segments.map((segment) => {
    const { sequence, notes } = segment;
    if (notes === undefined) return segment;
    const numbered = notes.map(({ index, label }) => {
      const serial = serials.get(`${sequence} ${index}`);
      return { index, label: serial === undefined ? label : { ...label, serial } };
    });
    return { ...segment, notes: numbered };
  });
}

/** See Books.seriesPage. */
export async function seriesPageIn(session: Session, purpose: string, part: SeriesPart): Promise<SeriesPage> {
  const series = await session.run<{ id: string; count: number }>(LIST, [purpose, SERIES_LISTED_MAX]);
  const asked = part.series ?? series.at(0)?.id;
  if (asked === undefined || (await session.run(IS_PUBLIC, [purpose, asked])).length === 0)
    return { series, answers: [] };
  return { series, answers: await session.run<SeriesAnswer>(PAGE, [asked, part.from, part.limit]) };
}

function labelledIn({ sequence, entries, notes = [] }: SegmentRecord): Labelled[] {
  const cursor = new EntryCursor(entries);
  return notes.flatMap(({ index, label: { series, purpose, isPublic } }) => {
    if (series === undefined || !cursor.seek(index)) return [];
    return [{ series, purpose, sequence, index, issuedAtMs: cursor.issuedAtMs, isPublic }];
  });
}
