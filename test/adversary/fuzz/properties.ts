import assert from 'node:assert/strict';
import fc from 'fast-check';
import { assertBooks, hold } from './oracle.ts';
import { holdStrange, strangeRequest } from './strange.ts';
import { tableCase, wildCase } from './table-cases.ts';
import type { World } from './world.ts';

/** A kind of random requests, and what must hold for each. */
export interface FuzzProperty {
  readonly name: string;
  /** Count of runs in the gating form. */
  readonly runs: number;
  readonly property: (world: World) => fc.IAsyncProperty<unknown>;
}

function fuzzed<T>(
  name: string,
  runs: number,
  arbitrary: fc.Arbitrary<T>,
  holds: (world: World, value: T) => Promise<void>,
): FuzzProperty {
  return {
    name,
    runs,
    property: (world) =>
      fc.asyncProperty(arbitrary, (value) => holds(world, value)) as fc.IAsyncProperty<unknown>,
  };
}

export const FUZZ_PROPERTIES: readonly FuzzProperty[] = [
  fuzzed('table', 700, tableCase, (world, each) => hold(world, each, each)),
  fuzzed('wild', 500, wildCase, (world, each) => hold(world, each, 'anything')),
  fuzzed('strange', 300, strangeRequest, holdStrange),
];

export interface FuzzRun {
  readonly name: string;
  readonly cases: number;
  /** Why it failed and how to reproduce it; undefined when it held. */
  readonly failure: string | undefined;
}

export interface TryOptions {
  /** Replays a case that failed before. */
  readonly path?: string;
  /** If true, does not search for a smaller failing case. */
  readonly stopsAtFirst?: boolean;
}

export async function tryProperty(
  world: World,
  { name, property }: FuzzProperty,
  seed: number,
  runs: number,
  { path = '', stopsAtFirst = path !== '' }: TryOptions = {},
): Promise<FuzzRun> {
  const details = await fc.check(property(world), { seed, numRuns: runs, path, endOnFailure: stopsAtFirst });
  const cases = details.numRuns + details.numShrinks;
  if (!details.failed) return { name, cases, failure: undefined };
  const { counterexample, counterexamplePath, errorInstance } = details;
  const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const place = `--property ${name} --seed ${seed} --runs ${runs} --path ${counterexamplePath}`;
  const failure = `${why}\n${fc.stringify(counterexample)}\nreplay: node test/adversary/fuzz/run.ts ${place}`;
  return { name, cases, failure };
}

/** Audits the books, which must agree whatever was tried; undefined when they do. */
export async function bookFailure(world: World): Promise<string | undefined> {
  try {
    await assertBooks(world);
    return undefined;
  } catch (error) {
    if (error instanceof assert.AssertionError) return error.message;
    throw error;
  }
}
