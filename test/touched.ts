import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { reachedFrom } from './support/import-graph.ts';

function git(...args: string[]): string[] {
  return execFileSync('git', args, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

/**
 * The test files that can load a file that changed since the working tree branched off `base`. What is no module, as a page of
 * docs, touches the tests whose own modules name it.
 */
export function touchedSince(base: string, tests: readonly string[]): string[] {
  const [branched] = git('merge-base', base, 'HEAD');
  const changed = [
    ...git('diff', '--name-only', branched),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
  const others = changed.filter((path) => !/\.(ts|mjs)$/.test(path)).map((path) => basename(path));
  const namesOther = (module: string) =>
    module.startsWith('test/') && others.some((name) => readFileSync(module, 'utf8').includes(name));
  const touched = tests.filter((test) => {
    const reached = reachedFrom(test);
    return changed.some((path) => reached.has(path)) || [...reached.keys()].some(namesOther);
  });
  process.stdout.write(
    `${changed.length} files changed since ${base}, which ${touched.length} test files can load\n`,
  );
  return touched;
}
