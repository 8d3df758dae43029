import type { AnswerLabel, SeriesAnswer, SeriesPage } from '../label-records.ts';
import { SERIES_LISTED_MAX } from '../label-records.ts';
import type { SegmentRecord } from '../records.ts';
import { EntryCursor } from '../segment.ts';
import type { TableAuditor, Tables } from './tables.ts';

/**
 * The serials of labelled answers. They are given in the transaction that stores a segment, in the order in which
 * segments are stored, so no number is left out and none is given twice, whatever crashes. The stored segment stays as its
 * front wrote it; the serials lie beside it.
 */

/** How many answers a series has had, and how many of them retention dropped. */
export interface SeriesCount {
  readonly count: number;
  readonly dropped: number;
}

export type SeriesRow = Omit<SeriesAnswer, 'serial'>;

type SeriesTables = Pick<Tables, 'series' | 'seriesCounts' | 'serials' | 'publicSeries'>;

const NONE: SeriesCount = { count: 0, dropped: 0 };
/** Sorts behind every id. */
const AFTER_ALL = '~';

/** Numbers the labelled answers of a segment that is stored for the first time. Inside a write transaction. */
export function numberAnswers(tables: SeriesTables, { sequence, entries, notes = [] }: SegmentRecord): void {
  const cursor = new EntryCursor(entries);
  for (const { index, label } of notes) {
    const { series } = label;
    if (series === undefined || !cursor.seek(index)) continue;
    const sum = tables.seriesCounts.get(series) ?? NONE;
    const serial = sum.count + 1;
    tables.seriesCounts.put(series, { ...sum, count: serial });
    const { issuedAtMs } = cursor;
    tables.series.put([series, serial], { sequence, index, issuedAtMs, isPublic: label.isPublic });
    tables.serials.put([sequence, index], serial);
    if (label.purpose !== undefined) tables.publicSeries.put([label.purpose, series], 0);
  }
}

/** The segment with the serials of its labels. */
export function withSerials(tables: SeriesTables, segment: SegmentRecord): SegmentRecord {
  const { sequence, notes } = segment;
  if (notes === undefined) return segment;
  const numbered = notes.map(({ index, label }) => {
    const serial = tables.serials.get([sequence, index]);
    return { index, label: serial === undefined ? label : ({ ...label, serial } satisfies AnswerLabel) };
  });
  return { ...segment, notes: numbered };
}

/** Forgets where the answers of a dropped segment were; the count stays. Inside a write transaction. */
export function dropNumbers(tables: SeriesTables, { sequence, notes = [] }: SegmentRecord): void {
  for (const { index, label } of notes) {
    const serial = tables.serials.get([sequence, index]);
    if (label.series === undefined || serial === undefined) continue;
    tables.serials.remove([sequence, index]);
    tables.series.remove([label.series, serial]);
    const sum = tables.seriesCounts.get(label.series) ?? NONE;
    tables.seriesCounts.put(label.series, { ...sum, dropped: sum.dropped + 1 });
  }
}

/** The answers of `series`, or of the first series of the purpose, from a serial on. */
export function seriesPage(
  tables: SeriesTables,
  purpose: string,
  { series, from, limit }: { series: string | undefined; from: number; limit: number },
): SeriesPage {
  const range = { from: [purpose, ''], before: [purpose, AFTER_ALL], limit: SERIES_LISTED_MAX } as const;
  const listed = [...tables.publicSeries.entries(range)].map(({ key: [, id] }) => {
    return { id, count: tables.seriesCounts.get(id)?.count ?? 0 };
  });
  const asked = series ?? listed.at(0)?.id;
  if (asked === undefined || !tables.publicSeries.has([purpose, asked]))
    return { series: listed, answers: [] };
  const before = [asked, Number.MAX_SAFE_INTEGER] as const;
  const rows = tables.series.entries({ from: [asked, from], before, limit });
  return { series: listed, answers: [...rows].map(({ key: [, serial], value }) => ({ serial, ...value })) };
}

/** Every labelled answer has its number, and every number is of one answer. `segments` are all that are stored. */
export class SeriesAudit {
  /** Serial by `sequence index`, as the segments need them. */
  readonly #expected = new Map<string, { readonly series: string; readonly name: string }>();

  addSegment({ sequence, notes = [] }: SegmentRecord): void {
    for (const { index, label } of notes) {
      const { series } = label;
      if (series !== undefined) {
        const name = `answer ${index} of segment ${sequence}`;
        this.#expected.set(`${sequence} ${index}`, { series, name });
      }
    }
  }

  async check(tables: SeriesTables, auditor: TableAuditor): Promise<void> {
    const serials = new Map<string, number>();
    await auditor.walk(tables.serials, ([sequence, index], serial) => {
      serials.set(`${sequence} ${index}`, serial);
    });
    const kept = new Map<string, number>();
    await auditor.walk(tables.series, ([series, serial], { sequence, index }) => {
      const place = `${sequence} ${index}`;
      if (this.#expected.get(place)?.series !== series || serials.get(place) !== serial)
        auditor.problem(`serial ${serial} of ${series} is not that of its answer`);
      else this.#expected.delete(place);
      kept.set(series, (kept.get(series) ?? 0) + 1);
    });
    for (const { series, name } of this.#expected.values())
      auditor.problem(`${name} has no serial in ${series}`);
    await auditor.walk(tables.seriesCounts, (series, { count, dropped }) => {
      const stored = kept.get(series) ?? 0;
      if (stored !== count - dropped)
        auditor.problem(`${series} has ${stored} answers, and ${count - dropped} are counted`);
    });
  }
}
