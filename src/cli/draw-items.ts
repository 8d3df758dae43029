import type { QrnClient } from '../../clients/typescript/src/client.ts';
import {
  action,
  type Command,
  type CommandContext,
  CommandError,
  type Input,
  UsageError,
  wholeNumber,
} from './command.ts';
import { commonOf, DRAW_OPTIONS, drawn } from './draw.ts';

export const ITEMS = {
  name: 'ITEM',
  meaning: 'the items; without any they are the lines of stdin',
  optional: true,
  repeated: true,
} as const;

const SHUFFLED_MAX = 10_000;

export const shuffle: Command = action({
  path: 'shuffle',
  summary:
    'The items in a random order, each order equally likely. They are sent to the service in one request of at most 64 KiB;\n' +
    'qrn pick with the --count of all items orders longer ones, and sends none of them.',
  operands: [ITEMS],
  options: DRAW_OPTIONS,
  run: async (input, context) => {
    const items = await itemsOf(input, context);
    if (items.length > SHUFFLED_MAX) throw new CommandError('the service shuffles at most 10,000 items');
    const parameters = { items, ...commonOf(input) };
    const call = (client: QrnClient) => client.shuffle(parameters);
    return drawn(input, context, 'shuffle', parameters, call, (data) => ({ lines: data.items }));
  },
});

export const pick: Command = action({
  path: 'pick',
  summary:
    'Items picked at random, none twice. The service draws their numbers, counted from 0 in the order they are given, and\n' +
    'never sees the items; its certificate is of the numbers.',
  operands: [ITEMS],
  options: {
    count: { value: 'N', meaning: 'how many; 1 when not given' },
    ...DRAW_OPTIONS,
  },
  run: async (input, context) => {
    const items = await itemsOf(input, context);
    const count = wholeNumber('count', input.option('count') ?? '1');
    if (count < 1 || count > items.length)
      throw new UsageError(`--count is 1 to ${items.length}, the number of items`);
    const parameters = { count, min: 0, max: items.length - 1, unique: true, ...commonOf(input) };
    const call = (client: QrnClient) => client.integers(parameters);
    const picked = (values: readonly number[]) => ({ lines: values.map((index) => items[index]) });
    return drawn(input, context, 'integers', parameters, call, ({ values }) => picked(values));
  },
});

export async function itemsOf(input: Input, context: CommandContext): Promise<readonly string[]> {
  const items = input.operands.length > 0 ? input.operands : linesOf(await context.stdin());
  if (items.length < 2) throw new UsageError('give at least two items, as words or as lines of stdin');
  return items;
}

function linesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder('utf-8', { fatal: true }).decode(bytes).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
