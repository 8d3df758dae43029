import type { Answer, DataEndpoint, EntropyMode, SortOrder } from '../../clients/typescript/src/answers.ts';
import type { QrnClient } from '../../clients/typescript/src/client.ts';
import type { DataParameters, DrawParameters } from '../../clients/typescript/src/parameters.ts';
import type { PendingCall } from '../../clients/typescript/src/pending-call.ts';
import { ENTROPY_MODES } from '../core/vocabulary.ts';
import {
  action,
  byteCount,
  type Command,
  type CommandContext,
  type Input,
  json,
  type OptionTable,
  oneOf,
  UsageError,
} from './command.ts';
import { printValues, type ShownValues } from './print-values.ts';
import { streamBytes, streamLines } from './raw-stream.ts';
import { connect, SERVICE_OPTIONS, serving } from './service-client.ts';

/** Every command that draws values. */
export const DRAW_OPTIONS = {
  mode: {
    value: 'MODE',
    meaning: `${ENTROPY_MODES.join(', ')}; the tier decides when not given, and never for pure`,
  },
  json: { meaning: 'the answer as the service sent it: keep it, and qrn verify checks it' },
  raw: { meaning: 'nothing but the values, one to a line; of bytes the bytes themselves' },
  verify: {
    meaning: 'check the answer before it is printed; exit 1 when it is not true, 2 when that is not known',
  },
  'dry-run': { meaning: 'print what it would cost, and draw nothing' },
  purpose: {
    value: 'TEXT',
    meaning: 'what the values are for; the certificate numbers the answers of the account under it',
  },
  'user-data': { value: 'TEXT', meaning: 'what the certificate is to be bound to, up to 1,000 characters' },
  'user-data-sha256': { value: 'HEX', meaning: 'its SHA-256 instead' },
  public: { meaning: 'the certificate shows purpose and user data, rather than commitments to them' },
  ...SERVICE_OPTIONS,
} as const satisfies OptionTable;

/** Values of one answer of GET /v1/integers, floats or uuid; beyond it --raw sends them in blocks. */
const ANSWER_VALUES_MAX = 10_000;
const ANSWER_BYTES_MAX = 1_024;

export const COUNT = { name: 'COUNT', meaning: 'how many; 1 when not given', optional: true } as const;

export const integers: Command = action({
  path: 'integers',
  summary: 'Random integers in a range, each equally likely.',
  operands: [COUNT],
  options: {
    min: { value: 'N', meaning: 'lower bound, inclusive; 0 when not given' },
    max: { value: 'N', meaning: 'upper bound, inclusive; 100 when not given' },
    unique: { meaning: 'no value twice' },
    sort: { value: 'ORDER', meaning: 'none, ascending or descending' },
    ...DRAW_OPTIONS,
  },
  run: (input, context) => {
    const count = countOf(input);
    const [min, max] = [numberOption(input, 'min'), numberOption(input, 'max')];
    const unique = input.has('unique') ? true : undefined;
    const order = input.option('sort');
    const sort =
      order === undefined ? undefined : oneOf('sort', order, ['none', 'ascending', 'descending'] as const);
    const common = commonOf(input);
    if (isTooMany(input, count)) {
      if (unique === true || sort !== undefined)
        throw new UsageError('--unique and --sort take up to 10,000 values');
      return streaming(input, context, (client) =>
        streamLines(client.stream.integers({ total: count, min, max, ...common }), input, client, context),
      );
    }
    const parameters = { count, min, max, unique, sort: sort as SortOrder | undefined, ...common };
    return drawn(input, context, 'integers', parameters, (client) => client.integers(parameters), numbersOf);
  },
});

export const floats: Command = action({
  path: 'floats',
  summary: 'Random numbers from 0 on and below 1.',
  operands: [COUNT],
  options: {
    precision: { value: 'N', meaning: 'decimal places, 1 to 15; all 53 bits when not given' },
    ...DRAW_OPTIONS,
  },
  run: (input, context) => {
    const count = countOf(input);
    const precision = numberOption(input, 'precision');
    const common = commonOf(input);
    if (isTooMany(input, count)) {
      return streaming(input, context, (client) =>
        streamLines(client.stream.floats({ total: count, precision, ...common }), input, client, context),
      );
    }
    const parameters = { count, precision, ...common };
    return drawn(input, context, 'floats', parameters, (client) => client.floats(parameters), numbersOf);
  },
});

export const uuid: Command = action({
  path: 'uuid',
  summary: 'Random UUIDs of version 4.',
  operands: [COUNT],
  options: DRAW_OPTIONS,
  run: (input, context) => {
    const parameters = { count: countOf(input), ...commonOf(input) };
    if (parameters.count > ANSWER_VALUES_MAX) throw new UsageError('COUNT is at most 10,000');
    const call = (client: QrnClient) => client.uuid(parameters);
    return drawn(input, context, 'uuid', parameters, call, ({ uuids }) => ({ lines: uuids }));
  },
});

