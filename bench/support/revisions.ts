import type { BenchRun, Subject } from './suite.ts';
import type { Measure } from './tables.ts';

/** Returns the contender's name for a subject, which includes the subject only if there are two. */
export function nameFor(run: BenchRun, subject: Subject, what: string): string {
  return run.subjects.length === 1 ? what : what + suffix(subject);
}

/**
 * Returns a column with the first subject divided by the second, or none with one subject. It is empty in rows of the
 * second subject and of contenders that belong to no subject.
 */
export function comparison({ subjects }: BenchRun, what: string, quantity: string): readonly Measure[] {
  if (subjects.length === 1) return [];
  const [newer, older] = subjects;
  const title = `${what} ${newer.name} / ${older.name}`;
  return [
    {
      title,
      spread: true,
      cell(rounds, name) {
        if (!name.endsWith(suffix(newer))) return undefined;
        return rounds.ratio(name, name.slice(0, -suffix(newer).length) + suffix(older), quantity);
      },
    },
  ];
}

function suffix(subject: Subject): string {
  return ` [${subject.name}]`;
}
