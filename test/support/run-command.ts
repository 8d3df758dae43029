import type { Command, CommandContext } from '../../src/cli/command.ts';
import { qrn } from '../../src/cli/commands.ts';
import { localService } from '../../src/cli/data-folder.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { ManualClock } from './manual-clock.ts';

export interface CommandRun {
  readonly status: number;
  readonly out: string;
  readonly talk: string;
}

type Terminal = Partial<Pick<CommandContext, 'stdin' | 'interruption' | 'isTerminal' | 'confirm' | 'talk'>>;

/** Returns the surroundings of a command that record its output; nobody watches, unless the terminal says so. */
export function recorded(
  environment: CommandContext['environment'] = {},
  clock: Clock = new ManualClock(),
  terminal: Terminal = {},
): { readonly context: CommandContext; readonly said: { out: string; talk: string } } {
  const said = { out: '', talk: '' };
  const context: CommandContext = {
    environment,
    localService,
    clock,
    out: (text) => {
      said.out += text;
    },
    write: async () => true,
    stdin: async () => new Uint8Array(0),
    interruption: () => new AbortController().signal,
    isTerminal: false,
    confirm: undefined,
    ...terminal,
    talk: (text) => {
      said.talk += text;
      terminal.talk?.(text);
    },
  };
  return { context, said };
}

/** Runs a command in this process, as `qrn` would, on an environment of the test's own. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  environment?: CommandContext['environment'],
  clock?: Clock,
  terminal?: Terminal,
): Promise<CommandRun> {
  const { context, said } = recorded(environment, clock, terminal);
  const status = await command.run(args, context);
  return { status, ...said };
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
