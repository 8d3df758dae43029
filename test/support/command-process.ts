import assert from 'node:assert/strict';
import { accounts } from '../../src/cli/accounts.ts';
import { group } from '../../src/cli/command.ts';
import { keys } from '../../src/cli/keys.ts';
import { systemClock } from '../../src/core/clock.ts';
import { NO_TERMINAL } from './no-terminal.ts';

/** Another process that runs the commands it is sent, one after the other, and sends back what each did. */
export interface CommandDone {
  readonly status: number;
  readonly out: string;
  readonly talk: string;
}

const qrn = group('qrn', 'The commands under test.', [accounts, keys]);

process.on('message', async (args: readonly string[]) => {
  const done = { status: -1, out: '', talk: '' };
  done.status = await qrn.run(args, {
    environment: process.env,
    ...NO_TERMINAL,
    clock: systemClock,
    out: (text) => {
      done.out += text;
    },
    talk: (text) => {
      done.talk += text;
    },
  });
  assert(process.send !== undefined);
  process.send(done satisfies CommandDone);
});
