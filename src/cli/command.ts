import { parseArgs } from 'node:util';
import type { Clock } from '../core/clock.ts';

/** What a command may touch besides its arguments. */
export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Data: what a script reads. */
  readonly out: (text: string) => void;
  /** Talk: what a person reads. */
  readonly talk: (text: string) => void;
}

/**
 * An entry of the table of `qrn`. `run` gives the exit status: 0 done, 1 it cannot be, 2 it was asked
 * wrongly.
 */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly run: (args: readonly string[], context: CommandContext) => Promise<number>;
}

/** A failure that is the whole answer: one line on stderr, exit status 1. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** The command line itself is wrong; exit status 2 and a pointer to --help. */
export class UsageError extends CommandError {
  override name = 'UsageError';
}

interface OptionDefinition {
  /** The placeholder of its value in the help, e.g. `ISO`; a switch has none. */
  readonly value?: string;
  readonly required?: boolean;
  readonly meaning: string;
}

type OptionTable = Readonly<Record<string, OptionDefinition>>;

interface Operand {
  /** As the help prints it, e.g. `KEY_ID`. */
  readonly name: string;
  readonly meaning: string;
}

/** Every operand is required; options are undefined when they are not given. */
export interface Input {
  readonly operands: readonly string[];
  readonly option: (name: string) => string | undefined;
  readonly has: (name: string) => boolean;
}

export interface ActionDefinition {
  /** As it is called, e.g. `accounts create`; the last word is its name in a group. */
  readonly path: string;
  readonly summary: string;
  readonly operands?: readonly Operand[];
  readonly options?: OptionTable;
  /** Gives the exit status. */
  readonly run: (input: Input, context: CommandContext) => Promise<number>;
}

/** A command that does one thing. */
export function action(definition: ActionDefinition): Command {
  const name = definition.path.split(' ').at(-1)!;
  return {
    name,
    summary: definition.summary,
    run: (args, context) =>
      reported(definition.path, context, async () => {
        const input = readInput(definition, args);
        if (input.has('help')) {
          context.out(helpOf(definition));
          return 0;
        }
        requireAll(definition, input);
        return definition.run(input, context);
      }),
  };
}

/** A command that only chooses one of several, by its first word. `footer` ends its help. */
export function group(path: string, summary: string, commands: readonly Command[], footer = ''): Command {
  return {
    name: path.split(' ').at(-1)!,
    summary,
    run: async (args, context) => {
      const [word, ...rest] = args;
      const chosen = commands.find(({ name }) => name === word);
      if (chosen !== undefined) return chosen.run(rest, context);
      if (word === '--help' || word === '-h' || word === 'help') {
        const lines = columns(commands.map((each) => [`  ${each.name}`, each.summary]));
        context.out(
          `usage: ${path} COMMAND\n\n${summary}\n\n${lines}\n\n${path} COMMAND --help tells more.\n${footer}`,
        );
        return 0;
      }
      const known = commands.map(({ name }) => name).join(', ');
      const wrong =
        word === undefined ? 'a command is missing' : `there is no command ${JSON.stringify(word)}`;
      context.talk(`${path}: ${wrong}; the commands are ${known}\n`);
      return 2;
    },
  };
}

/** An entry whose code is read when it is called: `qrn keys` need not load what `qrn serve` is made of. */
export function later(name: string, summary: string, load: () => Promise<Command>): Command {
  return { name, summary, run: async (args, context) => (await load()).run(args, context) };
}

/** Rows under a head, each column as wide as its widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return `${columns([head, ...rows])}\n`;
}

/** Names and values of one thing, a line each. */
export function facts(values: Readonly<Record<string, string>>): string {
  return `${columns(Object.entries(values))}\n`;
}

export function json(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** One line per failure, whatever failed. */
async function reported(path: string, context: CommandContext, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const hint = isUsage ? `; see qrn ${path} --help` : '';
    context.talk(`qrn ${path}: ${oneLine(error)}${hint}\n`);
    return isUsage ? 2 : 1;
  }
}

/** The message and those of its causes. */
function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message.replaceAll(/\s*\n\s*/g, ' ').trim();
  return error.cause === undefined ? message : `${message}: ${oneLine(error.cause)}`;
}

