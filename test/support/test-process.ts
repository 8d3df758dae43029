// A command of `npm test`, in a process group of its own, so that nothing which it started outlives it or keeps the run waiting.
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Interval of the check for output. */
const LOOK_MS = 100;

/** A runner that is told to end ends its groups too: a signal by itself skips what `exit` does. */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

export interface Ended {
  /** The program that ran, and its arguments. */
  readonly command: readonly string[];
  /** Its start, by `performance.now()`. */
  readonly beganMs: number;
  readonly tookMs: number;
  /** Whether it exited with 0. */
  readonly hasPassed: boolean;
  /** Whether it was ended because it wrote nothing for too long. */
  readonly hung: boolean;
  /** Its output on stdout: TAP if it is a test. */
  readonly output: string;
  /** Its output on stderr, and the signal if one ended it. */
  readonly errors: string;
}

/**
 * Runs a command until it exits, or until it has written nothing for `silenceMs`. What it started and left behind is ended with
 * it. It writes into files: what Node has queued for a pipe is lost when a process exits, the results of tests among it.
 */
export async function runProcess(
  command: readonly string[],
  silenceMs: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const [program, ...args] = command;
  const folder = mkdtempSync(join(tmpdir(), 'qrn-run-'));
  const [outPath, errPath] = [join(folder, 'out'), join(folder, 'err')];
  const [out, err] = [openSync(outPath, 'w'), openSync(errPath, 'w')];
  const beganMs = performance.now();
  const child = spawn(program, args, {
    stdio: ['ignore', out, err],
    detached: true,
    env: { ...process.env, ...environment },
  });
  let hung = false;
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // nothing is left of the group
    }
  };
  let [size, wroteAtMs] = [0, beganMs];
  const silence = setInterval(() => {
    const now = fstatSync(out).size + fstatSync(err).size;
    if (now !== size) [size, wroteAtMs] = [now, performance.now()];
    hung = performance.now() - wroteAtMs > silenceMs;
    if (hung) endGroup();
  }, LOOK_MS);
  process.once('exit', endGroup);
  const { promise, resolve, reject } = Promise.withResolvers<[code: number | null, signal: string | null]>();
  child.once('error', reject);
  child.once('exit', (code, signal) => resolve([code, signal]));
  try {
    const [code, signal] = await promise;
    const tookMs = performance.now() - beganMs;
    endGroup();
    const told = hung ? `ended: it wrote nothing for ${silenceMs / 1_000} s\n` : `ended by ${signal}\n`;
    return {
      command,
      beganMs,
      tookMs,
      hasPassed: code === 0,
      hung,
      output: readFileSync(outPath, 'utf8'),
      errors: readFileSync(errPath, 'utf8') + (signal === null ? '' : told),
    };
  } finally {
    clearInterval(silence);
    process.off('exit', endGroup);
    for (const fd of [out, err]) closeSync(fd);
    rmSync(folder, { recursive: true, force: true });
  }
}
