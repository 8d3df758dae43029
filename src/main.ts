#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Command, type CommandContext, group, later, table } from './cli/command.ts';
import { describeSettings } from './config/config.ts';
import { systemClock } from './core/clock.ts';

/** `qrn`: finds the command and gives it the process's arguments, environment and streams. Nothing else. */
const settings = describeSettings(availableParallelism()).map((each) => [
  each.variable,
  each.fallback,
  each.meaning,
]);
const footer = `\nSettings, read from the environment and, camel-cased without QRN_, from the file QRN_CONFIG:\n\n${table(['NAME', 'DEFAULT', 'MEANING'], settings)}`;
const commands: Command[] = [
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
    'Shows the transparency log, rotates its key, and watches a log from outside.',
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
  later('integers', 'Random integers in a range.', async () => (await import('./cli/draw.ts')).integers),
  later('bytes', 'Random bytes.', async () => (await import('./cli/draw.ts')).bytes),
  later('floats', 'Random numbers from 0 to 1.', async () => (await import('./cli/draw.ts')).floats),
  later('uuid', 'Random UUIDs.', async () => (await import('./cli/draw.ts')).uuid),
  later('shuffle', 'Items in a random order.', async () => (await import('./cli/draw-items.ts')).shuffle),
  later('pick', 'Items picked at random.', async () => (await import('./cli/draw-items.ts')).pick),
  later(
    'usage',
    'What the account has used this month.',
    async () => (await import('./cli/status.ts')).usage,
  ),
  later(
    'status',
    'The state of a service and its sources.',
    async () => (await import('./cli/status.ts')).status,
  ),
  later(
    'evidence',
    'Publishes the raw shots of spent lots and computes their figures again.',
    async () => (await import('./cli/evidence.ts')).evidence,
  ),
  later('config', 'Prints the settings in force.', async () => (await import('./cli/config.ts')).config),
  later('assess', 'Tests a file of random bits.', async () => (await import('./cli/assess.ts')).assess),
  later('completions', 'Prints completions for bash, zsh or fish.', async () =>
    (await import('./cli/completions.ts')).completions(() => commands),
  ),
];
const qrn = group('qrn', 'Random numbers from a quantum processor, over HTTP.', commands, footer);

const context: CommandContext = {
  environment: process.env,
  clock: systemClock,
  out: (text) => process.stdout.write(text),
  talk: (text) => process.stderr.write(text),
  write: (bytes) =>
    new Promise((resolve) => {
      process.stdout.write(bytes, (error) => resolve(error === null || error === undefined));
    }),
  stdin: readStdin,
  interruption: () => {
    const interruption = new AbortController();
    process.once('SIGINT', () => interruption.abort());
    return interruption.signal;
  },
  isTerminal: process.stdout.isTTY,
  confirm: process.stdin.isTTY && process.stderr.isTTY ? confirm : undefined,
};

async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

// a reader that has seen enough (`qrn keys list | head`) closes the pipe: no failure
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  context.talk(`qrn: cannot write to stdout: ${error.message}\n`);
  process.exit(1);
});

const args = process.argv.slice(2);
if (args[0] === '--version') {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  context.out(`${manifest.version}\n`);
} else {
  process.exitCode = await qrn.run(args, context);
}
