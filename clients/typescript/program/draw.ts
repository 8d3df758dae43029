import { Help } from 'commander';
import { printable } from '../../../src/certificate/members.ts';
import { byteCount, integer, listOf, oneOf, wholeNumber } from '../../../src/cli/arguments.ts';
import {
  action,
  type Command,
  type CommandContext,
  CommandError,
  type Given,
  HELP_WIDTH,
  type OptionTable,
  type Reader,
  type Report,
  readValue,
  UsageError,
} from '../../../src/cli/command.ts';
import { ENTROPY_MODES } from '../../../src/core/vocabulary.ts';
import type { Answer, DataEndpoint } from '../src/answers.ts';
import type { QrnClient } from '../src/client.ts';
import type { DataParameters, DrawParameters } from '../src/parameters.ts';
import type { PendingCall } from '../src/pending-call.ts';
import { type AskedKind, KINDS, type Parameter } from './kinds.ts';
import { streamBytes, streamLines } from './raw-stream.ts';
import { checked, connect, provenanceText, SERVICE_OPTIONS, serving } from './service-client.ts';

/** The service also accepts `hybrid` for quantum-seeded. */
const mode = oneOf(ENTROPY_MODES);
const modeOrAlias = {
  ...mode,
  read: (text: string) => mode.read(text === 'hybrid' ? 'quantum-seeded' : text),
};

/** The options of every command that draws values. */
const DRAW_OPTIONS = {
  mode: {
    value: 'MODE',
    meaning: `entropy mode: ${ENTROPY_MODES.join(', ')}; the default depends on the tier and is never pure`,
    read: modeOrAlias,
  },
  json: { meaning: 'print the answer as the service sent it, so that you can save it for qrn verify' },
  raw: { meaning: 'print only the values, one per line; for bytes, the bytes themselves' },
  verify: {
    meaning:
      'verify the answer before it is printed; exit with status 1 if it is wrong, and with 2 if it cannot be verified',
  },
  dryRun: { meaning: 'print the price, and draw nothing' },
  purpose: {
    value: 'TEXT',
    meaning: 'purpose of the values; the certificate numbers the answers of the account with this purpose',
  },
  userData: { value: 'TEXT', meaning: 'text that the certificate is bound to, up to 1,000 characters' },
  userDataSha256: { value: 'HEX', meaning: 'SHA-256 hash of the user data, instead of --user-data' },
  public: { meaning: 'show the purpose and the user data in the certificate instead of commitments to them' },
  ...SERVICE_OPTIONS,
} as const satisfies OptionTable;

/** The most values in one answer of GET /v1/integers, floats or uuid. --raw sends more values in blocks. */
const ANSWER_VALUES_MAX = 10_000;
const ANSWER_BYTES_MAX = 1_024;

type Common = Given<typeof DRAW_OPTIONS> & { readonly operands: readonly string[] };

/** The operand of a command that draws, and the parameter that it becomes. */
interface KindOperand {
  readonly parameter: string;
  readonly name: string;
  readonly meaning: string;
  readonly optional?: boolean;
  readonly repeated?: true;
  readonly read: (operands: readonly string[], context: CommandContext) => Promise<object> | object;
}

type Parameters = DrawParameters & Record<string, unknown>;
type Data = Readonly<Record<string, unknown>>;

/**
 * Where a command that draws differs from its kind. The command does not check parameters: the service refuses wrong
 * ones.
 */
interface Otherwise {
  readonly summary?: string;
  /** The endpoint that is asked, when its name is not that of the command. */
  readonly endpoint?: DataEndpoint;
  readonly options?: OptionTable;
  /** Returns the parameters to send for those of the command line. */
  readonly prepared?: (asked: Parameters) => Parameters;
  /** Returns the values to print, from the data of the answer and the parameters of the command line. */
  readonly shown?: (data: Data, asked: Parameters) => readonly unknown[];
  /** Prints with --raw more values than one answer holds, and returns the exit status. */
  readonly streamed?: (
    parameters: Parameters & { readonly count: number },
    input: Common,
    client: QrnClient,
    context: CommandContext,
  ) => Promise<number>;
}

