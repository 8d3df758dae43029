import { type AnswerLabel, SERIES_LISTED_MAX, type SeriesAnswer, type SeriesPage } from '../label-records.ts';
import type { SeriesPart } from '../ledger.ts';
import type { SegmentRecord } from '../records.ts';
import { EntryCursor } from '../segment.ts';
import { type Body, tx } from '../store.ts';
import { PUBLIC_SERIES, SERIALS, SERIES, SERIES_COUNTS, type SeriesCount } from '../tables.ts';
import type { Auditor } from './auditor.ts';

/**
 * The serials of labelled answers. The transaction that stores a segment gives them, in the order in which segments are
 * stored, so no crash can skip a number or give one twice. The stored segment stays as its front wrote it; the serials are
 * records of their own.
 */

const NONE: SeriesCount = { count: 0, dropped: 0 };
/** Sorts after every id. */
const AFTER_ALL = '~';

/** Returns the locks under which the answers of these segments are numbered or dropped. */
export function seriesLocks(segments: readonly SegmentRecord[]): string[] {
  return seriesOf(labelsOf(segments)).map((series) => `series/${series}`);
}

/** Numbers the labelled answers of segments that are stored for the first time. */
export function* numberAnswers(segments: readonly SegmentRecord[]): Body<void> {
  const labels = labelsOf(segments);
  const counts = yield* countsOf(labels);
  for (const { segment, index, label, series } of labels) {
    const sum = counts.get(series) ?? NONE;
    const serial = sum.count + 1;
    counts.set(series, { ...sum, count: serial });
    yield* tx.put(SERIES, [series, serial], answerAt(segment, index, label));
    yield* tx.put(SERIALS, [segment.sequence, index], serial);
    if (label.purpose !== undefined) yield* tx.put(PUBLIC_SERIES, [label.purpose, series], 0);
  }
  for (const [series, sum] of counts) yield* tx.put(SERIES_COUNTS, series, sum);
}

/** Returns the segments with the serials in their labels. */
export function* withSerials(segments: readonly SegmentRecord[]): Body<SegmentRecord[]> {
  const serials = yield* serialsOf(labelsOf(segments));
  return segments.map((segment) => {
    const { sequence, notes } = segment;
    if (notes === undefined) return segment;
    const numbered = notes.map(({ index, label }) => {
      const serial = serials.get(`${sequence} ${index}`);
      return { index, label: serial === undefined ? label : ({ ...label, serial } satisfies AnswerLabel) };
    });
    return { ...segment, notes: numbered };
  });
}

/** Removes the serials of dropped segments, and counts the answers as dropped. */
export function* dropNumbers(segments: readonly SegmentRecord[]): Body<void> {
  const labels = labelsOf(segments);
  const counts = yield* countsOf(labels);
  const serials = yield* serialsOf(labels);
  for (const { segment, index, series } of labels) {
    const serial = serials.get(`${segment.sequence} ${index}`);
    if (serial === undefined) continue;
    yield* tx.remove(SERIALS, [[segment.sequence, index]]);
    yield* tx.remove(SERIES, [[series, serial]]);
    const sum = counts.get(series) ?? NONE;
    counts.set(series, { ...sum, dropped: sum.dropped + 1 });
  }
  for (const [series, sum] of counts) yield* tx.put(SERIES_COUNTS, series, sum);
}

/** See Books.seriesPage. */
export function* seriesPage(purpose: string, { series, from, limit }: SeriesPart): Body<SeriesPage> {
  const range = { from: [purpose, ''], before: [purpose, AFTER_ALL], limit: SERIES_LISTED_MAX } as const;
  const ids = (yield* tx.range(PUBLIC_SERIES, range)).map(({ key: [, id] }) => id);
  const counts = yield* tx.getMany(SERIES_COUNTS, ids);
  const listed = ids.map((id, i) => ({ id, count: counts[i]?.count ?? 0 }));
  const asked = series ?? ids.at(0);
  if (asked === undefined || (yield* tx.get(PUBLIC_SERIES, [purpose, asked])) === undefined)
    return { series: listed, answers: [] };
  const before = [asked, Number.MAX_SAFE_INTEGER] as const;
  const rows = yield* tx.range(SERIES, { from: [asked, from], before, limit });
  return { series: listed, answers: rows.map(({ key: [, serial], value }) => ({ serial, ...value })) };
}

interface Labelled {
  readonly segment: SegmentRecord;
  readonly index: number;
  readonly label: AnswerLabel;
  readonly series: string;
}

function labelsOf(segments: readonly SegmentRecord[]): Labelled[] {
  return segments.flatMap((segment) =>
    (segment.notes ?? []).flatMap(({ index, label }) =>
      label.series === undefined ? [] : [{ segment, index, label, series: label.series }],
    ),
  );
}

function answerAt(
  { sequence, entries }: SegmentRecord,
  index: number,
  { isPublic }: AnswerLabel,
): Omit<SeriesAnswer, 'serial'> {
  const cursor = new EntryCursor(entries);
  cursor.seek(index); // flawOfNotes has checked that the entry exists
  return { sequence, index, issuedAtMs: cursor.issuedAtMs, isPublic };
}

function seriesOf(labels: readonly Labelled[]): string[] {
  return [...new Set(labels.map(({ series }) => series))];
}

function* countsOf(labels: readonly Labelled[]): Body<Map<string, SeriesCount>> {
  const ids = seriesOf(labels);
  if (ids.length === 0) return new Map();
  const counts = yield* tx.getMany(SERIES_COUNTS, ids);
  return new Map(ids.map((id, i) => [id, counts[i] ?? NONE]));
}

/** Returns the serials by `sequence index`. */
function* serialsOf(labels: readonly Labelled[]): Body<Map<string, number>> {
  const serials = new Map<string, number>();
  if (labels.length === 0) return serials;
  const keys = labels.map(({ segment: { sequence }, index }) => [sequence, index] as const);
  for (const [i, serial] of (yield* tx.getMany(SERIALS, keys)).entries())
    if (serial !== undefined) serials.set(keys[i].join(' '), serial);
  return serials;
}

/** Checks that every labelled answer has a serial, and that every serial belongs to one answer. */
export class SeriesAudit {
  /** The series of each labelled answer, and its value in SERIES. By the answer's key in SERIALS. */
  readonly #labelled = new Map<string, { series: string; answer: Omit<SeriesAnswer, 'serial'> }>();

  /** To be called with every stored segment before `check`. */
  addSegment(segment: SegmentRecord): void {
    for (const { index, label, series } of labelsOf([segment])) {
      const answer = answerAt(segment, index, label);
      this.#labelled.set(String([segment.sequence, index]), { series, answer });
    }
  }

  async check(auditor: Auditor): Promise<void> {
    const places = [...this.#labelled.keys()].map((place) => [place, undefined] as const);
    const serials = await auditor.implied(SERIALS, new Map(places));
    const answers = new Map<string, Omit<SeriesAnswer, 'serial'>>();
    const stored = new Map<string, number>();
    for (const [place, { series, answer }] of this.#labelled) {
      const serial = serials.get(place);
      if (serial !== undefined) answers.set(String([series, serial]), answer);
      stored.set(series, (stored.get(series) ?? 0) + 1);
    }
    await auditor.implied(SERIES, answers);
    await auditor.walk(SERIES_COUNTS, (series, { count, dropped }) => {
      const answered = stored.get(series) ?? 0;
      if (answered !== count - dropped)
        auditor.problem(`${series} has ${answered} answers, and ${count - dropped} are counted`);
    });
  }
}
