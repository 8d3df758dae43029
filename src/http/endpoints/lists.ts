import type { EchoedMembers } from '../../answer/request.ts';
import { utf8Bytes } from '../../core/bytes.ts';
import { ApiError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import { jsonBytesMax, type ListRequest } from '../../values/value-request.ts';
import { ENVELOPE_BYTES_MAX } from '../endpoint.ts';
import { grouped, type ParameterDefinition, type ValuesOf } from '../params.ts';
import { countUpTo, ITEMS, requirePossible, requireRange, SORT, UNIQUE, valuesEndpoint } from './values.ts';

/** Endpoints whose answer is a list of items, strings, sequences or normally distributed numbers. POST /v1/batch takes the same parameters in `params`. */

type RequestOf<K extends ListRequest['kind']> = Extract<ListRequest, { kind: K }>;

export const SAMPLE_PARAMS = [ITEMS] as const satisfies readonly ParameterDefinition[];

/** Throws `unique_impossible` when there are fewer items than are to be drawn. */
export function sampleRequest({ items }: ValuesOf<typeof SAMPLE_PARAMS>, count: number): RequestOf<'sample'> {
  if (count > items.length) {
    throw new ApiError('unique_impossible', {
      message: `The list holds ${grouped(items.length)} items, fewer than the ${grouped(count)} asked for without repeats.`,
      details: { available: items.length, count },
    });
  }
  return { kind: 'sample', count, items };
}

/**
 * Names the list that items were drawn from, so that the certificate is bound to it: SHA-256 of its canonical JSON, as items
 * may hold line breaks.
 */
function sourceHash(items: readonly string[]): string {
  return `sha256:${sha256Hex(utf8Bytes(JSON.stringify(items)))}`;
}

/** What an answer says of the list: how many items it was drawn from, and its hash. */
export function sampleEcho({ items }: ValuesOf<typeof SAMPLE_PARAMS>): EchoedMembers {
  return { list_sha256: sourceHash(items), of: items.length };
}

export const SAMPLE = valuesEndpoint({
  name: 'sample',
  takesBody: true,
  summary: 'Some of the items in the order drawn, each sequence equally likely; no item twice.',
  parameters: [
    countUpTo(LIMITS.integersCountMax, 'How many of the items; at most all of them.'),
    ...SAMPLE_PARAMS,
  ],
  errors: ['unique_impossible'],
  ask: ({ count, ...own }) => ({
    values: sampleRequest(own, count),
    valueKey: 'items',
    members: { count, ...sampleEcho(own) },
  }),
});

export const WEIGHTED_PARAMS = [
  ITEMS,
  {
    name: 'weights',
    kind: 'integer-list',
    lengthMin: LIMITS.shuffleItemsMin,
    lengthMax: LIMITS.shuffleItemsMax,
    min: 1,
    max: LIMITS.integerMagnitudeMax,
    required: true,
    error: 'invalid_weights',
    description:
      'A whole number from 1 on for each item, in their order. Item i is drawn with probability weights[i] / sum, exactly; the sum is at most 2^53.',
  },
] as const satisfies readonly ParameterDefinition[];

/** Items that are picked again and again make a long answer of a short request: a worker writes this much in half a second. */
const WEIGHTED_BYTES_MAX = 16 * 1024 * 1024;

export function weightedRequest(
  { items, weights }: ValuesOf<typeof WEIGHTED_PARAMS>,
  count: number,
): RequestOf<'weighted'> {
  const details = { items: items.length, weights: weights.length };
  if (weights.length !== items.length) {
    throw new ApiError('invalid_weights', {
      message: `Give one weight for each item: there are ${grouped(items.length)} items and ${grouped(weights.length)} weights.`,
      details,
    });
  }
  // compared before it is added: a sum beyond 2^53 would be rounded
  let sum = 0;
  for (const weight of weights) {
    if (weight > LIMITS.integerSpanMax - sum) {
      throw new ApiError('invalid_weights', {
        message: 'Give weights whose sum is at most 9,007,199,254,740,992 (2^53).',
        details,
      });
    }
    sum += weight;
  }
  const request = { kind: 'weighted', count, items, weights } as const;
  const bytes = jsonBytesMax(request) + ENVELOPE_BYTES_MAX;
  if (bytes <= WEIGHTED_BYTES_MAX) return request;
  throw new ApiError('invalid_count', {
    message: `The answer could take ${grouped(bytes)} bytes; at most ${grouped(WEIGHTED_BYTES_MAX)} are sent. Lower count or shorten the items.`,
    details: { parameter: 'count', bytes, limit: WEIGHTED_BYTES_MAX },
  });
}

export function weightedEcho({ items, weights }: ValuesOf<typeof WEIGHTED_PARAMS>): EchoedMembers {
  return { list_sha256: sourceHash(items), weights };
}

export const WEIGHTED = valuesEndpoint({
  name: 'weighted',
  takesBody: true,
  summary: 'Independent picks from weighted items; an item may be picked more than once.',
  parameters: [countUpTo(LIMITS.integersCountMax, 'How many picks.'), ...WEIGHTED_PARAMS],
  errors: [],
  ask: ({ count, ...own }) => ({
    values: weightedRequest(own, count),
    valueKey: 'items',
    members: { count, ...weightedEcho(own) },
  }),
});

export const STRINGS_PARAMS = [
  {
    name: 'length',
    kind: 'integer',
    min: 1,
    max: LIMITS.stringLengthMax,
    default: 16,
    error: 'invalid_length',
    description: 'Characters of each string.',
  },
  {
    name: 'alphabet',
    kind: 'text',
    pattern: /^.{2,1000}$/su,
    default: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
    error: 'invalid_alphabet',
    description: 'The characters to choose from: 2 to 1,000 Unicode code points, none twice.',
  },
] as const satisfies readonly ParameterDefinition[];

export function stringsRequest(
  { length, alphabet }: ValuesOf<typeof STRINGS_PARAMS>,
  count: number,
): RequestOf<'strings'> {
  const characters = [...alphabet];
  if (!alphabet.isWellFormed() || new Set(characters).size < characters.length) {
    throw new ApiError('invalid_alphabet', { details: { parameter: 'alphabet' } });
  }
  return { kind: 'strings', count, length, alphabet: characters };
}

export const STRINGS = valuesEndpoint({
  name: 'strings',
  summary: 'Random strings over an alphabet, each character equally likely.',
  parameters: [countUpTo(LIMITS.integersCountMax, 'How many strings.'), ...STRINGS_PARAMS],
  errors: [],
  ask: ({ count, ...own }) => ({
    values: stringsRequest(own, count),
    valueKey: 'values',
    members: { alphabet: own.alphabet, count, length: own.length },
  }),
});

const PER_SEQUENCE = {
  kind: 'integer-list',
  lengthMin: 1,
  lengthMax: LIMITS.sequencesMax,
  required: true,
} as const;

export const SEQUENCES_PARAMS = [
  {
    ...PER_SEQUENCE,
    name: 'length',
    min: 1,
    max: LIMITS.integersCountMax,
    error: 'invalid_length',
    description: 'How many numbers each sequence has.',
  },
  {
    ...PER_SEQUENCE,
    name: 'min',
    min: -LIMITS.integerMagnitudeMax,
    max: LIMITS.integerMagnitudeMax,
    error: 'invalid_range',
    description: 'Lower bound of each sequence, inclusive.',
  },
  {
    ...PER_SEQUENCE,
    name: 'max',
    min: -LIMITS.integerMagnitudeMax,
    max: LIMITS.integerMagnitudeMax,
    error: 'invalid_range',
    description: 'Upper bound of each sequence, inclusive; more than its min, and at most 2^53 - 1 above it.',
  },
  { ...UNIQUE, description: 'No number twice in a sequence; each range must hold its length of values.' },
  { ...SORT, description: 'Order of the numbers in each sequence.' },
] as const satisfies readonly ParameterDefinition[];

/** Throws the ApiError of the first sequence that is impossible, or when there are more than `valuesMax` numbers. */
export function sequencesRequest(
  own: ValuesOf<typeof SEQUENCES_PARAMS>,
  count: number,
  valuesMax: number,
): RequestOf<'sequences'> {
  const { length: lengths, min: mins, max: maxs, unique, sort } = own;
  if (mins.length !== lengths.length || maxs.length !== lengths.length) {
    throw new ApiError('invalid_sequences', {
      details: { length: lengths.length, min: mins.length, max: maxs.length },
    });
  }
  const ranges = lengths.map((length, i) => {
    const range = { length, min: mins[i], max: maxs[i], unique };
    requireRange(range);
    requirePossible(range, length);
    return range;
  });
  requireNumbers(count * lengths.reduce((sum, length) => sum + length, 0), valuesMax);
  return { kind: 'sequences', count, ranges, sort };
}

function requireNumbers(numbers: number, valuesMax: number): void {
  if (numbers <= valuesMax) return;
  throw new ApiError('invalid_count', {
    message: `The answer would hold ${grouped(numbers)} numbers; at most ${grouped(valuesMax)} are drawn in one request. Lower count or length.`,
    details: { parameter: 'count', numbers, limit: valuesMax },
  });
}

export const SEQUENCES = valuesEndpoint({
  name: 'sequences',
  summary: 'Sequences of integers, each with a length and a range of its own, drawn together.',
  parameters: [countUpTo(LIMITS.integersCountMax, 'How often all sequences are drawn.'), ...SEQUENCES_PARAMS],
  errors: ['invalid_sequences', 'unique_impossible'],
  ask: ({ count, ...own }) => {
    const { length, min, max, unique, sort } = own;
    return {
      values: sequencesRequest(own, count, LIMITS.integersCountMax),
      valueKey: 'values',
      members: { count, length, max, min, sort, unique },
    };
  },
});

export const PERMUTATIONS_PARAMS = [
  {
    name: 'length',
    kind: 'integer',
    min: 2,
    max: LIMITS.shuffleItemsMax,
    required: true,
    error: 'invalid_length',
    description: 'Each permutation is of the numbers from 0 to length - 1.',
  },
] as const satisfies readonly ParameterDefinition[];

export function permutationsRequest(
  { length }: ValuesOf<typeof PERMUTATIONS_PARAMS>,
  count: number,
  valuesMax: number,
): RequestOf<'permutations'> {
  requireNumbers(count * length, valuesMax);
  return { kind: 'permutations', count, length };
}

export const PERMUTATIONS = valuesEndpoint({
  name: 'permutations',
  summary: 'The numbers from 0 to length - 1 in a random order, each order equally likely.',
  parameters: [countUpTo(LIMITS.integersCountMax, 'How many permutations.'), ...PERMUTATIONS_PARAMS],
  errors: [],
  ask: ({ count, ...own }) => ({
    values: permutationsRequest(own, count, LIMITS.integersCountMax),
    valueKey: 'values',
    members: { count, length: own.length },
  }),
});

export const GAUSSIANS_PARAMS = [
  {
    name: 'mean',
    kind: 'number',
    min: -LIMITS.gaussianMagnitudeMax,
    max: LIMITS.gaussianMagnitudeMax,
    default: 0,
    error: 'invalid_mean',
    description: 'Mean of the normal distribution: exactly the decimal that the answer echoes.',
  },
  {
    name: 'stddev',
    kind: 'number',
    min: LIMITS.gaussianStddevMin,
    max: LIMITS.gaussianMagnitudeMax,
    default: 1,
    error: 'invalid_stddev',
    description: 'Standard deviation, likewise.',
  },
  {
    name: 'digits',
    kind: 'integer',
    min: LIMITS.gaussianDigitsMin,
    max: LIMITS.gaussianDigitsMax,
    default: LIMITS.gaussianDigitsMax,
    error: 'invalid_digits',
    description: 'Significant decimal digits that each value is rounded to, exactly.',
  },
] as const satisfies readonly ParameterDefinition[];

export const GAUSSIANS = valuesEndpoint({
  name: 'gaussians',
  summary: 'Normally distributed numbers, exactly sampled and exactly rounded.',
  parameters: [countUpTo(LIMITS.integersCountMax, 'How many numbers.'), ...GAUSSIANS_PARAMS],
  errors: [],
  ask: ({ count, mean, stddev, digits }) => ({
    values: { kind: 'gaussians', count, mean, stddev, digits },
    valueKey: 'values',
    members: { count, digits, mean, stddev },
  }),
});
