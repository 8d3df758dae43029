import type { CommandContext } from '../../src/cli/command.ts';

/** The streams of a command that nobody watches: an empty stdin, bytes that go nowhere, and nobody to ask. */
export const NO_TERMINAL: Pick<CommandContext, 'write' | 'stdin' | 'confirm'> = {
  write: async () => true,
  stdin: async () => new Uint8Array(0),
  confirm: undefined,
};
