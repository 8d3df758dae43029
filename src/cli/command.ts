import { CommanderError, Option, Command as Parser } from 'commander';
import type { Clock } from '../core/clock.ts';
import { json, type Part, printableLines, textOf } from './text.ts';

/** The service that a command asks when the command line and QRN_URL name none. */
export interface LocalService {
  /** The base URL of its API, which ends in /v1. */
  readonly apiUrl: string;
  /** Whether the settings name one of its public URLs. */
  readonly isNamed: boolean;
  readonly verifyUrlBase: string | null;
  /** Returns the key of its demo account; undefined where this machine does not have it. */
  readonly demoKey: () => string | undefined;
}

/** Everything that a command may use besides its arguments. */
export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly localService: (environment: CommandContext['environment']) => LocalService;
  readonly clock: Clock;
  /** Writes text to stdout, which scripts read. */
  readonly out: (text: string) => void;
  /** Writes text to stderr, which people read. */
  readonly talk: (text: string) => void;
  /**
   * Writes bytes to stdout. Resolves when the reader has taken them, or to false when the reader has closed the pipe.
   */
  readonly write: (bytes: Uint8Array) => Promise<boolean>;
  /** Reads all of stdin. */
  readonly stdin: () => Promise<Uint8Array>;
  /**
   * After this call the first SIGINT or SIGTERM aborts the signal and does not end the process. The second one ends it.
   */
  readonly interruption: () => AbortSignal;
  /** Whether stdout is a terminal, which binary data would garble. */
  readonly isTerminal: boolean;
  /** Asks a person at a terminal; undefined when there is no terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
}

/** A command of `qrn`, or a group of commands. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Returns the exit status: 0 for success, 1 for a failure, 2 for a wrong command line. */
  readonly run: (args: readonly string[], context: CommandContext) => Promise<number>;
  /** Returns what may follow its name, for completions. */
  readonly words: () => Promise<CommandWords>;
}

/** The commands of a group, or the options of a command with their `--`. */
interface CommandWords {
  readonly commands: readonly Command[];
  readonly options: readonly string[];
}

/** A failure that the command reports as one line on stderr, with exit status 1. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** The command line is wrong. The command reports it with a pointer to --help and exit status 2. */
export class UsageError extends CommandError {
  override name = 'UsageError';
}

/** Reads the text of an option or operand as a value. */
export interface Reader<T> {
  /** What the text must be, worded to follow "must be" in an error. */
  readonly what: string;
  /** Returns the value; undefined for a text that is not allowed. */
  readonly read: (text: string) => T | undefined;
}

/** Refuses the empty text, which a shell passes for a variable that is not set. */
const TEXT: Reader<string> = { what: 'at least one character', read: (text) => text || undefined };

/** Returns the value of a text. Throws a UsageError that names the option or operand and what it must be. */
export function readValue<T>(name: string, text: string, { what, read }: Reader<T>): T {
  const value = read(text);
  if (value === undefined) throw new UsageError(`${name} must be ${what}, not ${JSON.stringify(text)}`);
  return value;
}

interface OptionDefinition {
  /** The placeholder of its value in the help, e.g. `ISO`; a switch has none. */
  readonly value?: string;
  readonly required?: boolean;
  readonly meaning: string;
  /** Reads its text; without a reader any text is taken. */
  readonly read?: Reader<unknown>;
}

/** The options of a command, by their names in camel case: `rawOut` is `--raw-out`. */
export type OptionTable = Readonly<Record<string, OptionDefinition>>;

type ValueOf<O> = O extends { readonly read: Reader<infer T> }
  ? T
  : O extends { value: string }
    ? string
    : true;

/**
 * The values of the options that were given. An option that was not given is undefined; a switch that was given is
 * true.
 */
export type Given<O extends OptionTable> = {
  readonly [K in keyof O]: ValueOf<O[K]> | (O[K] extends { required: true } ? never : undefined);
};

interface Operand {
  /** As the help prints it, e.g. `KEY_ID`. */
  readonly name: string;
  readonly meaning: string;
  /** Whether it may be left out; only operands at the end may. */
  readonly optional?: boolean;
  /** Whether it may be given any number of times; only the last operand may. */
  readonly repeated?: boolean;
}

