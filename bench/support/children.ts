import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';

const running = new Set<ChildProcess>();
const folders = new Set<string>();

/** Ends all servers and removes all data when this process ends, unless SIGKILL ends it. */
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const pid of ownChildren()) killIfAlive(pid);
  // A killed server may still write for a moment, hence the retries.
  for (const folder of folders)
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

/** Kills the child when this process ends. */
export function endWithUs(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** Removes the folder when this process ends. */
export function removeWithUs(folder: string): void {
  folders.add(folder);
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // the child had ended already
  }
}

/** Returns the children of this process from /proc, including those that are still starting and not registered here. */
function ownChildren(): number[] {
  const tasks = `/proc/${process.pid}/task`;
  try {
    return readdirSync(tasks).flatMap((thread) => {
      const pids = readFileSync(`${tasks}/${thread}/children`, 'utf8').split(' ');
      return pids.filter((pid) => pid !== '').map(Number);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}