function readInput(definition: ActionDefinition, args: readonly string[]): Input {
  const options = Object.entries(definition.options ?? {}).map(([name, { value }]) => {
    return [name, { type: value === undefined ? 'boolean' : 'string', multiple: true }] as const;
  });
  const parsed = parse(args, Object.fromEntries(options));
  const values = parsed.values as Readonly<Record<string, (string | boolean)[] | undefined>>;
  for (const [name, given] of Object.entries(values)) {
    if (given !== undefined && given.length > 1) throw new UsageError(`--${name} is given more than once`);
  }
  return {
    operands: parsed.positionals,
    option: (name) => values[name]?.[0] as string | undefined,
    has: (name) => values[name] !== undefined,
  };
}

function parse(
  args: readonly string[],
  options: Record<string, { type: 'boolean' | 'string'; multiple: boolean }>,
) {
  const help = { type: 'boolean', short: 'h', multiple: true } as const;
  try {
    return parseArgs({
      args: [...args],
      options: { ...options, help },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!code.startsWith('ERR_PARSE_ARGS')) throw error;
    // "Unknown option '--x'. To specify a positional ...": the first sentence says it
    throw new UsageError((error as Error).message.split(/\.(\s|$)/)[0]);
  }
}

function requireAll(definition: ActionDefinition, input: Input): void {
  const operands = definition.operands ?? [];
  const missing = operands[input.operands.length];
  if (missing !== undefined) throw new UsageError(`${missing.name} is missing`);
  if (input.operands.length > operands.length) {
    throw new UsageError(`${JSON.stringify(input.operands[operands.length])} is one word too many`);
  }
  for (const [name, option] of Object.entries(definition.options ?? {})) {
    if (option.required === true && !input.has(name)) throw new UsageError(`--${name} is missing`);
  }
}

function helpOf({ path, summary, operands = [], options = {} }: ActionDefinition): string {
  const synopsis = [
    `usage: qrn ${path}`,
    ...operands.map(({ name }) => name),
    ...Object.entries(options).map(([name, each]) => {
      return each.required === true ? flagOf(name, each) : `[${flagOf(name, each)}]`;
    }),
  ].join(' ');
  const lines = [
    ...operands.map(({ name, meaning }) => [`  ${name}`, meaning]),
    ...Object.entries(options).map(([name, each]) => [`  ${flagOf(name, each)}`, each.meaning]),
    ['  --help', 'this text'],
  ];
  return `${synopsis}\n\n${summary}\n\n${columns(lines)}\n`;
}

function flagOf(name: string, { value }: OptionDefinition): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Reading of option values. Each throws a UsageError that names the option and what it may be. */

export function oneOf<const T extends string>(option: string, text: string, words: readonly T[]): T {
  const found = words.find((word) => word === text);
  if (found === undefined) {
    throw new UsageError(`--${option} is one of ${words.join(', ')}, not ${JSON.stringify(text)}`);
  }
  return found;
}

/** Comma-separated words, each once. */
export function listOf<const T extends string>(option: string, text: string, words: readonly T[]): T[] {
  return [...new Set(text.split(',').map((word) => oneOf(option, word.trim(), words)))];
}

export function wholeNumber(option: string, text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) {
    throw new UsageError(`--${option} is a whole number, not ${JSON.stringify(text)}`);
  }
  return value;
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A span such as 90s, 30m, 24h or 7d, in milliseconds; 0 needs no unit. */
export function duration(option: string, text: string): number {
  const match = /^(?:(\d{1,9})([smhd])|0)$/.exec(text);
  if (match === null) {
    throw new UsageError(`--${option} is a span such as 90s, 30m, 24h or 7d, not ${JSON.stringify(text)}`);
  }
  return match[1] === undefined ? 0 : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
}

/** RFC 3339 with an offset, or a date alone for its first moment in UTC. */
const ISO_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** A moment in ISO 8601, in Unix milliseconds. */
export function moment(option: string, text: string): number {
  const match = ISO_TIME.exec(text);
  const atMs = match === null ? Number.NaN : Date.parse(text);
  // Date.parse takes February 30 for March 2
  const isOfCalendar =
    match !== null &&
    Number(match[3]) <= new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate();
  if (Number.isNaN(atMs) || !isOfCalendar) {
    throw new UsageError(
      `--${option} is a time such as 2027-01-31 or 2027-01-31T12:00:00Z, not ${JSON.stringify(text)}`,
    );
  }
  return atMs;
}
