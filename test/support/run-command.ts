import type { Command, CommandContext } from '../../src/cli/command.ts';
import { qrn } from '../../src/cli/commands.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
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
  terminal: Partial<Pick<CommandContext, 'stdin' | 'interruption' | 'isTerminal' | 'confirm'>> = {},
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

/**
 * Runs `qrn` on a data folder in this process: another one takes half a second of processor time. What a process shows beside,
 * its exit status and its pipes, is tested where `runQrn` is used.
 */
export async function runQrnHere(
  dataDir: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { status, out, talk } = await runCommand(
    qrn,
    args,
    { QRN_DATA_DIR: dataDir, ...settings },
    systemClock,
  );
  return { code: status, stdout: out, stderr: talk };
}
