import { basename } from 'node:path';
import { reachedFrom } from '../support/import-graph.ts';
import { isInFastTier } from '../tiers.ts';

/** Patches what the tests beside it use, and sees faults that no other test does: it runs last, by itself. */
const SIMULATION = 'test/adversary/sim/sim.test.ts';
/** Keep a process to themselves, and prove other things. */
const NEVER = /^test\/(?!adversary\/sim\/)(adversary|secrets)\//;
/** Most mutants fall to the first few tests, so that the others need not be loaded. Each next process takes more files. */
const FILES_OF_FIRST = 4;
const GROWTH = 3;
const FILES_MAX = 36;

/**
 * The tests that can load a source, the nearest first, in groups of which the next runs on what the one before lets live. A test is
 * near by its name, its room, and by how directly it imports the source; those of the fast tier and those that load little are first
 * among equals.
 */
export function guardsOf(source: string, tests: readonly string[]): string[][] {
  const name = basename(source, '.ts');
  const room = `test/${source.split('/')[1]}/`;
  const near: { readonly test: string; readonly rank: readonly number[] }[] = [];
  for (const test of tests) {
    const reached = reachedFrom(test);
    const imports = reached.get(source);
    if (imports === undefined || NEVER.test(test) || test === SIMULATION) continue;
    const isNamed = basename(test).startsWith(`${name}.`);
    const isOfRoom = test.startsWith(room);
    const distance = isNamed ? 0 : isOfRoom ? Math.min(imports, 2) : imports === 1 ? 3 : 4;
    const runsService = reached.has('src/main.ts');
    const rank = [distance + (runsService && !isNamed ? 4 : 0), isInFastTier(test) ? 0 : 1, reached.size];
    near.push({ test, rank });
  }
  const sorted = near.sort((a, b) => firstDifference(a.rank, b.rank)).map(({ test }) => test);
  const groups: string[][] = [];
  for (let size = FILES_OF_FIRST; sorted.length > 0; size = Math.min(GROWTH * size, FILES_MAX))
    groups.push(sorted.splice(0, size));
  if (tests.includes(SIMULATION) && reachedFrom(SIMULATION).has(source)) groups.push([SIMULATION]);
  return groups;
}

function firstDifference(one: readonly number[], other: readonly number[]): number {
  return one.map((each, i) => each - other[i]).find((difference) => difference !== 0) ?? 0;
}
