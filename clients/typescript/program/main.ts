import { type Command, group, later } from '../../../src/cli/command.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { CLIENT_COMMANDS } from './commands.ts';

/**
 * The program `qrn` of the TypeScript client: the commands that ask a service. scripts/build-client.ts bundles it into
 * one file, clients/typescript/bin/qrn.js.
 */

/** The build replaces it by the version. */
declare const CLIENT_VERSION: string;

const commands: Command[] = [
  ...CLIENT_COMMANDS,
  later('log', 'Monitors the log of a service from outside.', () => import('./log.ts')),
  later('completions', 'Prints completions for bash, zsh or fish.', async () => ({
    completions: (await import('../../../src/cli/completions.ts')).completions(() => commands),
  })),
];
const qrn = group(
  'qrn',
  'Gets random numbers from a Quantum Random Number Service and verifies their certificates.',
  commands,
  '\nThe qrn program of the service has more commands: serve, accounts, keys, lots, sources, ledger.',
);

await runProgram({
  command: qrn,
  environment: process.env,
  localService: () => ({
    apiUrl: 'http://127.0.0.1:3000/v1',
    isNamed: false,
    verifyUrlBase: null,
    demoKey: () => undefined,
  }),
  version: () => CLIENT_VERSION,
});