/** Returns the command that draws one kind of value. */
function drawing(name: string, operand: KindOperand, kind: AskedKind, otherwise: Otherwise = {}): Command {
  const { endpoint = name as DataEndpoint, prepared, streamed, shown = valuesOf } = otherwise;
  const options = otherwise.options ?? optionsOf(kind, operand);
  return action({
    path: name,
    summary: otherwise.summary ?? kind.summary,
    operands: [operand],
    options: { ...options, ...DRAW_OPTIONS },
    run: async (input, context) => {
      const given = Object.entries(input).filter(([option]) => option in options);
      const { mode: entropyMode, purpose, userData, userDataSha256, public: isPublic } = input;
      const asked: Parameters = {
        ...(await operand.read(input.operands, context)),
        ...Object.fromEntries(given),
        ...{ entropyMode, purpose, userData, userDataSha256, public: isPublic },
      };
      const parameters = prepared?.(asked) ?? asked;
      if (input.raw && input.json) throw new UsageError('--raw and --json must not both be given');
      const isStreamed =
        streamed !== undefined && exceedsAnswer(endpoint, Number(asked['count']), input, context);
      const { client, url } = connect(input, context);
      return serving(url, async () => {
        if (isStreamed)
          return streamed({ ...parameters, count: Number(parameters['count']) }, input, client, context);
        if (input.dryRun) return quote(endpoint, parameters, client);
        const call = client[endpoint] as (parameters: object) => PendingCall<Answer<Data>>;
        const { answer, response } = await call.call(client, parameters).withResponse();
        if (input.verify) {
          const status = await checked(client, answer, context);
          if (status !== 0) return status;
        }
        if (input.json) context.out(`${new TextDecoder().decode(response.body)}\n`);
        else print(answer, shown(answer.data, asked), input, context);
        return 0;
      });
    },
  });
}

/** Returns an option for each parameter except the operand's. */
function optionsOf({ properties, required }: AskedKind, { parameter: taken }: KindOperand): OptionTable {
  const own = Object.entries(properties).filter(([name]) => name !== taken);
  return Object.fromEntries(
    own.map(([name, each]) => [name, { ...optionOf(each), required: required.includes(name) }]),
  );
}

function optionOf(parameter: Parameter): OptionTable[string] {
  const { type, enum: words } = parameter;
  const meaning = meaningOf(parameter);
  if (words !== undefined)
    return { value: 'WORD', meaning: `${words.join(', ')}: ${meaning}`, read: oneOf(words) };
  if (type === 'boolean') return { meaning };
  if (type === 'array') return { value: 'N,…', meaning, read: listOf(integer) };
  if (type === 'number') return { value: 'X', meaning, read: decimalNumber };
  if (type === 'string') return { value: 'TEXT', meaning };
  return { value: 'N', meaning, read: integer };
}

/** The help leaves out a default with more characters, which does not fit a line. */
const DEFAULT_SHOWN_MAX = 20;

function meaningOf({ description, default: fallback }: Parameter): string {
  const isShown = fallback != null && fallback !== false && String(fallback).length <= DEFAULT_SHOWN_MAX;
  const meaning = description[0]!.toLowerCase() + description.slice(1).replace(/\.$/, '');
  return `${meaning}${isShown ? `; default: ${fallback}` : ''}`;
}

/** Returns the operand of a kind: its items, its required number, or the number of values. */
function operandOf(name: string, { properties, required }: AskedKind): KindOperand {
  if ('items' in properties) return ITEMS;
  if (name === 'bytes') return SIZE;
  const chosen = required.find((each) => properties[each]?.type === 'integer');
  const parameter = chosen ?? ('count' in properties ? 'count' : 'length');
  const { default: fallback } = properties[parameter]!;
  const word = parameter.toUpperCase();
  return {
    parameter,
    name: word,
    meaning: meaningOf(properties[parameter]!),
    optional: fallback !== undefined,
    read: ([text = String(fallback)]) => ({ [parameter]: readValue(word, text, wholeNumber(1)) }),
  };
}

async function quote<E extends DataEndpoint>(
  endpoint: E,
  parameters: Parameters,
  client: QrnClient,
): Promise<Report> {
  const { data, credits } = await client.quote(endpoint, parameters as unknown as DataParameters[E]);
  const { mode, required_bytes: required } = data;
  const free = `free: the mode is ${mode}, and only pure mode costs credits`;
  const price = mode === 'pure' ? `${required} credits of ${credits.remaining} left` : free;
  return { data: { mode, required_bytes: required, credits }, shown: [price] };
}

/** Returns the values of an answer, whatever member holds them. */
function valuesOf(data: Data): readonly unknown[] {
  const { values, items, uuids, bitstring, bytes } = data;
  const told = values ?? items ?? uuids ?? bitstring ?? bytes;
  return Array.isArray(told) ? told : [told];
}

/**
 * Prints numbers in filled lines, and any other value on a line of its own. With --raw every value has its own line.
 */
