import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A test that imports this starts the service, which loads every module. */
const SERVER = 'test/support/server.ts';
const MAIN = 'src/main.ts';
const SPECIFIER = /'(\.\.?\/[^'\n]+\.(?:ts|mjs))'/g;

const known = new Map<string, readonly string[]>();

/** Modules that a file names by a relative path: imports, workers and children. A test server runs the whole service. */
export function namedBy(path: string): readonly string[] {
  let named = known.get(path);
  if (named === undefined) {
    const text = globSync(path).length === 0 ? '' : readFileSync(path, 'utf8');
    named = [...text.matchAll(SPECIFIER)].map(([, specifier]) => join(dirname(path), specifier));
    if (path === SERVER) named = [...named, MAIN];
    known.set(path, named);
  }
  return named;
}

/** Returns every module that `path` can load, with the smallest number of imports between them. */
export function reachedFrom(path: string): ReadonlyMap<string, number> {
  const steps = new Map([[path, 0]]);
  // A map gives also what is added to it meanwhile, in the order in which that was added: nearest first.
  for (const [from, count] of steps)
    for (const each of namedBy(from)) if (!steps.has(each)) steps.set(each, count + 1);
  return steps;
}