export const bytes: Command = action({
  path: 'bytes',
  summary: 'Random bytes. With --raw any number of them, in blocks, for another program to read.',
  operands: [{ name: 'SIZE', meaning: 'how many: 16, 64K, 10M, 1G; 16 when not given', optional: true }],
  options: {
    encoding: { value: 'E', meaning: 'hex or base64; hex when not given' },
    ...DRAW_OPTIONS,
  },
  run: (input, context) => {
    const [size = '16'] = input.operands;
    const count = byteCount('SIZE', size);
    const common = commonOf(input);
    if (input.has('raw') && !input.has('dry-run')) {
      if (context.isTerminal)
        throw new UsageError('--raw sends bytes that a terminal cannot show: redirect it');
      if (input.has('json') || input.has('encoding'))
        throw new UsageError('--raw goes with neither --json nor --encoding');
      return streaming(input, context, (client) => streamBytes(count, common, input, client, context));
    }
    if (count > ANSWER_BYTES_MAX) throw tooMany(input, '1,024 bytes');
    const encoding = oneOf('encoding', input.option('encoding') ?? 'hex', ['hex', 'base64'] as const);
    const parameters = { count, encoding, ...common };
    const call = (client: QrnClient) => client.bytes(parameters);
    return drawn(input, context, 'bytes', parameters, call, ({ bytes: text }) => ({ lines: [text] }));
  },
});

export function numbersOf({ values }: { readonly values: readonly number[] }): ShownValues {
  return { words: values.map(String) };
}

/** Draws one answer and prints it, or its price. */
export async function drawn<E extends DataEndpoint, T>(
  input: Input,
  context: CommandContext,
  endpoint: E,
  parameters: DataParameters[E],
  call: (client: QrnClient) => PendingCall<Answer<T>>,
  shownOf: (data: T) => ShownValues,
): Promise<number> {
  if (input.has('raw') && input.has('json')) throw new UsageError('give --raw or --json, not both');
  const { client, url } = connect(input, context);
  return serving(url, async () => {
    if (!input.has('dry-run')) {
      const drawn = await call(client).withResponse();
      return printValues(drawn, shownOf(drawn.answer.data), input, client, context);
    }
    const { data, credits } = await client.quote(endpoint, parameters);
    const { mode, required_bytes: required } = data;
    if (input.has('json')) context.out(json({ mode, required_bytes: required, credits }));
    else if (mode !== 'pure') context.out(`free: only pure mode costs credits, and this is ${mode}\n`);
    else context.out(`${required} credits of ${credits.remaining} left\n`);
    return 0;
  });
}

function streaming(
  input: Input,
  context: CommandContext,
  stream: (client: QrnClient) => Promise<number>,
): Promise<number> {
  const { client, url } = connect(input, context);
  return serving(url, () => stream(client));
}

/** More than one answer holds, which only --raw sends. */
function isTooMany(input: Input, count: number): boolean {
  if (count <= ANSWER_VALUES_MAX) return false;
  if (input.has('raw') && !input.has('dry-run')) return true;
  throw tooMany(input, '10,000 values');
}

function tooMany(input: Input, most: string): UsageError {
  return new UsageError(
    input.has('dry-run')
      ? `--dry-run asks for the price of one answer, which holds at most ${most}`
      : `more than ${most} are sent with --raw alone`,
  );
}

export function countOf(input: Input, name = 'COUNT', fallback = '1'): number {
  const [text = fallback] = input.operands;
  const count = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw new UsageError(`${name} is a whole number from 1 on, not ${JSON.stringify(text)}`);
  return count;
}

export function numberOption(input: Input, name: string): number | undefined {
  const text = input.option(name);
  if (text === undefined) return undefined;
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) {
    throw new UsageError(`--${name} is a whole number, not ${JSON.stringify(text)}`);
  }
  return value;
}

/** What every command that draws values is told of them. */
export function commonOf(input: Input): DrawParameters {
  return {
    entropyMode: modeOf(input),
    purpose: input.option('purpose'),
    userData: input.option('user-data'),
    userDataSha256: input.option('user-data-sha256'),
    public: input.has('public') ? true : undefined,
  };
}

function modeOf(input: Input): EntropyMode | undefined {
  const text = input.option('mode');
  if (text === 'hybrid') return 'quantum-seeded'; // its alias, also at the service
  return text === undefined ? undefined : oneOf('mode', text, ENTROPY_MODES);
}
