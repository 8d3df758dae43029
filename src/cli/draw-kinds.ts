import type { QrnClient } from '../../clients/typescript/src/client.ts';
import { action, type Command, type Input, oneOf, UsageError } from './command.ts';
import { COUNT, commonOf, countOf, DRAW_OPTIONS, drawn, numberOption, numbersOf } from './draw.ts';
import { ITEMS, itemsOf } from './draw-items.ts';

/** The kinds of value that the service bounds alone: what it refuses is printed as it says it. */

const LENGTH = 'LENGTH';

export const bitstring: Command = action({
  path: 'bitstring',
  summary: 'Random bits, as a text of 0 and 1.',
  operands: [{ name: LENGTH, meaning: 'how many, up to 100,000; 128 when not given', optional: true }],
  options: DRAW_OPTIONS,
  run: (input, context) => {
    const parameters = { length: countOf(input, LENGTH, '128'), ...commonOf(input) };
    const call = (client: QrnClient) => client.bitstring(parameters);
    return drawn(input, context, 'bitstring', parameters, call, (data) => ({ lines: [data.bitstring] }));
  },
});

export const sample: Command = action({
  path: 'sample',
  summary:
    'Some of the items, none twice, in random order. The items are sent to the service, and its certificate covers them; ' +
    'qrn pick sends none of them.',
  operands: [ITEMS],
  options: { count: { value: 'N', meaning: 'how many; 1 when not given' }, ...DRAW_OPTIONS },
  run: async (input, context) => {
    const items = await itemsOf(input, context);
    const parameters = { items, count: numberOption(input, 'count'), ...commonOf(input) };
    const call = (client: QrnClient) => client.sample(parameters);
    return drawn(input, context, 'sample', parameters, call, (data) => ({ lines: data.items }));
  },
});

export const weighted: Command = action({
  path: 'weighted',
  summary: 'Items picked by weight, each pick independent of the others.',
  operands: [ITEMS],
  options: {
    weights: { value: 'N,…', required: true, meaning: 'a whole number from 1 on for each item, with commas' },
    count: { value: 'N', meaning: 'how many picks; 1 when not given' },
    ...DRAW_OPTIONS,
  },
  run: async (input, context) => {
    const items = await itemsOf(input, context);
    const weights = numbersIn(input, 'weights');
    if (weights.length !== items.length)
      throw new UsageError(`--weights has ${weights.length} numbers for ${items.length} items`);
    const parameters = { items, weights, count: numberOption(input, 'count'), ...commonOf(input) };
    const call = (client: QrnClient) => client.weighted(parameters);
    return drawn(input, context, 'weighted', parameters, call, (data) => ({ lines: data.items }));
  },
});

export const strings: Command = action({
  path: 'strings',
  summary: 'Random strings over an alphabet, each character equally likely.',
  operands: [COUNT],
  options: {
    length: { value: 'N', meaning: 'characters of each, up to 128; 16 when not given' },
    alphabet: { value: 'TEXT', meaning: 'its characters, none twice; A-Z, a-z and 0-9 when not given' },
    ...DRAW_OPTIONS,
  },
  run: (input, context) => {
    const length = numberOption(input, 'length');
    const parameters = {
      count: countOf(input),
      length,
      alphabet: input.option('alphabet'),
      ...commonOf(input),
    };
    const call = (client: QrnClient) => client.strings(parameters);
    return drawn(input, context, 'strings', parameters, call, (data) => ({ lines: data.values }));
  },
});

export const sequences: Command = action({
  path: 'sequences',
  summary:
    'Several sequences of integers in one answer, such as lottery tickets: each option has a number for each sequence.',
  operands: [COUNT],
  options: {
    length: { value: 'N,…', required: true, meaning: 'how many numbers each sequence has' },
    min: { value: 'N,…', required: true, meaning: 'their lower bounds, inclusive' },
    max: { value: 'N,…', required: true, meaning: 'their upper bounds, inclusive' },
    unique: { meaning: 'no number twice in a sequence' },
    sort: { value: 'ORDER', meaning: 'none, ascending or descending' },
    ...DRAW_OPTIONS,
  },
  run: (input, context) => {
    const [length, min, max] = (['length', 'min', 'max'] as const).map((name) => numbersIn(input, name));
    const order = input.option('sort');
    const parameters = {
      count: countOf(input),
      length,
      min,
      max,
      unique: input.has('unique') ? true : undefined,
      sort: order === undefined ? undefined : oneOf('sort', order, ['none', 'ascending', 'descending']),
      ...commonOf(input),
    };
    const call = (client: QrnClient) => client.sequences(parameters);
    const lineOf = (entry: readonly (readonly number[])[]) => entry.map((each) => each.join(' ')).join('  ');
    return drawn(input, context, 'sequences', parameters, call, ({ values }) => ({
      lines: values.map(lineOf),
    }));
  },
});

export const permutations: Command = action({
  path: 'permutations',
  summary: 'The numbers from 0 to LENGTH - 1 in a random order, each order equally likely.',
  operands: [{ name: LENGTH, meaning: '2 to 10,000' }],
  options: { count: { value: 'N', meaning: 'how many orders; 1 when not given' }, ...DRAW_OPTIONS },
  run: (input, context) => {
    const length = countOf(input, LENGTH, '');
    const parameters = { length, count: numberOption(input, 'count'), ...commonOf(input) };
    const call = (client: QrnClient) => client.permutations(parameters);
    const linesOf = (values: readonly (readonly number[])[]) => values.map((each) => each.join(' '));
    return drawn(input, context, 'permutations', parameters, call, ({ values }) => ({
      lines: linesOf(values),
    }));
  },
});

export const gaussians: Command = action({
  path: 'gaussians',
  summary: 'Normally distributed numbers, rounded exactly.',
  operands: [COUNT],
  options: {
    mean: { value: 'X', meaning: '0 when not given' },
    stddev: { value: 'X', meaning: '1 when not given' },
    digits: { value: 'N', meaning: 'significant digits of each, 2 to 14; 14 when not given' },
    ...DRAW_OPTIONS,
  },
  run: (input, context) => {
    const [mean, stddev] = [decimalOption(input, 'mean'), decimalOption(input, 'stddev')];
    const parameters = {
      count: countOf(input),
      mean,
      stddev,
      digits: numberOption(input, 'digits'),
      ...commonOf(input),
    };
    const call = (client: QrnClient) => client.gaussians(parameters);
    return drawn(input, context, 'gaussians', parameters, call, numbersOf);
  },
});

function numbersIn(input: Input, name: string): number[] {
  const text = input.option(name)!;
  const numbers = text.split(',').map((each) => (/^-?\d{1,16}$/.test(each) ? Number(each) : Number.NaN));
  if (!numbers.every(Number.isSafeInteger))
    throw new UsageError(`--${name} is whole numbers with commas between them, not ${JSON.stringify(text)}`);
  return numbers;
}

function decimalOption(input: Input, name: string): number | undefined {
  const text = input.option(name);
  if (text === undefined || /^-?\d{1,7}(\.\d{1,17})?$/.test(text))
    return text === undefined ? undefined : Number(text);
  throw new UsageError(`--${name} is a decimal number such as -0.5, not ${JSON.stringify(text)}`);
}
