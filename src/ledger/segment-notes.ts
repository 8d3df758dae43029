import type { AnswerLabel, EntryNote } from './label-records.ts';
import type { SegmentRecord } from './records.ts';

/** The texts of a label in their stored order. Serials are stored beside the segment (ledger/domain/series.ts). */
const LABEL_TEXTS = [
  'purpose',
  'purposeCommitment',
  'series',
  'userData',
  'userDataSha256',
  'userDataCommitment',
] as const satisfies readonly (keyof AnswerLabel)[];

/** A note as the head of a segment stores it. */
export type PackedNote = readonly [index: number, isPublic: boolean, ...texts: readonly (string | null)[]];

export function packedNote({ index, label }: EntryNote): PackedNote {
  return [index, label.isPublic, ...LABEL_TEXTS.map((name) => label[name] ?? null)];
}

export function noteOf([index, isPublic, ...texts]: PackedNote): EntryNote {
  const given = LABEL_TEXTS.map((name, i) => [name, texts[i]]).filter(([, text]) => text !== null);
  return { index, label: { isPublic, ...(Object.fromEntries(given) as Partial<AnswerLabel>) } };
}

/** Returns the label of an entry; undefined when it has none. */
export function labelAt({ notes }: SegmentRecord, index: number): AnswerLabel | undefined {
  return notes?.find((note) => note.index === index)?.label;
}

/** Says in words what is wrong with the notes of a segment; undefined when nothing is. */
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
