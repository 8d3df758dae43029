import { action, type Command, UsageError } from './command.ts';

/** The script for each shell. All of them ask `qrn completions words` what may follow the words before the cursor. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_qrn() {
  local words="$(qrn completions words -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _qrn qrn
`,
  zsh: `_qrn() {
  local -a found=(\${(f)"$(qrn completions words -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null)"})
  compadd -a found
  [[ "$found[1]" == -* && "$PREFIX" != -* ]] && _files # no file is a command
}
compdef _qrn qrn
`,
  fish: `complete -c qrn -a '(qrn completions words -- (commandline -opc)[2..-1] 2>/dev/null)'
`,
};

const SHELLS = Object.keys(SCRIPTS).join(', ');

/** Returns the command that prints completions for a shell. The words come from the commands themselves. */
export function completions(commandsOf: () => readonly Command[]): Command {
  return action({
    path: 'completions',
    summary:
      'Prints a completion script. bash: source <(qrn completions bash). zsh: source <(qrn completions zsh), after compinit.\n' +
      'fish: qrn completions fish | source.',
    operands: [
      { name: 'SHELL', meaning: `${SHELLS}; or words, which the completion scripts call` },
      { name: 'WORD', meaning: 'for words: the words typed so far', optional: true, repeated: true },
    ],
    run: async ({ operands: [shell, ...typed] }, context) => {
      const text = shell === 'words' ? await wordsBehind(typed, commandsOf()) : SCRIPTS[shell];
      if (text === undefined) throw new UsageError(`SHELL must be one of ${SHELLS}`);
      context.out(text);
      return 0;
    },
  });
}

/** Returns what may follow the typed words, one word a line: the commands of a group, or the options of a command. */
async function wordsBehind(typed: readonly string[], known: readonly Command[]): Promise<string> {
  let words = { commands: known, options: ['--help', '--version'] as readonly string[] };
  for (const word of typed) {
    const chosen = words.commands.find(({ name }) => name === word);
    if (chosen !== undefined) words = await chosen.words();
  }
  return [...words.commands.map(({ name }) => name), ...words.options].map((word) => `${word}\n`).join('');
}
