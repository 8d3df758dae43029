import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Clock } from '../core/clock.ts';

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
  /** From the call on, Ctrl-C aborts the signal and does not end the process. The second Ctrl-C does. */
  readonly interruption: () => AbortSignal;
  /** Stdout is a terminal: bytes that are not text would garble it. */
  readonly isTerminal: boolean;
  /** Asks a person at a terminal; undefined where nobody is there to answer. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
}

/**
 * An entry of the table of `qrn`. `run` gives the exit status: 0 done, 1 it cannot be, 2 it was asked
 * wrongly.
 */
export interface Command {
  readonly name: string;
  readonly summary: string;
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

interface OptionDefinition {
  /** The placeholder of its value in the help, e.g. `ISO`; a switch has none. */
  readonly value?: string;
  readonly required?: boolean;
  readonly meaning: string;
}

export type OptionTable = Readonly<Record<string, OptionDefinition>>;

interface Operand {
  /** As the help prints it, e.g. `KEY_ID`. */
  readonly name: string;
  readonly meaning: string;
  /** May be left out; only the last operands can. */
  readonly optional?: boolean;
  /** May be given any number of times; only the last operand can. */
  readonly repeated?: boolean;
}

/** Options are undefined when they are not given. */
export interface Input {
  readonly operands: readonly string[];
  readonly option: (name: string) => string | undefined;
  readonly has: (name: string) => boolean;
}

/** The service that the caller named. An empty variable is one that is not set, as in the libraries. */
export function urlGiven(input: Input, { environment }: CommandContext): string | undefined {
  return input.option('url') ?? (environment['QRN_URL'] || undefined);
}

export interface ActionDefinition {
  /** As it is called, e.g. `accounts create`; the last word is its name in a group. */
  readonly path: string;
  readonly summary: string;
  readonly operands?: readonly Operand[];
  readonly options?: OptionTable;
  /** Ends its help. */
  readonly footer?: () => string;
  /**
   * Of a command that cannot be undone: checks that it can be done, changes nothing, and says in a sentence what it
   * will do. The command then has --yes and --dry-run, and asks a person at a terminal before it runs.
   */
  readonly irreversible?: (input: Input, context: CommandContext) => Promise<string>;
  /** Gives the exit status; without one it is 0. */
  readonly run: (input: Input, context: CommandContext) => Promise<number | undefined>;
}

/** A command that does one thing. */
export function action(given: ActionDefinition): Command {
  const options =
    given.irreversible === undefined ? given.options : { ...given.options, ...IRREVERSIBLE_OPTIONS };
  const definition = { ...given, options: options ?? {} };
  return {
    name: definition.path.split(' ').at(-1)!,
    summary: definition.summary,
    words: async () => ({
      commands: [],
      options: [...Object.keys(definition.options), 'help'].map((name) => `--${name}`),
    }),
    run: (args, context) =>
      reported(definition.path, context, async () => {
        const input = readInput(definition, args);
        if (input.has('help')) {
          context.out(helpOf(definition));
          return 0;
        }
        requireAll(definition, input);
        const refused = await unlessMeant(definition, input, context);
        if (refused !== undefined) return refused;
        return (await definition.run(input, context)) ?? 0;
      }),
  };
}

const IRREVERSIBLE_OPTIONS: OptionTable = {
  yes: { meaning: 'do not ask' },
  'dry-run': { meaning: 'say what would be done, and do nothing' },
};

/** The exit status of a command that is not to run; undefined for one that is. Scripts are not asked. */
async function unlessMeant(
  { irreversible }: ActionDefinition,
  input: Input,
  context: CommandContext,
): Promise<number | undefined> {
  if (irreversible === undefined) return undefined;
  if (input.has('dry-run')) {
    context.out(`${await irreversible(input, context)}\n`);
    return 0;
  }
  if (input.has('yes') || context.confirm === undefined) return undefined;
  const consequence = await irreversible(input, context);
  if (await context.confirm(`${consequence} This cannot be undone. Go on?`)) return undefined;
  context.talk('Nothing was changed.\n');
  return 1;
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
      if (word === '--help' || word === '-h' || word === 'help') {
        const lines = described(commands.map((each) => [each.name, each.summary]));
        context.out(
          `usage: ${path} COMMAND\n\n${filled(summary)}\n\n${lines}\n\n${path} COMMAND --help tells more.\n${footer}`,
        );
        return 0;
      }
      const names = commands.map(({ name }) => name);
      const wrong =
        word === undefined
          ? 'a command is missing'
          : `there is no command ${JSON.stringify(word)}${suggestion(word, names)}`;
      const all = wrong.endsWith('?') ? ' The' : '; the';
      context.talk(`${path}: ${wrong}${all} commands are ${names.join(', ')}\n`);
      return 2;
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

/** Rows under a head, each column as wide as its widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return `${columns([head, ...rows])}\n`;
}

/** Names and values of one thing, a line each; a dash stands for null. */
export function facts(values: Readonly<Record<string, string | number | boolean | null>>): string {
  return `${columns(Object.entries(values).map(([name, value]) => [name, String(value ?? '-')]))}\n`;
}

export function json(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** What a file holds that the command line names. */
export function readInputFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new CommandError(`cannot read ${path}`, { cause: error });
  }
}

/** Resolves at the first SIGTERM or SIGINT, which then does not end the process. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
}

/** One line per failure, whatever failed. */
async function reported(path: string, context: CommandContext, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const message = oneLine(error);
    const see = message.endsWith('?') ? ' See' : '; see';
    context.talk(`qrn ${path}: ${message}${isUsage ? `${see} qrn ${path} --help` : ''}\n`);
    return isUsage ? 2 : 1;
  }
}

