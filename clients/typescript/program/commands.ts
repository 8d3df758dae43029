import { type Command, later } from '../../../src/cli/command.ts';
import { KINDS } from './kinds.ts';

/** The commands that ask a service and open no folder. `npx qrn` has them too, for any server. */
export const CLIENT_COMMANDS: readonly Command[] = [
  later('verify', 'Checks a saved answer, its certificate and its proof.', () => import('./verify.ts')),
  ...Object.entries(KINDS).map(([name, { summary }]) =>
    later(name, summary, async () => (await import('./draw.ts')).DRAWING),
  ),
  later('pick', 'Items picked at random.', async () => (await import('./draw.ts')).DRAWING),
  later('draws', 'Commits to draws, shows, reveals and cancels them.', () => import('./draws.ts')),
  later('usage', 'What the account has used this month.', () => import('./status.ts')),
  later('status', 'The state of a service and its sources.', () => import('./status.ts')),
  later('beacon', 'Gets a round of a public beacon and checks its signature.', () => import('./beacon.ts')),
];