type Input<O extends OptionTable> = Given<O> & { readonly operands: readonly string[] };

/** The result of a command. */
export interface Report {
  /** What `--json` prints, on one line. Without `shown` it is printed for people too. */
  readonly data: object;
  /** What is printed for people. */
  readonly shown?: readonly Part[];
  /** A sentence for people, on stderr. */
  readonly note?: string;
  /** The reason for which the command fails after it has printed the report. */
  readonly failure?: string | undefined;
  /** The exit status; 0 when not given. */
  readonly status?: number;
}

interface ActionDefinition<O extends OptionTable> {
  /** The words that call it, e.g. `accounts create`; the last word is its name in the group. */
  readonly path: string;
  readonly summary: string;
  readonly operands?: readonly Operand[];
  readonly options?: O;
  /** Returns the text at the end of its help. */
  readonly footer?: () => string;
  /**
   * Only for a command that cannot be undone: checks that the command can run, changes nothing, and returns a sentence
   * that says what the command will do. Such a command has --yes and --dry-run, and asks a person at a terminal before
   * it runs.
   */
  readonly irreversible?: (input: Input<O>, context: CommandContext) => Promise<string>;
  /** Returns a report, or the exit status if the command has written its output itself; undefined stands for 0. */
  readonly run: (input: Input<O>, context: CommandContext) => Promise<Report | number | undefined>;
}

/** Returns a command that is not a group. */
export function action<const O extends OptionTable>(definition: ActionDefinition<O>): Command {
  const { path, summary, operands = [], footer, irreversible, run } = definition;
  const options: OptionTable = { ...definition.options, ...(irreversible && IRREVERSIBLE_OPTIONS) };
  return {
    name: path.split(' ').at(-1)!,
    summary,
    words: async () => ({ commands: [], options: [...Object.keys(options).map(flagOf), '--help'] }),
    run: (args, given) =>
      reported(`qrn ${path}`, given, async (context) => {
        const parser = parserOf(`qrn ${path}`, summary, context);
        for (const { name, meaning, optional, repeated } of operands) {
          const word = `${name}${repeated ? '...' : ''}`;
          parser.argument(optional ? `[${word}]` : `<${word}>`, meaning);
        }
        for (const [name, option] of Object.entries(options)) parser.addOption(optionOf(name, option));
        const required = parser.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
        parser.usage([...required, parser.usage()].join(' ')).addHelpText('after', () => footer?.() ?? '');
        parser.parse(args, { from: 'user' });
        for (const [i, { name, repeated }] of operands.entries())
          if (parser.args[i] === '' && !repeated) readValue(name, '', TEXT); // throws
        const input = { ...parser.opts<Given<O>>(), operands: parser.args };
        const refused = irreversible && (await unlessMeant(irreversible, input, context));
        return refused ?? told(await run(input, context), 'json' in input, context);
      }),
  };
}

/** Returns an option as it is typed, e.g. `--raw-out` for `rawOut`. */
function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function optionOf(name: string, { value, required = false, meaning, read }: OptionDefinition): Option {
  const flag = flagOf(name);
  const option = new Option(value === undefined ? flag : `${flag} <${value}>`, oneLineOf(meaning));
  option.negate = false; // --no-demo is a switch of its own
  if (value === undefined) return option;
  return option.makeOptionMandatory(required).argParser((text: string, before: unknown) => {
    if (before !== undefined) throw new UsageError(`${flag} is given more than once`);
    return readValue<unknown>(flag, text, read ?? TEXT);
  });
}

const IRREVERSIBLE_OPTIONS = {
  yes: { meaning: 'run without asking for confirmation' },
  dryRun: { meaning: 'print what the command would do, and do nothing' },
} as const satisfies OptionTable;

/**
 * Returns the exit status of a command that must not run, because this is a dry run or the person at the terminal said
 * no; undefined when it may run. Without a terminal nobody is asked.
 */
