import type { Command, CommandContext } from '../../src/cli/command.ts';
import type { Clock } from '../../src/core/clock.ts';
import { ManualClock } from './manual-clock.ts';
import { NO_TERMINAL } from './no-terminal.ts';

interface CommandRun {
  readonly status: number;
  readonly out: string;
  readonly talk: string;
}

/** Runs a command in this process, as `qrn` would, on an environment of the test's own. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  clock: Clock = new ManualClock(),
  terminal: Partial<Pick<CommandContext, 'stdin' | 'interruption' | 'isTerminal'>> = {},
): Promise<CommandRun> {
  let out = '';
  let talk = '';
  const status = await command.run(args, {
    environment,
    ...NO_TERMINAL,
    ...terminal,
    clock,
    out: (text) => {
      out += text;
    },
    talk: (text) => {
      talk += text;
    },
  });
  return { status, out, talk };
}
