import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { endWithUs } from './children.ts';
import type { Suite } from './suite.ts';

/**
 * A suite that is a program of its own, bench/NAME.bench.ts: it prints its tables and writes its JSON by itself. It
 * measures the working tree alone.
 */
export function scriptSuite(
  suite: Pick<Suite, 'name' | 'summary' | 'byDefault'>,
  args: readonly string[] = [],
): Suite {
  const program = fileURLToPath(new URL(`../${suite.name}.bench.ts`, import.meta.url));
  return {
    ...suite,
    async run() {
      const child = spawn(process.execPath, [program, ...args], {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      endWithUs(child);
      await new Promise<void>((resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (code, signal) => {
          if (code === 0) resolve();
          else reject(new Error(`${program} ended with ${code ?? signal}`));
        });
      });
      return undefined;
    },
  };
}
