import { action, type Command, UsageError } from './command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** What may follow a command line so far, e.g. `keys`: words and options, one list a line of the command. */
interface Completion {
  /** Words before it, without `qrn`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly string[];
}

/** Prints completions for a shell, made from the commands themselves. */
export function completions(commandsOf: () => readonly Command[]): Command {
  return action({
    path: 'completions',
    summary:
      'Prints completions. bash: source <(qrn completions bash). zsh: source <(qrn completions zsh), after compinit.\n' +
      'fish: qrn completions fish | source.',
    operands: [{ name: 'SHELL', meaning: SHELLS.join(', ') }],
    run: async (input, context) => {
      const shell = SHELLS.find((each) => each === input.operands[0]);
      if (shell === undefined) throw new UsageError(`SHELL is one of ${SHELLS.join(', ')}`);
      context.out(WRITERS[shell](await completionsOf('', commandsOf(), ['--help', '--version'])));
      return 0;
    },
  });
}

async function completionsOf(
  path: string,
  commands: readonly Command[],
  options: readonly string[],
): Promise<Completion[]> {
  const below = await Promise.all(
    commands.map(async (command) => {
      const words = await command.words();
      return completionsOf(`${path} ${command.name}`.trim(), words.commands, words.options);
    }),
  );
  return [{ path, words: [...commands.map(({ name }) => name), ...options] }, ...below.flat()];
}

function hasCommands(words: readonly string[]): boolean {
  return words.some((word) => !word.startsWith('-'));
}

/** Behind an option that takes a file, and behind operands, the shell's own completion of files stays. No file is a command. */
const WRITERS: Readonly<Record<(typeof SHELLS)[number], (all: readonly Completion[]) => string>> = {
  bash: (all) => `_qrn() {
  local path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) case " $_qrn_paths " in *" $path\${path:+_}$word "*) path="$path\${path:+_}$word" ;; esac ;; esac
  done
  local words
  case "$path" in
${all.map(({ path, words }) => `    ${caseOf(path)}) words="${words.join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
_qrn_paths="${pathsOf(all)}"
complete -o default -F _qrn qrn
`,
  zsh: (all) => `_qrn() {
  local path_="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" != -* && " $_qrn_paths " == *" \${path_:+\${path_}_}$word "* ]] && path_="\${path_:+\${path_}_}$word"
  done
  case "$path_" in
${all.map(({ path, words }) => `    ${caseOf(path)}) compadd -- ${words.join(' ')}${hasCommands(words) ? '; return' : ''} ;;`).join('\n')}
  esac
  [[ "$PREFIX" == -* ]] || _files
}
_qrn_paths="${pathsOf(all)}"
compdef _qrn qrn
`,
  fish: (all) =>
    all
      .flatMap(({ path, words }) =>
        words.map((word) => {
          const [first, second] = path.split(' ');
          const inner = all
            .filter((each) => each.path.startsWith(`${path} `))
            .map((each) => each.path.split(' ')[1]);
          const condition =
            path === ''
              ? '__fish_use_subcommand'
              : second !== undefined
                ? `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`
                : inner.length > 0
                  ? `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${inner.join(' ')}`
                  : `__fish_seen_subcommand_from ${first}`;
          const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
          return `complete -c qrn -n '${condition}' ${what}\n`;
        }),
      )
      .join(''),
};

const caseOf = (path: string) => (path === '' ? '""' : path.replaceAll(' ', '_'));
const pathsOf = (all: readonly Completion[]) =>
  all
    .map(({ path }) => path.replaceAll(' ', '_'))
    .join(' ')
    .trim();
