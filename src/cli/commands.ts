import { type Command, group, later } from './command.ts';

const footer = 'qrn config prints every setting and where its value comes from.\n';
const commands: Command[] = [
  later('serve', 'Starts the service.', () => import('./serve.ts')),
  later('accounts', 'Makes, lists and changes accounts.', () => import('./accounts.ts')),
  later('keys', 'Makes, lists, rotates and revokes API keys.', () => import('./keys.ts')),
  later('ledger', 'Audits, backs up, restores and compacts the ledger.', () => import('./ledger.ts')),
  later('cluster', 'Sets up and looks after the nodes that share a database.', () => import('./cluster.ts')),
  later('verify', 'Checks a saved answer, its certificate and its proof.', () => import('./verify.ts')),
  later('beacon', 'Gets a round of a public beacon and checks its signature.', () => import('./beacon.ts')),
  later('lots', 'Lists, shows and withdraws lots of entropy.', () => import('./lots.ts')),
  later(
    'log',
    'Shows the transparency log, rotates its key, and watches a log from outside.',
    () => import('./log.ts'),
  ),
  later('witness', 'Runs a witness of transparency logs.', () => import('./witness.ts')),
  later('sources', 'Lists the sources of entropy and tries one.', () => import('./sources.ts')),
  later('integers', 'Random integers in a range.', () => import('./draw.ts')),
  later('bytes', 'Random bytes.', () => import('./draw.ts')),
  later('floats', 'Random numbers from 0 to 1.', () => import('./draw.ts')),
  later('uuid', 'Random UUIDs.', () => import('./draw.ts')),
  later('bitstring', 'Random bits.', () => import('./draw-kinds.ts')),
  later('sample', 'Some of the items, none twice.', () => import('./draw-kinds.ts')),
  later('weighted', 'Items picked by weight.', () => import('./draw-kinds.ts')),
  later('strings', 'Random strings over an alphabet.', () => import('./draw-kinds.ts')),
  later('sequences', 'Several sequences of integers in one answer.', () => import('./draw-kinds.ts')),
  later('permutations', 'Numbers in a random order.', () => import('./draw-kinds.ts')),
  later('gaussians', 'Normally distributed numbers.', () => import('./draw-kinds.ts')),
  later('shuffle', 'Items in a random order.', () => import('./draw-items.ts')),
  later('pick', 'Items picked at random.', () => import('./draw-items.ts')),
  later('draws', 'Commits to draws, shows, reveals and cancels them.', () => import('./draws.ts')),
  later('usage', 'What the account has used this month.', () => import('./status.ts')),
  later('status', 'The state of a service and its sources.', () => import('./status.ts')),
  later(
    'evidence',
    'Publishes the raw shots of spent lots and computes their figures again.',
    () => import('./evidence.ts'),
  ),
  later('config', 'Prints the settings in force.', () => import('./config.ts')),
  later('assess', 'Tests a file of random bits.', () => import('./assess.ts')),
  later('completions', 'Prints completions for bash, zsh or fish.', async () => ({
    completions: (await import('./completions.ts')).completions(() => commands),
  })),
];
/** All of `qrn`: each command loads its modules when it runs. */
export const qrn = group('qrn', 'Random numbers from a quantum processor, over HTTP.', commands, footer);
