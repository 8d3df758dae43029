import { Help } from 'commander';
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
import { streamBytes, streamLines } from './raw-stream.ts';
import { checked, connect, provenanceText, SERVICE_OPTIONS, serving } from './service-client.ts';

/** `hybrid` is an alias, also at the service. */
const mode = oneOf(ENTROPY_MODES);
const modeOrAlias = {
  ...mode,
  read: (text: string) => mode.read(text === 'hybrid' ? 'quantum-seeded' : text),
};

/** Every command that draws values. */
const DRAW_OPTIONS = {
  mode: {
    value: 'MODE',
    meaning: `${ENTROPY_MODES.join(', ')}; the tier decides when not given, and never for pure`,
    read: modeOrAlias,
  },
  json: { meaning: 'the answer as the service sent it: keep it, and qrn verify checks it' },
  raw: { meaning: 'nothing but the values, one to a line; of bytes the bytes themselves' },
  verify: {
    meaning: 'check the answer before it is printed; exit 1 when it is not true, 2 when that is not known',
  },
  dryRun: { meaning: 'print what it would cost, and draw nothing' },
  purpose: {
    value: 'TEXT',
    meaning: 'what the values are for; the certificate numbers the answers of the account under it',
  },
  userData: { value: 'TEXT', meaning: 'what the certificate is to be bound to, up to 1,000 characters' },
  userDataSha256: { value: 'HEX', meaning: 'its SHA-256 instead' },
  public: { meaning: 'the certificate shows purpose and user data, rather than commitments to them' },
  ...SERVICE_OPTIONS,
} as const satisfies OptionTable;

/** Values of one answer of GET /v1/integers, floats or uuid; beyond it --raw sends them in blocks. */
const ANSWER_VALUES_MAX = 10_000;
const ANSWER_BYTES_MAX = 1_024;

type Common = Given<typeof DRAW_OPTIONS> & { readonly operands: readonly string[] };

/** What stands behind the name of a command, and the parameter that it becomes. */
interface KindOperand {
  readonly name: string;
  readonly meaning: string;
  readonly optional?: true;
  readonly repeated?: true;
  readonly read: (operands: readonly string[], context: CommandContext) => Promise<object> | object;
}

/** Values as they are printed: each on a line of its own, or for people as words in lines. */
type ShownValues = { readonly lines: readonly string[] } | { readonly words: readonly string[] };

type Parameters = DrawParameters & Record<string, unknown>;

/** A command that draws one kind of value. What this leaves to the service is refused by it, and printed as it says it. */
interface Kind<E extends DataEndpoint, T> {
  readonly summary: string;
  /** That which answers; the command's name when not given. */
  readonly endpoint?: E;
  readonly operand: KindOperand;
  /** Each becomes the parameter of its name. */
  readonly options?: OptionTable;
  /** Of the data of an answer, and of what was asked on the command line. */
  readonly shown: (data: T, asked: Parameters) => ShownValues;
  /** The parameters that the service is sent, where they are others. Throws where it could not tell what is wrong. */
  readonly prepared?: (asked: Parameters) => Parameters;
  /** Sends with --raw what one answer does not hold, and gives the exit status. */
  readonly streamed?: (
    parameters: Parameters & { readonly count: number },
    input: Common,
    client: QrnClient,
    context: CommandContext,
  ) => Promise<number>;
}

