import { basename } from 'node:path';
import { ROOMS } from '../seams.ts';
import { reachedFrom } from '../support/import-graph.ts';
import { isInFastTier } from '../tiers.ts';

/** Keep a process to themselves, and most of them prove other things: those that hold a room to its promises run last. */
const ADVERSARY = /^test\/(adversary|secrets)\//;
/** Sees faults of every room that no other test does. */
const SIMULATION = 'test/adversary/sim/sim.test.ts';
/** Suites that hold every room to what it does in a whole service, beside those that seams.ts names. */
const OF_SERVICE = /^test\/(api|overload)\//;
/** Most mutants fall to the first few tests, so that the others need not be loaded. Each next process takes more files. */
const FILES_OF_FIRST = 4;
const GROWTH = 3;
const FILES_MAX = 36;

/** Tests that killed a mutant so far, by the base name of their file: how often, and of which sources. */
export type Kills = ReadonlyMap<string, readonly string[]>;

/**
 * The tests that can load a source, the likeliest to fail first, in groups of which the next runs on what the one before lets live:
 * those that killed a mutant of the file before, those of its name, those of its room and the suites that hold the room to its
 * promises, then whoever imports it, suites of the whole service, and all others. First among equals are those that killed most, those
 * of the fast tier, and those that load little.
 */
export function guardsOf(source: string, tests: readonly string[], kills: Kills = new Map()): string[][] {
  const name = basename(source, '.ts');
  const [, room] = source.split('/');
  const suites = Object.entries(ROOMS)
    .filter(([each]) => each.startsWith(room))
    .flatMap(([, promises]) => promises.flatMap(([, ...all]) => all));
  const near: { readonly test: string; readonly rank: readonly number[] }[] = [];
  for (const test of tests) {
    const reached = reachedFrom(test);
    const imports = reached.get(source);
    if (imports === undefined || ADVERSARY.test(test)) continue;
    const file = basename(test);
    const killed = kills.get(file) ?? [];
    const places = [
      killed.includes(source),
      file.startsWith(`${name}.`) || file.startsWith(`${name}-`),
      suites.includes(test) || (test.startsWith(`test/${room}/`) && imports === 1),
      test.startsWith(`test/${room}/`),
      imports === 1,
      OF_SERVICE.test(test),
      true,
    ];
    const rank = [places.indexOf(true), -killed.length, isInFastTier(test) ? 0 : 1, reached.size];
    near.push({ test, rank });
  }
  const sorted = near.sort((a, b) => firstDifference(a.rank, b.rank)).map(({ test }) => test);
  const groups: string[][] = [];
  for (let size = FILES_OF_FIRST; sorted.length > 0; size = Math.min(GROWTH * size, FILES_MAX))
    groups.push(sorted.splice(0, size));
  const alone = [SIMULATION, ...suites].filter((each) => ADVERSARY.test(each) && tests.includes(each));
  for (const test of new Set(alone)) if (reachedFrom(test).has(source)) groups.push([test]);
  return groups;
}

function firstDifference(one: readonly number[], other: readonly number[]): number {
  return one.map((each, i) => each - other[i]).find((difference) => difference !== 0) ?? 0;
}
