// A command of `npm test`, in a process group of its own, so that nothing which it started outlives it or keeps the run waiting.
import { spawn } from 'node:child_process';

/** How long what is left in its pipes may take to arrive after a process has ended. */
const DRAIN_MS = 2_000;

export interface Ended {
  /** The program that ran, and its arguments. */
  readonly command: readonly string[];
  /** When it was begun, by `performance.now()`. */
  readonly beganMs: number;
  readonly tookMs: number;
  /** Whether it exited with 0. */
  readonly hasPassed: boolean;
  /** Whether it was ended because it wrote nothing for too long. */
  readonly hung: boolean;
  /** What it wrote to stdout: TAP, when it is a test. */
  readonly output: string;
  /** What it wrote to stderr, and how it was ended if a signal ended it. */
  readonly errors: string;
}

/**
 * Runs a command until it exits, or until it has written nothing for `silenceMs`. What it started and left behind is ended with
 * it. A pipe that such a process holds open does not keep the caller waiting.
 */
export function runProcess(command: readonly string[], silenceMs: number): Promise<Ended> {
  const [program, ...args] = command;
  const beganMs = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  let hung = false;
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // nothing is left of the group
    }
  };
  const silence = setTimeout(() => {
    hung = true;
    endGroup();
  }, silenceMs);
  child.stdout.on('data', (chunk: Buffer) => {
    output.push(chunk);
    silence.refresh();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors.push(chunk);
    silence.refresh();
  });
  process.once('exit', endGroup);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(silence);
      endGroup();
      const drain = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(drain);
        process.off('exit', endGroup);
        if (hung) errors.push(Buffer.from(`ended: it wrote nothing for ${silenceMs / 1_000} s\n`));
        else if (signal !== null) errors.push(Buffer.from(`ended by ${signal}\n`));
        resolve({
          command,
          beganMs,
          tookMs: performance.now() - beganMs,
          hasPassed: code === 0,
          hung,
          output: Buffer.concat(output).toString('utf8'),
          errors: Buffer.concat(errors).toString('utf8'),
        });
      });
    });
  });
}
