import fc from 'fast-check';
import { hold } from './oracle.ts';
import { holdStrange, strangeRequest } from './strange.ts';
import { tableCase, wildCase } from './table-cases.ts';
import type { World } from './world.ts';

/** Kinds of random requests: how many of each a test makes, and what must hold for every one. */
export const FUZZ_PROPERTIES: Readonly<
  Record<string, readonly [runs: number, holds: (world: World) => fc.IAsyncProperty<unknown>]>
> = {
  table: [700, (world) => fc.asyncProperty(tableCase, (each) => hold(world, each, each))],
  wild: [500, (world) => fc.asyncProperty(wildCase, (each) => hold(world, each, 'anything'))],
  strange: [300, (world) => fc.asyncProperty(strangeRequest, (each) => holdStrange(world, each))],
};
