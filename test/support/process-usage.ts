import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Linux tells user space that it has 100 ticks a second, whatever it has. */
const TICKS_PER_S = 100;
/** Fields of proc(5) behind the name of the program, which is in parentheses: pgrp, utime, stime, cutime and cstime. */
const [GROUP, USER, SYSTEM, CHILD_USER, CHILD_SYSTEM] = [2, 11, 12, 13, 14];

/** Undefined where the system does not tell, or when the process has ended. */
function statOf(process: number | 'self'): readonly number[] | undefined {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'utf8');
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
  const fields = statOf('self');
  return fields && (fields[CHILD_USER] + fields[CHILD_SYSTEM]) / TICKS_PER_S;
}

/** Processor time of the group of this process: its own, that of what it started, and that of what has ended of both. */
export function groupCoreSeconds(): number {
  const own = statOf('self');
  if (own === undefined) return Number.NaN;
  const ticks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => statOf(Number(pid)))
    .filter((fields) => fields?.[GROUP] === own[GROUP])
    .flatMap((fields) => [USER, SYSTEM, CHILD_USER, CHILD_SYSTEM].map((at) => fields![at]));
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_S;
}

/** CPU time that a process used so far, in nanoseconds. */
export interface CpuTime {
  readonly allNs: number;
  /** The thread that Node runs JavaScript's main thread on: for the service, the front. */
  readonly mainNs: number;
}

/**
 * Returns the CPU time by /proc (Linux), to the nanosecond; undefined elsewhere. The time of an ended thread is lost.
 */
export function cpuTime(pid: number): CpuTime | undefined {
  const threads = threadTimes(pid);
  const mainNs = threads.get(pid);
  return mainNs === undefined
    ? undefined
    : { allNs: [...threads.values()].reduce((sum, ns) => sum + ns), mainNs };
}

/** Returns the CPU time of each thread by its id, of which the main one has the process's; empty elsewhere. */
export function threadTimes(pid: number): Map<number, number> {
  const tasks = `/proc/${pid}/task`;
  const times = new Map<number, number>();
  if (!existsSync(tasks)) return times;
  for (const thread of readdirSync(tasks)) {
    try {
      const spent = readFileSync(`${tasks}/${thread}/schedstat`, 'utf8').split(' ', 1)[0];
      times.set(Number(thread), Number(spent));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // it has just ended
    }
  }
  return times;
}

/** Returns the CPU time of all threads that the process ever had, to 10 ms, in ms. */
export function cpuTimeEver(pid: number): number | undefined {
  const fields = statOf(pid);
  return fields && ((fields[USER] + fields[SYSTEM]) * 1_000) / TICKS_PER_S;
}

/** Sizes in MiB. */
export interface ResidentMemory {
  readonly nowMib: number;
  /** Memory without mapped files: touched pages of the ledger count as resident too. */
  readonly privateMib: number;
  /** The highest so far. */
  readonly peakMib: number;
}

/** Undefined where there is no /proc. */
export function residentMemory(pid: number): ResidentMemory | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  return { nowMib: mib('VmRSS'), privateMib: mib('RssAnon'), peakMib: mib('VmHWM') };
}
