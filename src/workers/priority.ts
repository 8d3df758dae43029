import { constants, getPriority, setPriority } from 'node:os';

/**
 * Puts this thread so many steps behind the others of the process. On Linux a priority is that of a thread; elsewhere it is that of the
 * process, and is left alone. It only ever falls, which needs no privilege.
 */
export function stepBehind(steps: number): void {
  if (process.platform !== 'linux') return;
  setPriority(0, Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + steps));
}