async function unlessMeant<I>(
  irreversible: (input: I, context: CommandContext) => Promise<string>,
  input: I & Partial<Given<typeof IRREVERSIBLE_OPTIONS>>,
  context: CommandContext,
): Promise<number | undefined> {
  if (input.dryRun) {
    context.out(`${await irreversible(input, context)}\n`);
    return 0;
  }
  if (input.yes || context.confirm === undefined) return undefined;
  const consequence = await irreversible(input, context);
  if (await context.confirm(`${consequence} This cannot be undone. Continue?`)) return undefined;
  context.talk('Nothing was changed.\n');
  return 1;
}

/** Prints a report and returns the exit status. */
function told(report: Report | number | undefined, asJson: boolean, { out, talk }: CommandContext): number {
  if (typeof report !== 'object') return report ?? 0;
  const { data, shown = [data], note, failure, status = 0 } = report;
  out(asJson ? json(data) : textOf(shown));
  if (failure !== undefined) throw new CommandError(failure);
  if (note !== undefined && !asJson) talk(`${note}\n`);
  return status;
}

/** Returns a command whose first argument chooses one of `commands`. `footer` ends its help. */
export function group(path: string, summary: string, commands: readonly Command[], footer = ''): Command {
  return {
    name: path.split(' ').at(-1)!,
    summary,
    words: async () => ({ commands, options: ['--help'] }),
    run: async (args, context) => {
      const [word, ...rest] = args;
      const chosen = commands.find(({ name }) => name === word);
      if (chosen !== undefined) return chosen.run(rest, context);
      return reported(path, context, async () => {
        const names = commands.map(({ name }) => name).join(', ');
        const known = `the commands are ${names}`;
        if (word === undefined) throw new UsageError(`a command is missing; ${known}`);
        const parser = parserOf(path, summary, context).usage('COMMAND').helpCommand(false);
        for (const each of commands) parser.command(each.name).summary(oneLineOf(each.summary));
        parser.addHelpText('after', `\n${path} COMMAND --help explains a command.${footer}`);
        parser.exitOverride((error) => {
          const isUnknown = error.code === 'commander.unknownCommand';
          throw isUnknown ? new UsageError(`${oneLine(error)}; ${known}`) : error;
        });
        if (word === '--') throw new UsageError(`-- is not a command; ${known}`);
        const helped = word === 'help' && commands.find(({ name }) => name === rest[0]);
        if (helped) return helped.run(['--help'], context);
        parser.parse(word === 'help' ? ['--help'] : args, { from: 'user' });
        return 0;
      });
    },
  };
}

/**
 * Returns a command whose module is loaded when the command is called. The module must export the command under its
 * name. So `qrn keys` does not load the modules of `qrn serve`.
 */
export function later<N extends string>(
  name: N,
  summary: string,
  load: () => Promise<Readonly<Record<N, Command>>>,
): Command {
  return {
    name,
    summary,
    run: async (args, context) => (await load())[name].run(args, context),
    words: async () => (await load())[name].words(),
  };
}

/** The exit status that a shell reports for a command that SIGINT ended. */
export const INTERRUPTED = 130;

/** The width of help, in characters. */
export const HELP_WIDTH = 80;

/** Returns a parser of the command line that prints help. It throws when the line is wrong. */
function parserOf(path: string, summary: string, { out }: CommandContext): Parser {
  return new Parser(path)
    .description(oneLineOf(summary))
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureHelp({ helpWidth: HELP_WIDTH })
    .configureOutput({ writeOut: out, writeErr: () => {}, outputError: () => {} });
}

/** Runs a command and returns the exit status. Reports any failure as one line on stderr. */
async function reported(
  path: string,
  given: CommandContext,
  run: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const context = { ...given, talk: (text: string) => given.talk(printableLines(text)) };
  try {
    return await run(context);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // it has printed help
    const isUsage = error instanceof UsageError || error instanceof CommanderError;
    const message = isUsage ? oneLine(error).replaceAll(/^error: |\.$/g, '') : oneLine(error);
    context.talk(`${path}: ${message}${isUsage ? `; see ${path} --help` : ''}\n`);
    return isUsage ? 2 : 1;
  }
}

/** Returns the error's message and those of its causes on one line. */
export function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = oneLineOf(error.message);
  return error.cause === undefined ? message : `${message}: ${oneLine(error.cause)}`;
}

function oneLineOf(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim();
}

/** Resolves when the signal is aborted. */
export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