function print(
  answer: Answer<unknown>,
  values: readonly unknown[],
  input: Common,
  context: CommandContext,
): void {
  const isRaw = input.raw;
  const texts = values.map(textOf).map((text) => (context.isTerminal && !isRaw ? printable(text) : text));
  if (isRaw && texts.some((text) => text.includes('\n')))
    throw new CommandError(
      'a value contains a line break, so --raw cannot print one value per line; use --json',
    );
  const isList = isRaw || typeof values[0] !== 'number';
  context.out(`${isList ? texts.join('\n') : new Help().boxWrap(texts.join(' '), HELP_WIDTH)}\n`);
  if (!isRaw) context.talk(provenanceText(answer));
}

/** Returns a value as text: a blank between the numbers of a list, two between lists. */
function textOf(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return value.map(textOf).join(Array.isArray(value[0]) ? '  ' : ' ');
}

/** Returns whether --raw must send blocks. Without --raw, throws a UsageError for more values than one answer holds. */
function exceedsAnswer(
  endpoint: DataEndpoint,
  count: number,
  input: Common,
  context: CommandContext,
): boolean {
  const isDry = input.dryRun === true;
  const [max, most] = endpoint === 'bytes' ? [ANSWER_BYTES_MAX, 'bytes'] : [ANSWER_VALUES_MAX, 'values'];
  if (input.raw && !isDry) {
    if (endpoint !== 'bytes') return count > max;
    if (context.isTerminal)
      throw new UsageError('--raw prints bytes that a terminal cannot show: redirect the output');
    if ('encoding' in input) throw new UsageError('--raw and --encoding must not both be given');
    return true;
  }
  if (count <= max) return false;
  const held = `${max.toLocaleString('en')} ${most}`;
  throw new UsageError(
    isDry
      ? `--dry-run shows the price of one answer, which has at most ${held}`
      : `more than ${held} require --raw`,
  );
}

const SIZE: KindOperand = {
  parameter: 'count',
  name: 'SIZE',
  meaning: 'number of bytes, e.g. 16, 64K, 10M or 1G; default: 16; with --raw there is no limit',
  optional: true,
  read: ([size = '16']) => ({ count: readValue('SIZE', size, byteCount) }),
};

const ITEMS: KindOperand = {
  parameter: 'items',
  name: 'ITEM',
  meaning:
    'items; without any, the lines of stdin are the items. They are sent to the service in a request of at most 64 KiB; ' +
    'qrn pick does not send them',
  optional: true,
  repeated: true,
  read: async (operands, context) => {
    const items = operands.length > 0 ? operands : linesOf(await context.stdin());
    if (items.length < 2)
      throw new UsageError('at least two items are required, as words or as lines of stdin');
    return { items };
  },
};

function linesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder('utf-8', { fatal: true }).decode(bytes).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const decimalNumber: Reader<number> = {
  what: 'a decimal number such as -0.5',
  read: (text) => (/^-?\d{1,7}(\.\d{1,17})?$/.test(text) ? Number(text) : undefined),
};

const OTHERWISE: Readonly<Record<string, Otherwise>> = {
  integers: {
    streamed: ({ count, unique, sort, ...rest }, input, client, context) => {
      if (unique !== undefined || sort !== undefined)
        throw new UsageError('--unique and --sort allow at most 10,000 values');
      return streamLines(client.stream.integers({ total: count, ...rest }), input, client, context);
    },
  },
  floats: {
    streamed: ({ count, ...rest }, input, client, context) =>
      streamLines(client.stream.floats({ total: count, ...rest }), input, client, context),
  },
  bytes: {
    streamed: ({ count, ...common }, input, client, context) =>
      streamBytes(count, common, input, client, context),
  },
};

const PICK: Otherwise = {
  summary:
    'Picks random items, each at most once. The service draws the numbers of the items, counted from 0 in the given order, and never\n' +
    'sees the items. The certificate covers the numbers.',
  endpoint: 'integers',
  options: { count: { value: 'N', meaning: 'number of items to pick; default: 1', read: integer } },
  prepared: ({ items, count = 1, ...common }) => {
    const { length } = items as readonly string[];
    if (!(Number(count) >= 1 && Number(count) <= length))
      throw new UsageError(`--count must be from 1 to ${length}, the number of items`);
    return { count, min: 0, max: length - 1, unique: true, ...common };
  },
  shown: ({ values }, { items }) =>
    (values as readonly number[]).map((index) => (items as readonly string[])[index]),
};

/** The commands that draw, by name. */
export const DRAWING: Readonly<Record<string, Command>> = {
  ...Object.fromEntries(
    Object.entries(KINDS).map(([name, kind]) => [
      name,
      drawing(name, operandOf(name, kind), kind, OTHERWISE[name]),
    ]),
  ),
  pick: drawing('pick', ITEMS, KINDS['sample']!, PICK),
};
