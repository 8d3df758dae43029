import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ROOMS } from '../seams.ts';
import { reachedFrom } from '../support/import-graph.ts';
import { isInFastTier } from '../tiers.ts';

/** Keep a process to themselves, and most of them prove other things: those that hold a room to its promises run last. */
const ADVERSARY = /^test\/(adversary|secrets)\//;
/** Sees faults of every room that no other test does. */
const SIMULATION = 'test/adversary/sim/sim.test.ts';
/** What a test loads that starts the service as a process, for several core-seconds: the files of one group share it. */
const SERVICE = 'src/main.ts';
/** Suites that hold every room to what it does in a whole service. */
const OF_SERVICE = /^test\/(api|overload)\//;
/** They ask the room http for all that it promises. */
const OF_HTTP = /^test\/api\//;
/** Most mutants fall to the first few tests, so that the others need not be loaded. */
const FILES_OF_FIRST = 4;
const FILES_MAX = 36;
/** The turn of a room's tests that take long. Node runs the files of a process by their names: of these a few at a time. */
const LONG_OF_ROOM = 2;

/** Tests that killed a mutant so far, by the base name of their file: how often, and of which sources. */
export type Kills = ReadonlyMap<string, readonly string[]>;

interface Guard {
  readonly test: string;
  /** The lowest first. */
  readonly turn: number;
  /** Of those with one turn, the lowest first. */
  readonly rank: readonly number[];
}

/**
 * The tests that can load a source, the likeliest to fail for the fewest core-seconds first, in groups of which the next runs on what
 * the one before lets live: those of its room and the suites that hold the room to its promises, first without a service, then with
 * one, then what takes long; whoever imports it; suites of the whole service; and all others. First among equals are those that
 * killed a mutant of the file before, those of its name, those that are nearest to it, those that killed most, and those that load little.
 */
export function guardsOf(source: string, tests: readonly string[], kills: Kills = new Map()): string[][] {
  const name = basename(source, '.ts');
  const [, room] = source.split('/');
  const suites = Object.entries(ROOMS)
    .filter(([each]) => each.startsWith(room))
    .flatMap(([, promises]) => promises.flatMap(([, ...all]) => all));
  const guards: Guard[] = [];
  for (const test of tests) {
    const reached = reachedFrom(test);
    const imports = reached.get(source);
    if (imports === undefined || ADVERSARY.test(test)) continue;
    const file = basename(test);
    const killed = kills.get(file) ?? [];
    const hasKilled = killed.includes(source);
    const isServed = reached.has(SERVICE);
    const isFast = isInFastTier(test);
    const isOfName = file.startsWith(`${name}.`) || file.startsWith(`${name}-`);
    const folder = dirname(test).replace(/^test/, 'src');
    const isOfFolder = source.startsWith(`${folder}/`) || !existsSync(folder); // else of another part of the room
    const isOfRoom =
      suites.includes(test) ||
      (test.startsWith(`test/${room}/`) && isOfFolder) ||
      (room === 'http' && OF_HTTP.test(test));
    const turns = [
      (hasKilled || (isOfRoom && isFast)) && !isServed,
      hasKilled || (isOfRoom && isFast),
      isOfRoom,
      imports === 1,
      OF_SERVICE.test(test),
      true,
    ];
    const rank = [hasKilled ? 0 : 1, isOfName ? 0 : 1, isFast ? 0 : 1, imports, -killed.length, reached.size];
    guards.push({ test, turn: turns.indexOf(true), rank });
  }
  guards.sort((a, b) => firstDifference([a.turn, ...a.rank], [b.turn, ...b.rank]));
  const groups: string[][] = [];
  for (const [turn, ofTurn] of Map.groupBy(guards, (guard) => guard.turn)) {
    const files = ofTurn.map(({ test }) => test);
    if (groups.length === 0) groups.push(files.splice(0, FILES_OF_FIRST));
    while (files.length > 0) groups.push(files.splice(0, turn === LONG_OF_ROOM ? FILES_OF_FIRST : FILES_MAX));
  }
  const alone = [SIMULATION, ...suites].filter((each) => ADVERSARY.test(each) && tests.includes(each));
  for (const test of new Set(alone)) if (reachedFrom(test).has(source)) groups.push([test]);
  return groups;
}

function firstDifference(one: readonly number[], other: readonly number[]): number {
  return one.map((each, i) => each - other[i]).find((difference) => difference !== 0) ?? 0;
}
