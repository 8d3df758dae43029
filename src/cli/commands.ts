import { availableParallelism } from 'node:os';
import { describeSettings } from '../config/config.ts';
import { type Command, group, later, table } from './command.ts';

const settings = describeSettings(availableParallelism()).map((each) => [
  each.variable,
  each.fallback,
  each.meaning,
]);
const footer = `\nSettings, read from the environment and, camel-cased without QRN_, from the file QRN_CONFIG:\n\n${table(['NAME', 'DEFAULT', 'MEANING'], settings)}`;
const commands: Command[] = [
  later('serve', 'Starts the service.', async () => (await import('./serve.ts')).serve),
  later(
    'accounts',
    'Makes, lists and changes accounts.',
    async () => (await import('./accounts.ts')).accounts,
  ),
  later('keys', 'Makes, lists, rotates and revokes API keys.', async () => (await import('./keys.ts')).keys),
  later(
    'ledger',
    'Audits, backs up, restores and compacts the ledger.',
    async () => (await import('./ledger.ts')).ledger,
  ),
  later(
    'cluster',
    'Sets up and looks after the nodes that share a database.',
    async () => (await import('./cluster.ts')).cluster,
  ),
  later(
    'verify',
    'Checks a saved answer, its certificate and its proof.',
    async () => (await import('./verify.ts')).verify,
  ),
  later(
    'beacon',
    'Gets a round of a public beacon and checks its signature.',
    async () => (await import('./beacon.ts')).beacon,
  ),
  later('lots', 'Lists, shows and withdraws lots of entropy.', async () => (await import('./lots.ts')).lots),
  later(
    'log',
    'Shows the transparency log, rotates its key, and watches a log from outside.',
    async () => (await import('./log.ts')).log,
  ),
  later(
    'witness',
    'Runs a witness of transparency logs.',
    async () => (await import('./witness.ts')).witness,
  ),
  later(
    'sources',
    'Lists the sources of entropy and tries one.',
    async () => (await import('./sources.ts')).sources,
  ),
  later('integers', 'Random integers in a range.', async () => (await import('./draw.ts')).integers),
  later('bytes', 'Random bytes.', async () => (await import('./draw.ts')).bytes),
  later('floats', 'Random numbers from 0 to 1.', async () => (await import('./draw.ts')).floats),
  later('uuid', 'Random UUIDs.', async () => (await import('./draw.ts')).uuid),
  later('shuffle', 'Items in a random order.', async () => (await import('./draw-items.ts')).shuffle),
  later('pick', 'Items picked at random.', async () => (await import('./draw-items.ts')).pick),
  later(
    'draws',
    'Commits to draws, shows, reveals and cancels them.',
    async () => (await import('./draws.ts')).draws,
  ),
  later('usage', 'What the account has used this month.', async () => (await import('./status.ts')).usage),
  later(
    'status',
    'The state of a service and its sources.',
    async () => (await import('./status.ts')).status,
  ),
  later(
    'evidence',
    'Publishes the raw shots of spent lots and computes their figures again.',
    async () => (await import('./evidence.ts')).evidence,
  ),
  later('config', 'Prints the settings in force.', async () => (await import('./config.ts')).config),
  later('assess', 'Tests a file of random bits.', async () => (await import('./assess.ts')).assess),
  later('completions', 'Prints completions for bash, zsh or fish.', async () =>
    (await import('./completions.ts')).completions(() => commands),
  ),
];
/** All of `qrn`: each command loads its modules when it runs. */
export const qrn = group('qrn', 'Random numbers from a quantum processor, over HTTP.', commands, footer);
