import type { CommandContext } from '../../src/cli/command.ts';

/** The streams of a command that nobody watches: an empty stdin, bytes that go nowhere, nobody to ask, and no Ctrl-C. */
export const NO_TERMINAL: Pick<
  CommandContext,
  'write' | 'stdin' | 'confirm' | 'interruption' | 'isTerminal'
> = {
  write: async () => true,
  stdin: async () => new Uint8Array(0),
  interruption: () => new AbortController().signal,
  isTerminal: false,
  confirm: undefined,
};
