import { CLIENT_COMMANDS } from '../../clients/typescript/program/commands.ts';
import { type Command, group, later } from './command.ts';

const footer = '\nqrn config prints the current settings, and qrn config --help explains them.';
const commands: Command[] = [
  later('serve', 'Starts the service.', () => import('./serve.ts')),
  later('accounts', 'Creates, lists and changes accounts.', () => import('./accounts.ts')),
  later('keys', 'Creates, lists, rotates and revokes API keys.', () => import('./keys.ts')),
  later('ledger', 'Audits, backs up, restores and compacts the ledger.', () => import('./ledger.ts')),
  later('cluster', 'Sets up and manages nodes that share a database.', () => import('./cluster.ts')),
  later('lots', 'Lists, shows and withdraws lots of entropy.', () => import('./lots.ts')),
  later(
    'log',
    'Shows the transparency log, rotates its key, and watches a log from outside.',
    () => import('./log.ts'),
  ),
  later('witness', 'Runs a witness of transparency logs.', () => import('./witness.ts')),
  later('sources', 'Lists and tests entropy sources.', () => import('./sources.ts')),
  ...CLIENT_COMMANDS,
  later(
    'evidence',
    'Publishes the raw shots of used-up lots, and recomputes their figures.',
    () => import('./evidence.ts'),
  ),
  later('config', 'Prints the current settings.', () => import('./config.ts')),
  later('assess', 'Tests a file of random bits.', () => import('./assess.ts')),
  later('completions', 'Prints completions for bash, zsh or fish.', async () => ({
    completions: (await import('./completions.ts')).completions(() => commands),
  })),
];
/** All commands of `qrn`. Each loads its modules when it runs. */
export const qrn = group('qrn', 'Random numbers from a quantum processor, over HTTP.', commands, footer);
