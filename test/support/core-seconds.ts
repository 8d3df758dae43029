import { existsSync, readFileSync } from 'node:fs';

const STAT = '/proc/self/stat';
/** Fields behind the name of the program, which is in parentheses: cutime and cstime of proc(5). */
const [CHILD_USER, CHILD_SYSTEM] = [13, 14];
const TICKS_PER_S = 100; // what Linux tells programs, whatever its own clock

/** Processor time of the children of this process that have ended, with theirs; `undefined` where the system does not tell. */
export function childCoreSeconds(): number | undefined {
  if (!existsSync(STAT)) return undefined;
  const stat = readFileSync(STAT, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[CHILD_USER]) + Number(fields[CHILD_SYSTEM])) / TICKS_PER_S;
}
