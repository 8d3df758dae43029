#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type CommandContext, group, later, table } from './cli/command.ts';
import { describeSettings } from './config/config.ts';
import { systemClock } from './core/clock.ts';

/** `qrn`: finds the command and gives it the process's arguments, environment and streams. Nothing else. */
const settings = describeSettings(availableParallelism()).map((each) => [
  each.variable,
  each.fallback,
  each.meaning,
]);
const footer = `\nSettings, read from the environment and, camel-cased without QRN_, from the file QRN_CONFIG:\n\n${table(['NAME', 'DEFAULT', 'MEANING'], settings)}`;
const commands = [
  later('serve', 'Starts the service.', async () => (await import('./cli/serve.ts')).serve),
  later(
    'accounts',
    'Makes, lists and changes accounts.',
    async () => (await import('./cli/accounts.ts')).accounts,
  ),
  later(
    'keys',
    'Makes, lists, rotates and revokes API keys.',
    async () => (await import('./cli/keys.ts')).keys,
  ),
  later(
    'ledger',
    'Audits, backs up, restores and compacts the ledger.',
    async () => (await import('./cli/ledger.ts')).ledger,
  ),
  later(
    'verify',
    'Checks a saved answer, its certificate and its proof.',
    async () => (await import('./cli/verify.ts')).verify,
  ),
  later(
    'lots',
    'Lists, shows and withdraws lots of entropy.',
    async () => (await import('./cli/lots.ts')).lots,
  ),
  later(
    'log',
    'Shows the transparency log and rotates its key.',
    async () => (await import('./cli/log.ts')).log,
  ),
  later(
    'witness',
    'Runs a witness of transparency logs.',
    async () => (await import('./cli/witness.ts')).witness,
  ),
  later(
    'sources',
    'Lists the sources of entropy and tries one.',
    async () => (await import('./cli/sources.ts')).sources,
  ),
  later('config', 'Prints the settings in force.', async () => (await import('./cli/config.ts')).config),
  later('assess', 'Tests a file of random bits.', async () => (await import('./cli/assess.ts')).assess),
];
const qrn = group('qrn', 'Random numbers from a quantum processor, over HTTP.', commands, footer);

const context: CommandContext = {
  environment: process.env,
  clock: systemClock,
  out: (text) => process.stdout.write(text),
  talk: (text) => process.stderr.write(text),
};

// a reader that has seen enough (`qrn keys list | head`) closes the pipe: no failure
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const args = process.argv.slice(2);
if (args[0] === '--version') {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  context.out(`${manifest.version}\n`);
} else {
  process.exitCode = await qrn.run(args, context);
}
