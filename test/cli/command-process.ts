import assert from 'node:assert/strict';
import { accounts } from '../../src/cli/accounts.ts';
import { group } from '../../src/cli/command.ts';
import { keys } from '../../src/cli/keys.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type CommandRun, runCommand } from '../support/run-command.ts';

/** Runs the commands that this process receives, one after the other, and sends back their results. */
const qrn = group('qrn', 'The commands under test.', [accounts, keys]);

process.on('message', async (args: readonly string[]) => {
  const done: CommandRun = await runCommand(qrn, args, process.env, systemClock);
  assert(process.send !== undefined);
  process.send(done);
});
