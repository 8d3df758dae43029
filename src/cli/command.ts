import { CommanderError, Option, Command as Parser } from 'commander';
import type { Clock } from '../core/clock.ts';
import { json, type Part, printableLines, textOf } from './text.ts';

/** The service that a command asks where its caller names none. */
export interface LocalService {
  /** Ends in /v1. */
  readonly apiUrl: string;
  /** The settings name its public URLs. */
  readonly isNamed: boolean;
  readonly verifyUrlBase: string | null;
  /** The key of its demo account, where this machine has it. */
  readonly demoKey: () => string | undefined;
}

/** What a command may touch besides its arguments. */
export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly localService: (environment: CommandContext['environment']) => LocalService;
  readonly clock: Clock;
  /** Data: what a script reads. */
  readonly out: (text: string) => void;
  /** Talk: what a person reads. */
  readonly talk: (text: string) => void;
  /** Data as bytes; resolves when the reader has taken them, to false when there is no reader any more. */
  readonly write: (bytes: Uint8Array) => Promise<boolean>;
  /** All of stdin. */
  readonly stdin: () => Promise<Uint8Array>;
  /** From the call on, the first SIGINT or SIGTERM aborts the signal and does not end the process. The next one does. */
  readonly interruption: () => AbortSignal;
  /** Stdout is a terminal: bytes that are not text would garble it. */
  readonly isTerminal: boolean;
  /** Asks a person at a terminal; undefined where nobody is there to answer. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
}

/** An entry of the table of `qrn`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Gives the exit status: 0 done, 1 it cannot be, 2 it was asked wrongly. */
  readonly run: (args: readonly string[], context: CommandContext) => Promise<number>;
  /** What can stand behind its name, for completions. */
  readonly words: () => Promise<CommandWords>;
}

/** The commands of a group, or the options of a command, `--` included. */
interface CommandWords {
  readonly commands: readonly Command[];
  readonly options: readonly string[];
}

/** A failure that is the whole answer: one line on stderr, exit status 1. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** The command line itself is wrong; exit status 2 and a pointer to --help. */
export class UsageError extends CommandError {
  override name = 'UsageError';
}

/** How the text of an option or an operand becomes a value. */
export interface Reader<T> {
  /** What the text may be, behind "is". */
  readonly what: string;
  /** Undefined for a text that is none. */
  readonly read: (text: string) => T | undefined;
}

/** A variable of the shell that is not set gives none. */
const TEXT: Reader<string> = { what: 'at least one character', read: (text) => text || undefined };

/** Throws a UsageError that names the option or operand and what it may be. */
export function readValue<T>(name: string, text: string, { what, read }: Reader<T>): T {
  const value = read(text);
  if (value === undefined) throw new UsageError(`${name} is ${what}, not ${JSON.stringify(text)}`);
  return value;
}

interface OptionDefinition {
  /** The placeholder of its value in the help, e.g. `ISO`; a switch has none. */
  readonly value?: string;
  readonly required?: boolean;
  readonly meaning: string;
  /** What its text has to be; any text without it. */
  readonly read?: Reader<unknown>;
}

/** Options by their names in camel case: `rawOut` is `--raw-out`. */
export type OptionTable = Readonly<Record<string, OptionDefinition>>;

type ValueOf<O> = O extends { readonly read: Reader<infer T> }
  ? T
  : O extends { value: string }
    ? string
    : true;

/** What was given of a table of options. What was not is undefined, and a switch that was is true. */
export type Given<O extends OptionTable> = {
  readonly [K in keyof O]: ValueOf<O[K]> | (O[K] extends { required: true } ? never : undefined);
};

interface Operand {
  /** As the help prints it, e.g. `KEY_ID`. */
  readonly name: string;
  readonly meaning: string;
  /** May be left out; only the last operands can. */
  readonly optional?: boolean;
  /** May be given any number of times; only the last operand can. */
  readonly repeated?: boolean;
}

type Input<O extends OptionTable> = Given<O> & { readonly operands: readonly string[] };

/** What a command found or did. */
export interface Report {
  /** What `--json` prints, on one line, and where nothing else is shown, a person reads. */
  readonly data: object;
  /** What a person reads. */
  readonly shown?: readonly Part[];
  /** A sentence for a person, on stderr. */
  readonly note?: string;
  /** What went wrong after all: the command fails with it. */
  readonly failure?: string | undefined;
  /** The exit status; 0 when not given. */
  readonly status?: number;
}

interface ActionDefinition<O extends OptionTable> {
  /** As it is called, e.g. `accounts create`; the last word is its name in a group. */
  readonly path: string;
  readonly summary: string;
  readonly operands?: readonly Operand[];
  readonly options?: O;
  /** Ends its help. */
  readonly footer?: () => string;
  /**
   * Of a command that cannot be undone: checks that it can be done, changes nothing, and says in a sentence what it
   * will do. The command then has --yes and --dry-run, and asks a person at a terminal before it runs.
   */
  readonly irreversible?: (input: Input<O>, context: CommandContext) => Promise<string>;
  /** Gives a report, or the exit status of a command that writes by itself; without either it is 0. */
  readonly run: (input: Input<O>, context: CommandContext) => Promise<Report | number | undefined>;
}

/** A command that does one thing. */
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

/** As it is typed. */
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
  yes: { meaning: 'do not ask' },
  dryRun: { meaning: 'say what would be done, and do nothing' },
} as const satisfies OptionTable;

/** The exit status of a command that is not to run; undefined for one that is. Scripts are not asked. */
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
  if (await context.confirm(`${consequence} This cannot be undone. Go on?`)) return undefined;
  context.talk('Nothing was changed.\n');
  return 1;
}

/** Prints a report. Gives the exit status. */
function told(report: Report | number | undefined, asJson: boolean, { out, talk }: CommandContext): number {
  if (typeof report !== 'object') return report ?? 0;
  const { data, shown = [data], note, failure, status = 0 } = report;
  out(asJson ? json(data) : textOf(shown));
  if (failure !== undefined) throw new CommandError(failure);
  if (note !== undefined && !asJson) talk(`${note}\n`);
  return status;
}

/** A command that only chooses one of several, by its first word. `footer` ends its help. */
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
        parser.addHelpText('after', `\n${path} COMMAND --help tells more.${footer}`);
        parser.exitOverride((error) => {
          const isUnknown = error.code === 'commander.unknownCommand';
          throw isUnknown ? new UsageError(`${oneLine(error)}; ${known}`) : error;
        });
        if (word === '--') throw new UsageError(`-- stands in the place of a command; ${known}`);
        const helped = word === 'help' && commands.find(({ name }) => name === rest[0]);
        if (helped) return helped.run(['--help'], context);
        parser.parse(word === 'help' ? ['--help'] : args, { from: 'user' });
        return 0;
      });
    },
  };
}

/**
 * An entry whose module, which exports it under its name, is read when it is called: `qrn keys` need not load what `qrn
 * serve` is made of.
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

/** Help fits a terminal of this width. */
export const HELP_WIDTH = 80;

/** Parses a command line and prints help; what is wrong with the line it throws. */
function parserOf(path: string, summary: string, { out }: CommandContext): Parser {
  return new Parser(path)
    .description(oneLineOf(summary))
    .helpOption('-h, --help', 'this text')
    .exitOverride()
    .configureHelp({ helpWidth: HELP_WIDTH })
    .configureOutput({ writeOut: out, writeErr: () => {}, outputError: () => {} });
}

/** One line per failure, whatever failed. */
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

/** The message and those of its causes. */
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