function kind<T, E extends DataEndpoint = DataEndpoint>(name: string, definition: Kind<E, T>): Command {
  const { summary, operand, options = {}, shown, prepared, streamed } = definition;
  const endpoint = definition.endpoint ?? (name as E);
  return action({
    path: name,
    summary,
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
      if (input.raw && input.json) throw new UsageError('give --raw or --json, not both');
      const isStreamed =
        streamed !== undefined && exceedsAnswer(endpoint, Number(asked['count']), input, context);
      const { client, url } = connect(input, context);
      return serving(url, async () => {
        if (isStreamed)
          return streamed({ ...parameters, count: Number(parameters['count']) }, input, client, context);
        if (input.dryRun) return quote(endpoint, parameters, client);
        const call = client[endpoint] as (parameters: object) => PendingCall<Answer<T>>;
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

async function quote<E extends DataEndpoint>(
  endpoint: E,
  parameters: Parameters,
  client: QrnClient,
): Promise<Report> {
  const { data, credits } = await client.quote(endpoint, parameters as unknown as DataParameters[E]);
  const { mode, required_bytes: required } = data;
  const free = `free: only pure mode costs credits, and this is ${mode}`;
  const price = mode === 'pure' ? `${required} credits of ${credits.remaining} left` : free;
  return { data: { mode, required_bytes: required, credits }, shown: [price] };
}

function print(answer: Answer<unknown>, shown: ShownValues, input: Common, context: CommandContext): void {
  const texts = 'lines' in shown ? shown.lines : shown.words;
  const isRaw = input.raw;
  if (isRaw && texts.some((text) => text.includes('\n')))
    throw new CommandError(
      'a value holds a line break, so --raw cannot print one value to a line; use --json',
    );
  const isList = isRaw || 'lines' in shown;
  context.out(`${isList ? texts.join('\n') : new Help().boxWrap(texts.join(' '), HELP_WIDTH)}\n`);
  if (!isRaw) context.talk(provenanceText(answer));
}

/** Whether --raw sends it in blocks. Throws a UsageError for more than one answer holds where there is no --raw. */
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
      throw new UsageError('--raw sends bytes that a terminal cannot show: redirect it');
    if ('encoding' in input) throw new UsageError('--raw does not go with --encoding');
    return true;
  }
  if (count <= max) return false;
  const held = `${max.toLocaleString('en')} ${most}`;
  throw new UsageError(
    isDry
      ? `--dry-run asks for the price of one answer, which holds at most ${held}`
      : `more than ${held} are sent with --raw alone`,
  );
}

/** A number of things, read into `parameter`. */
function countOf(name: string, parameter: string, meaning: string, fallback?: number): KindOperand {
  return {
    name,
    meaning,
    ...(fallback === undefined ? {} : { optional: true }),
    read: ([text = String(fallback)]) => ({ [parameter]: readValue(name, text, wholeNumber(1)) }),
  };
}

const COUNT = countOf('COUNT', 'count', 'how many; 1 when not given', 1);

const SIZE: KindOperand = {
  name: 'SIZE',
  meaning: 'how many: 16, 64K, 10M, 1G; 16 when not given',
  optional: true,
  read: ([size = '16']) => ({ count: readValue('SIZE', size, byteCount) }),
};

const ITEMS: KindOperand = {
  name: 'ITEM',
  meaning: 'the items; without any they are the lines of stdin',
  optional: true,
  repeated: true,
  read: async (operands, context) => {
    const items = operands.length > 0 ? operands : linesOf(await context.stdin());
    if (items.length < 2) throw new UsageError('give at least two items, as words or as lines of stdin');
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

const number = (meaning: string) => ({ value: 'N', meaning, read: integer });
const decimal = (meaning: string) => ({ value: 'X', meaning, read: decimalNumber });
const numbers = (meaning: string) => ({ value: 'N,…', required: true, meaning, read: listOf(integer) });

const SORT = {
  value: 'ORDER',
  meaning: 'none, ascending or descending',
  read: oneOf(['none', 'ascending', 'descending']),
};

interface Numbers {
  readonly values: readonly number[];
}
interface Items {
  readonly items: readonly string[];
}

const words = ({ values }: Numbers) => ({ words: values.map(String) });
const lines = ({ items }: Items) => ({ lines: items });

export const integers = kind<Numbers>('integers', {
  summary: 'Random integers in a range, each equally likely.',
  operand: COUNT,
  options: {
    min: number('lower bound, inclusive; 0 when not given'),
    max: number('upper bound, inclusive; 100 when not given'),
    unique: { meaning: 'no value twice' },
    sort: SORT,
  },
  shown: words,
  streamed: ({ count, unique, sort, ...rest }, input, client, context) => {
    if (unique !== undefined || sort !== undefined)
      throw new UsageError('--unique and --sort take up to 10,000 values');
    return streamLines(client.stream.integers({ total: count, ...rest }), input, client, context);
  },
});

export const floats = kind<Numbers>('floats', {
  summary: 'Random numbers from 0 on and below 1.',
  operand: COUNT,
  options: { precision: number('decimal places, 1 to 15; all 53 bits when not given') },
  shown: words,
  streamed: ({ count, ...rest }, input, client, context) =>
    streamLines(client.stream.floats({ total: count, ...rest }), input, client, context),
});

export const uuid = kind<{ readonly uuids: readonly string[] }>('uuid', {
  summary: 'Random UUIDs of version 4.',
  operand: COUNT,
  shown: ({ uuids }) => ({ lines: uuids }),
});

export const bytes = kind<{ readonly bytes: string }>('bytes', {
  summary: 'Random bytes. With --raw any number of them, in blocks, for another program to read.',
  operand: SIZE,
  options: {
    encoding: {
      value: 'E',
      meaning: 'hex or base64; hex when not given',
      read: oneOf(['hex', 'base64']),
    },
  },
  shown: (data) => ({ lines: [data.bytes] }),
  streamed: ({ count, ...common }, input, client, context) =>
    streamBytes(count, common, input, client, context),
});

export const bitstring = kind<{ readonly bitstring: string }>('bitstring', {
  summary: 'Random bits, as a text of 0 and 1.',
  operand: countOf('LENGTH', 'length', 'how many, up to 100,000; 128 when not given', 128),
  shown: (data) => ({ lines: [data.bitstring] }),
});

export const sample = kind<Items>('sample', {
  summary:
    'Some of the items, none twice, in random order. The items are sent to the service, and its certificate covers them; ' +
    'qrn pick sends none of them.',
  operand: ITEMS,
  options: { count: number('how many; 1 when not given') },
  shown: lines,
});

export const weighted = kind<Items>('weighted', {
  summary: 'Items picked by weight, each pick independent of the others.',
  operand: ITEMS,
  options: {
    weights: numbers('a whole number from 1 on for each item, with commas'),
    count: number('how many picks; 1 when not given'),
  },
  shown: lines,
  prepared: (parameters) => {
    const [items, weights] = [parameters['items'] as readonly string[], parameters['weights'] as number[]];
    if (weights.length === items.length) return parameters;
    throw new UsageError(`--weights has ${weights.length} numbers for ${items.length} items`);
  },
});

export const strings = kind<{ readonly values: readonly string[] }>('strings', {
  summary: 'Random strings over an alphabet, each character equally likely.',
  operand: COUNT,
  options: {
    length: number('characters of each, up to 128; 16 when not given'),
    alphabet: { value: 'TEXT', meaning: 'its characters, none twice; A-Z, a-z and 0-9 when not given' },
  },
  shown: ({ values }) => ({ lines: values }),
});

export const sequences = kind<{ readonly values: readonly (readonly (readonly number[])[])[] }>('sequences', {
  summary:
    'Several sequences of integers in one answer, such as lottery tickets: each option has a number for each sequence.',
  operand: COUNT,
  options: {
    length: numbers('how many numbers each sequence has'),
    min: numbers('their lower bounds, inclusive'),
    max: numbers('their upper bounds, inclusive'),
    unique: { meaning: 'no number twice in a sequence' },
    sort: SORT,
  },
  shown: ({ values }) => ({ lines: values.map((each) => each.map((one) => one.join(' ')).join('  ')) }),
});

export const permutations = kind<{ readonly values: readonly (readonly number[])[] }>('permutations', {
  summary: 'The numbers from 0 to LENGTH - 1 in a random order, each order equally likely.',
  operand: countOf('LENGTH', 'length', '2 to 10,000'),
  options: { count: number('how many orders; 1 when not given') },
  shown: ({ values }) => ({ lines: values.map((each) => each.join(' ')) }),
});

export const gaussians = kind<Numbers>('gaussians', {
  summary: 'Normally distributed numbers, rounded exactly.',
  operand: COUNT,
  options: {
    mean: decimal('0 when not given'),
    stddev: decimal('1 when not given'),
    digits: number('significant digits of each, 2 to 14; 14 when not given'),
  },
  shown: words,
});

export const shuffle = kind<Items>('shuffle', {
  summary:
    'The items in a random order, each order equally likely. They are sent to the service in one request of at most 64 KiB;\n' +
    'qrn pick with the --count of all items orders longer ones, and sends none of them.',
  operand: ITEMS,
  shown: lines,
});

export const pick = kind<Numbers>('pick', {
  summary:
    'Items picked at random, none twice. The service draws their numbers, counted from 0 in the order they are given, and\n' +
    'never sees the items; its certificate is of the numbers.',
  endpoint: 'integers',
  operand: ITEMS,
  options: { count: number('how many; 1 when not given') },
  prepared: ({ items, count = 1, ...common }) => {
    const { length } = items as readonly string[];
    if (!(Number(count) >= 1 && Number(count) <= length))
      throw new UsageError(`--count is 1 to ${length}, the number of items`);
    return { count, min: 0, max: length - 1, unique: true, ...common };
  },
  shown: ({ values }, { items }) => ({ lines: values.map((index) => (items as readonly string[])[index]) }),
});
