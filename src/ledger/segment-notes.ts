import type { AnswerLabel, EntryNote } from './label-records.ts';
import type { SegmentRecord } from './records.ts';

/** The texts of a label in their stored order; a serial is kept beside the segment (ledger/lmdb/series.ts). */
const LABEL_TEXTS = [
  'purpose',
  'purposeCommitment',
  'series',
  'userData',
  'userDataSha256',
  'userDataCommitment',
] as const satisfies readonly (keyof AnswerLabel)[];

/** A note as the head of a segment holds it. */
export function packedNote({ index, label }: EntryNote): unknown[] {
  return [index, label.isPublic, ...LABEL_TEXTS.map((name) => label[name] ?? null)];
}

/** Undefined for anything that `packedNote` did not make. */
export function noteOf(packed: unknown): EntryNote | undefined {
  if (!Array.isArray(packed) || packed.length !== 2 + LABEL_TEXTS.length) return undefined;
  const [index, isPublic, ...texts] = packed as unknown[];
  if (typeof index !== 'number' || typeof isPublic !== 'boolean') return undefined;
  if (!texts.every((text) => text === null || typeof text === 'string')) return undefined;
  const given = LABEL_TEXTS.map((name, i) => [name, texts[i]]).filter(([, text]) => text !== null);
  return { index, label: { isPublic, ...(Object.fromEntries(given) as Partial<AnswerLabel>) } };
}

/** The label of an entry; undefined where it has none. */
export function labelAt({ notes }: SegmentRecord, index: number): AnswerLabel | undefined {
  return notes?.find((note) => note.index === index)?.label;
}

/** What is wrong with the notes of a segment, in words. */
export function flawOfNotes(notes: readonly EntryNote[], count: number): string | undefined {
  let last = -1;
  for (const { index, label } of notes) {
    if (!Number.isInteger(index) || index <= last || index >= count) return `no entry ${index} can be noted`;
    const hasPurpose = (label.isPublic ? label.purpose : label.purposeCommitment) !== undefined;
    if (hasPurpose !== (label.series !== undefined)) return `entry ${index} has a purpose without a series`;
    last = index;
  }
  return undefined;
}