/** The message and those of its causes. */
export function oneLine(error: unknown): string {
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

interface ParsedOption {
  readonly type: 'boolean' | 'string';
  readonly multiple: boolean;
}

function parse(args: readonly string[], options: Record<string, ParsedOption>) {
  const help = { type: 'boolean', short: 'h', multiple: true } as const;
  try {
    return parseArgs({
      args: withNegativeValues(args, options),
      options: { ...options, help },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!code.startsWith('ERR_PARSE_ARGS')) throw error;
    // "Unknown option '--x'. To specify a positional ...": the first sentence says it
    const [sentence] = (error as Error).message.split(/\.(\s|$)/);
    const unknown = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? /'--?([^']+)'/.exec(sentence)?.[1] : undefined;
    const known = Object.keys(options);
    const meant =
      unknown === undefined ? '' : suggestion(unknown, known).replace(/mean (.*)\?/, 'mean --$1?');
    throw new UsageError(`${sentence}${meant}`);
  }
}

/** `--min -5` as `--min=-5`, which alone the parser takes for a value. */
function withNegativeValues(
  args: readonly string[],
  options: Readonly<Record<string, ParsedOption>>,
): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1) ?? '';
    const takesValue = before.startsWith('--') && options[before.slice(2)]?.type === 'string';
    if (takesValue && /^-\d/.test(arg)) joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

function requireAll(definition: ActionDefinition, input: Input): void {
  const operands = definition.operands ?? [];
  const missing = operands[input.operands.length];
  if (missing !== undefined && missing.optional !== true) throw new UsageError(`${missing.name} is missing`);
  if (input.operands.length > operands.length && operands.at(-1)?.repeated !== true) {
    throw new UsageError(`${JSON.stringify(input.operands[operands.length])} is one word too many`);
  }
  for (const [name, option] of Object.entries(definition.options ?? {})) {
    if (option.required === true && !input.has(name)) throw new UsageError(`--${name} is missing`);
  }
}

function helpOf({ path, summary, operands = [], options = {}, footer }: ActionDefinition): string {
  const synopsis = [
    ...operands.map(synopsisOf),
    ...Object.entries(options).map(([name, each]) => {
      return each.required === true ? flagOf(name, each) : `[${flagOf(name, each)}]`;
    }),
  ];
  const lines = described([
    ...operands.map(({ name, meaning }) => [name, meaning] as const),
    ...Object.entries(options).map(([name, each]) => [flagOf(name, each), each.meaning] as const),
    ['--help', 'this text'],
  ]);
  const usage = filledWords([`usage: qrn ${path}`, ...synopsis], '         ');
  return `${usage}\n\n${filled(summary)}\n\n${lines}\n${footer?.() ?? ''}`;
}

/** Help fits a terminal of this width. */
const HELP_WIDTH = 80;
/** Of names beside what they mean; what a longer one means stands below it. */
const NAME_WIDTH_MAX = 22;

/** Text in lines of HELP_WIDTH; its own line breaks are blanks. */
function filled(text: string, indent = ''): string {
  return filledWords(text.split(/\s+/), indent);
}

/** Words, none of which is broken; each line but the first begins with the indent. */
function filledWords(words: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line === undefined) lines.push(word);
    else if (line.length + 1 + word.length <= HELP_WIDTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(indent + word);
  }
  return lines.join('\n');
}

/** Names with what they mean beside them. */
export function described(rows: readonly (readonly [name: string, meaning: string])[]): string {
  const width = Math.min(NAME_WIDTH_MAX, Math.max(...rows.map(([name]) => name.length)));
  const indent = ' '.repeat(width + 4);
  return rows
    .map(([name, meaning]) => {
      const isLong = name.length > width;
      const first = `  ${name.padEnd(width)}  `;
      const text = filled(`${'x'.repeat(width + 4)}${meaning}`, indent).slice(width + 4);
      return isLong ? `  ${name}\n${indent}${text}` : `${first}${text}`;
    })
    .join('\n');
}

function synopsisOf({ name, optional, repeated }: Operand): string {
  const word = repeated === true ? `${name}...` : name;
  return optional === true ? `[${word}]` : word;
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

/** A number of bytes such as 512, 64K, 10M or 1G, by powers of 1,024. */
export function byteCount(name: string, text: string): number {
  const match = /^(\d{1,15})([KMGT]?)$/i.exec(text);
  const power = match === null ? 0 : ' KMGT'.indexOf(match[2].toUpperCase() || ' ');
  const bytes = match === null ? Number.NaN : Number(match[1]) * 1_024 ** power;
  if (!Number.isSafeInteger(bytes) || bytes < 1) {
    throw new UsageError(`${name} is a number of bytes such as 512, 64K or 1G, not ${JSON.stringify(text)}`);
  }
  return bytes;
}

export function wholeNumber(option: string, text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) {
    throw new UsageError(`--${option} is a whole number, not ${JSON.stringify(text)}`);
  }
  return value;
}

/** A TCP port, 0 for any. */
export function portNumber(option: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--${option} is a port from 0 to 65535, not ${JSON.stringify(text)}`);
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

/** Edits beyond this make another word, not a slip of the fingers. */
const EDITS_MAX = 2;

/** `; did you mean X?` for a word that is close to one of those known, or nothing. */
export function suggestion(word: string, known: readonly string[]): string {
  const close = known
    .map((each) => ({
      each,
      edits: each.startsWith(word) && word.length >= 3 ? 1 : editsBetween(word, each),
    }))
    .filter(({ each, edits }) => edits <= EDITS_MAX && edits < each.length)
    .sort((a, b) => a.edits - b.edits);
  return close.length === 0 ? '' : `; did you mean ${close[0].each}?`;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editsBetween(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, row[j] + 1, next[j - 1] + 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwap) next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    before = row;
    row = next;
  }
  return row[other.length];
}
