import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ROOMS } from '../seams.ts';
import { reachedFrom } from '../support/import-graph.ts';
import { isInFastTier } from '../tiers.ts';

/** Keep a process to themselves, and most of them prove other things: those that hold a room to its promises run last. */
const ADVERSARY = /^test\/(adversary|secrets)\//;
/** Sees faults of every room that no other test does. */
const SIMULATION = 'test/adversary/sim/sim.test.ts';
/**
 * A test that loads this starts the service as a process, for several core-seconds: the files of one group share it.
 */
const SERVICE = 'src/main.ts';
/** Suites that hold every room to what it does in a whole service. */
const OF_SERVICE = /^test\/(api|overload)\//;
/** They ask these rooms for all that they promise. */
const ALSO_OF: Readonly<Record<string, RegExp>> = { http: /^test\/api\//, answer: /^test\/overload\// };
/** Most mutants fall to the first few tests, so that the others need not be loaded. */
const FILES_OF_FIRST = 4;
/** Node runs the files of a process by their names, whatever order they are given in: no group takes much longer when all of it is run. */
const GROUP_FILES_MAX = 36;
const GROUP_CORE_SECONDS_MAX = 8;
/** Assumed duration of tests of the full tier until they were measured. */
const LONG_CORE_SECONDS = 4;

/** Sources of mutants that a test killed so far, by its path. */
export type Kills = ReadonlyMap<string, readonly string[]>;
/** The longest duration of a test so far, by its path. */
export type Took = ReadonlyMap<string, number>;

interface Guard {
  readonly test: string;
  /** The lowest first. */
  readonly turn: number;
  /** The rank among guards of one turn, lowest first. */
  readonly rank: readonly number[];
  readonly coreSeconds: number;
}

/**
 * The tests that can load a source, the likeliest to fail for the fewest core-seconds first, in groups of which the next runs on what
 * the one before lets live: those of its room and the suites that hold the room to its promises, first without a service, then with
 * one, then what takes long; whoever imports it; suites of the whole service; and all others. First among equals are those that
 * killed a mutant of the file before, those of its name, those that are near to it and short, and those that killed most.
 */
export function guardsOf(
  source: string,
  tests: readonly string[],
  kills: Kills = new Map(),
  took: Took = new Map(),
): string[][] {
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
    const killed = kills.get(test) ?? [];
    const hasKilled = killed.includes(source);
    const isServed = reached.has(SERVICE);
    const coreSeconds = took.get(test) ?? (isInFastTier(test) ? 0 : LONG_CORE_SECONDS);
    const isShort = coreSeconds < LONG_CORE_SECONDS;
    const isOfName = file.startsWith(`${name}.`) || file.startsWith(`${name}-`);
    const folder = dirname(test).replace(/^test/, 'src');
    const isOfFolder = source.startsWith(`${folder}/`) || !existsSync(folder); // else of another part of the room
    const isOfRoom =
      hasKilled ||
      suites.includes(test) ||
      (test.startsWith(`test/${room}/`) && isOfFolder) ||
      ALSO_OF[room]?.test(test);
    const turns = [
      isOfRoom && isShort && !isServed,
      isOfRoom && isShort,
      isOfRoom,
      imports === 1,
      OF_SERVICE.test(test),
      true,
    ];
    const cost = imports * Math.max(1, coreSeconds);
    const rank = [hasKilled ? 0 : 1, isOfName ? 0 : 1, isShort ? 0 : 1, cost, -killed.length, reached.size];
    guards.push({ test, turn: turns.indexOf(true), rank, coreSeconds });
  }
  guards.sort((a, b) => firstDifference([a.turn, ...a.rank], [b.turn, ...b.rank]));
  const turns = [...Map.groupBy(guards, (guard) => guard.turn).values()];
  const groups = turns.flatMap((ofTurn, at) => groupsOf(ofTurn, at === 0 ? FILES_OF_FIRST : GROUP_FILES_MAX));
  const alone = [SIMULATION, ...suites].filter((each) => ADVERSARY.test(each) && tests.includes(each));
  for (const test of new Set(alone)) if (reachedFrom(test).has(source)) groups.push([test]);
  return groups;
}

/** Groups the guards of one turn in their order, with at most `filesOfFirst` in the first group. */
function groupsOf(guards: readonly Guard[], filesOfFirst: number): string[][] {
  const groups: string[][] = [];
  let room = 0;
  for (const { test, coreSeconds } of guards) {
    const filesMax = groups.length === 1 ? filesOfFirst : GROUP_FILES_MAX;
    room -= coreSeconds;
    if (groups.length === 0 || room < 0 || groups.at(-1)!.length === filesMax) {
      groups.push([]);
      room = GROUP_CORE_SECONDS_MAX - coreSeconds;
    }
    groups.at(-1)!.push(test);
  }
  return groups;
}

function firstDifference(one: readonly number[], other: readonly number[]): number {
  return one.map((each, i) => each - other[i]).find((difference) => difference !== 0) ?? 0;
}
