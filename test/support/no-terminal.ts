import type { CommandContext } from '../../src/cli/command.ts';
import { localService } from '../../src/cli/data-folder.ts';

/** What surrounds a command that nobody watches: the settings, an empty stdin, bytes that go nowhere, nobody to ask, and no Ctrl-C. */
export const NO_TERMINAL: Pick<
  CommandContext,
  'localService' | 'write' | 'stdin' | 'confirm' | 'interruption' | 'isTerminal'
> = {
  localService,
  write: async () => true,
  stdin: async () => new Uint8Array(0),
  interruption: () => new AbortController().signal,
  isTerminal: false,
  confirm: undefined,
};
