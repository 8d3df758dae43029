import { type Command, later } from '../../../src/cli/command.ts';

/** The commands that ask a service and open no folder: those of `npx qrn` too, against any server. */
export const CLIENT_COMMANDS: readonly Command[] = [
  later(
    'verify',
    'Checks a saved answer, its certificate and its proof.',
    () => import('../../../src/cli/verify.ts'),
  ),
  later('integers', 'Random integers in a range.', () => import('./draw.ts')),
  later('bytes', 'Random bytes.', () => import('./draw.ts')),
  later('floats', 'Random numbers from 0 to 1.', () => import('./draw.ts')),
  later('uuid', 'Random UUIDs.', () => import('./draw.ts')),
  later('bitstring', 'Random bits.', () => import('./draw.ts')),
  later('sample', 'Some of the items, none twice.', () => import('./draw.ts')),
  later('weighted', 'Items picked by weight.', () => import('./draw.ts')),
  later('strings', 'Random strings over an alphabet.', () => import('./draw.ts')),
  later('sequences', 'Several sequences of integers in one answer.', () => import('./draw.ts')),
  later('permutations', 'Numbers in a random order.', () => import('./draw.ts')),
  later('gaussians', 'Normally distributed numbers.', () => import('./draw.ts')),
  later('shuffle', 'Items in a random order.', () => import('./draw.ts')),
  later('pick', 'Items picked at random.', () => import('./draw.ts')),
  later('draws', 'Commits to draws, shows, reveals and cancels them.', () => import('./draws.ts')),
  later('usage', 'What the account has used this month.', () => import('./status.ts')),
  later('status', 'The state of a service and its sources.', () => import('./status.ts')),
];
