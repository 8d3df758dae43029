import { basename } from 'node:path';
import { reachedFrom } from '../support/import-graph.ts';

/** Patches what the tests beside it use, and sees faults that no other test does: it runs last, by itself. */
const SIMULATION = 'test/adversary/sim/sim.test.ts';
/** Keep a process to themselves, and prove other things. */
const NEVER = /^test\/(?!adversary\/sim\/)(adversary|secrets)\//;

/**
 * The tests that can load a source, in groups of which the next runs on what the one before lets live: those with its name or
 * that import it; those of its room; the others that call it; those that send requests to a running service; the simulation.
 */
export function guardsOf(source: string, tests: readonly string[]): string[][] {
  const name = basename(source, '.ts');
  const room = `test/${source.split('/')[1]}/`;
  const groups: string[][] = [[], [], [], [], []];
  const near: [test: string, imports: number][] = [];
  for (const test of tests) {
    const reached = reachedFrom(test);
    const imports = reached.get(source);
    if (imports === undefined || NEVER.test(test)) continue;
    if (test === SIMULATION) groups[4].push(test);
    else if (basename(test).startsWith(`${name}.`) || imports === 1) near.push([test, imports]);
    else if (test.startsWith(room)) groups[1].push(test);
    else groups[reached.has('src/main.ts') ? 3 : 2].push(test);
  }
  groups[0].push(...near.sort(([, one], [, other]) => one - other).map(([test]) => test));
  return groups.filter(({ length }) => length > 0);
}
