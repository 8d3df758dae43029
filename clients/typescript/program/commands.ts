import { type Command, later } from '../../../src/cli/command.ts';
import { KINDS } from './kinds.ts';

/** The commands that ask a service and open no folder. `npx qrn` has them too, for any server. */
export const CLIENT_COMMANDS: readonly Command[] = [
  later('verify', 'Verifies a saved answer, its certificate and its proof.', () => import('./verify.ts')),
  ...Object.entries(KINDS).map(([name, { summary }]) =>
    later(name, summary, async () => (await import('./draw.ts')).DRAWING),
  ),
  later(
    'pick',
    'Picks random items without sending them to the service.',
    async () => (await import('./draw.ts')).DRAWING,
  ),
  later('draws', 'Creates, shows, reveals and cancels committed draws.', () => import('./draws.ts')),
  later('usage', 'Shows the usage of the account in this month.', () => import('./status.ts')),
  later('status', 'Shows the state of a service and its sources.', () => import('./status.ts')),
  later('beacon', 'Gets a round of a public beacon and verifies its signature.', () => import('./beacon.ts')),
];
