import type { Rounds } from './rounds.ts';
import type { Summary } from './statistics.ts';
import type { BenchRun, Column, Subject } from './suite.ts';

/** The contender's name for a subject: with one subject nothing needs telling apart. */
export function nameFor(run: BenchRun, subject: Subject, what: string): string {
  return run.subjects.length === 1 ? what : what + suffix(subject);
}

/** With two subjects every table has one more column: the first subject divided by the second. */
export function comparisonColumn(run: BenchRun, what: string): readonly Column[] {
  if (run.subjects.length === 1) return [];
  const [newer, older] = run.subjects;
  return [{ title: `${what} ${newer.name} / ${older.name}`, spread: true }];
}

/** The cell of that column; empty in rows of the second subject and of contenders that belong to none. */
export function comparisonCell(
  run: BenchRun,
  rounds: Rounds,
  name: string,
  quantity: string,
): readonly (Summary | undefined)[] {
  if (run.subjects.length === 1) return [];
  const [newer, older] = run.subjects;
  if (!name.endsWith(suffix(newer))) return [undefined];
  return [rounds.ratio(name, name.slice(0, -suffix(newer).length) + suffix(older), quantity)];
}

function suffix(subject: Subject): string {
  return ` [${subject.name}]`;
}
