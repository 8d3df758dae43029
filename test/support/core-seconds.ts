import { existsSync, readdirSync, readFileSync } from 'node:fs';

const STAT = '/proc/self/stat';
/** Fields behind the name of the program, which is in parentheses: pgrp, utime, stime, cutime and cstime of proc(5). */
const [GROUP, USER, SYSTEM, CHILD_USER, CHILD_SYSTEM] = [2, 11, 12, 13, 14];
const TICKS_PER_S = 100; // what Linux tells programs, whatever its own clock

/** Undefined where the system does not tell, or when the process has ended. */
function fieldsOf(path: string): readonly number[] | undefined {
  try {
    const stat = readFileSync(path, 'utf8');
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return undefined;
  }
}

/** Processor time of the children of this process that have ended, with theirs; `undefined` where the system does not tell. */
export function childCoreSeconds(): number | undefined {
  const fields = fieldsOf(STAT);
  return fields && (fields[CHILD_USER] + fields[CHILD_SYSTEM]) / TICKS_PER_S;
}

/** Processor time of the group of this process: its own, that of what it started, and that of what has ended of both. */
export function groupCoreSeconds(): number {
  if (!existsSync(STAT)) return Number.NaN;
  const group = fieldsOf(STAT)![GROUP];
  const ticks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => fieldsOf(`/proc/${pid}/stat`))
    .filter((fields) => fields?.[GROUP] === group)
    .flatMap((fields) => [USER, SYSTEM, CHILD_USER, CHILD_SYSTEM].map((at) => fields![at]));
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_S;
}
