import type { BenchRun, Subject } from './suite.ts';
import type { Measure } from './tables.ts';

/** The contender's name for a subject: with one subject nothing needs telling apart. */
export function nameFor(run: BenchRun, subject: Subject, what: string): string {
  return run.subjects.length === 1 ? what : what + suffix(subject);
}

/**
 * With two subjects every table has one more column: the first subject divided by the second. It is empty in rows of the second
 * subject and of contenders that belong to none.
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
