import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Facts about the machine without which a figure means nothing. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly system: string;
  readonly node: string;
  /** Threads that ran or waited in the minute before the suite. A high count means that others make the figures noisy. */
  readonly loadAverage: number;
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    loadAverage: Number(loadavg()[0].toFixed(2)),
  };
}

/** Returns the commit of a folder, with a plus when files differ from it; `unknown` outside git. */
export function revisionOf(root: URL): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: fileURLToPath(root),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no').trim() !== '';
    return git('rev-parse', '--short=12', 'HEAD').trim() + (changed ? '+' : '');
  } catch {
    return 'unknown'; // no git or no repository; the figures are valid all the same
  }
}
