#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { accounts } from './cli/accounts.ts';
import { type CommandContext, group, table } from './cli/command.ts';
import { keys } from './cli/keys.ts';
import { ledger } from './cli/ledger.ts';
import { serve } from './cli/serve.ts';
import { describeSettings } from './config.ts';
import { systemClock } from './core/clock.ts';

/** `qrn`: finds the command and gives it the process's arguments, environment and streams. Nothing else. */
const settings = describeSettings(availableParallelism()).map((each) => [
  each.variable,
  each.fallback,
  each.meaning,
]);
const footer = `\nSettings, read from the environment:\n\n${table(['NAME', 'DEFAULT', 'MEANING'], settings)}`;
const commands = [serve, accounts, keys, ledger];
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
