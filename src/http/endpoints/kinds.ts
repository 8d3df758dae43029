import type { EchoedMembers } from '../../answer/request.ts';
import { utf8Bytes } from '../../core/bytes.ts';
import { ApiError, type ErrorCode } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import {
  boolean,
  constant,
  count,
  described,
  integer,
  listFrom,
  listOf,
  numberFrom,
  oneOfWords,
  type Schema,
  sha256,
  text,
  textLike,
  wholeFrom,
} from '../../core/schema.ts';
import type { DataEndpoint } from '../../core/vocabulary.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import type { ValueRequest } from '../../values/value-request.ts';
import { type ParameterDefinition, parameter, type ReadValues, type ValuesOf } from '../params.ts';
import {
  requireNumbers,
  requirePossible,
  requireRange,
  sampleRequest,
  weightedRequest,
} from './relations.ts';

/**
 * One kind of values. Its own endpoint, POST /v1/batch, GET /v1/stream, GET /v1/tiers and the OpenAPI document are all made
 * from its row in the table below.
 */
export interface Kind<Own = readonly ParameterDefinition[], Read = ReadValues> {
  readonly summary: string;
  /** The parameter for the number of values; undefined where its own parameters determine it. */
  readonly count?: ParameterDefinition;
  /** Its own parameters in the order in which they are checked, after `count`. A batch takes them in `params`. */
  readonly own: Own;
  /** Error codes, in addition to those of its parameters. */
  readonly errors: readonly ErrorCode[];
  /** Name of the member of `data` with the values. */
  readonly valueKey: 'values' | 'bytes' | 'uuids' | 'bitstring' | 'items';
  /** Schema of that member. */
  readonly value: Schema;
  /** The other members of `data`, except `count`: names of its parameters, and members that follow from them. */
  readonly echoed: readonly (string | EchoedMember<Read>)[];
  /** The parameters that a stream of the kind takes; undefined if it cannot be streamed. */
  readonly streamed?: readonly string[];
  /** The prices in pure mode: what is priced, the formula for its bits, and an example query of the endpoint. */
  readonly prices: readonly (readonly [of: string, bits: string, query: string])[];
  /**
   * Returns the request for the values from valid parameters. Throws an ApiError when they do not fit each other, or ask for
   * more than `numbersMax` numbers.
   */
  readonly ask: (read: Read, count: number, numbersMax: number) => ValueRequest;
}

type EchoedMember<Read> = readonly [
  name: string,
  schema: Schema,
  of: (read: Read, count: number) => EchoedMembers[string],
];

/** The properties of a row that have defaults. */
type LeftOut = 'errors' | 'valueKey' | 'echoed';

/** Makes a row. By default a kind echoes its own parameters. */
function kind<const Own extends readonly ParameterDefinition[]>(
  row: Omit<Kind<Own, ValuesOf<Own>>, LeftOut> & Partial<Pick<Kind<Own, ValuesOf<Own>>, LeftOut>>,
): Kind {
  return {
    errors: [],
    valueKey: 'values',
    echoed: row.own.map(({ name }) => name),
    ...row,
  } as unknown as Kind;
}

/** Returns the other members of `data`: first those that are no parameters, which is their order in MessagePack. */
export function echoOf({ echoed }: Kind, read: ReadValues, count: number): EchoedMembers {
  const members: Record<string, EchoedMembers[string]> = {};
  for (const each of echoed) if (typeof each !== 'string') members[each[0]] = each[2](read, count);
  for (const each of echoed)
    if (typeof each === 'string') members[each] = read[each] as EchoedMembers[string];
  return members;
}

/** Returns the parameter for the number of values, which is 1 by default. */
function countUpTo(max: number, description: string): ParameterDefinition {
  return parameter('count', wholeFrom(1, max), description, { default: 1 });
}

const BOUND = {
  schema: wholeFrom(-LIMITS.integerMagnitudeMax, LIMITS.integerMagnitudeMax),
  error: 'invalid_range',
} as const;

const UNIQUE = parameter(
  'unique',
  boolean,
  'If true, no value occurs twice. The range must then contain at least `count` values.',
  {
    default: false,
  },
);

const SORT = parameter(
  'sort',
  oneOfWords(['none', 'ascending', 'descending']),
  'The order of the values. `none` keeps the order in which they were drawn.',
  {
    default: 'none',
  },
);

const ENCODING = parameter(
  'encoding',
  oneOfWords(['hex', 'base64']),
  'The encoding of the bytes: lower-case hex, or base64 with padding (RFC 4648 §4).',
  { default: 'hex' },
);

export const ITEMS = parameter(
  'items',
  listFrom(text, LIMITS.shuffleItemsMin, LIMITS.shuffleItemsMax),
  'The items. An item may be empty.',
  { required: true },
);

export const WEIGHTS = parameter(
  'weights',
  listFrom(wholeFrom(1, LIMITS.integerMagnitudeMax), LIMITS.shuffleItemsMin, LIMITS.shuffleItemsMax),
  'The weights of the items, in the same order: one integer of at least 1 per item. The probability of item i is exactly weights[i] / sum of the weights. The sum must be at most 2^53.',
  { required: true },
);

export const ALPHABET_FORM = '2 to 1,000 different Unicode characters';

/** Returns the characters of an alphabet. `name` is its parameter, for the message of `invalid_alphabet`. */
export function charactersOf(name: string, alphabet: string): readonly string[] {
  const characters = [...alphabet];
  if (!alphabet.isWellFormed() || new Set(characters).size < characters.length)
    throw new ApiError('invalid_alphabet', {
      message: `${name} must be ${ALPHABET_FORM}.`,
      details: { parameter: name },
    });
  return characters;
}

/**
 * The hash that binds the certificate to the list that items were drawn from. It is over canonical JSON, because items may contain
 * line breaks.
 */
const LIST_SHA256: EchoedMember<{ readonly items: readonly string[] }> = [
  'list_sha256',
  described(sha256, 'The SHA-256 hash of the list of items as JSON without spaces.'),
  ({ items }) => `sha256:${sha256Hex(utf8Bytes(JSON.stringify(items)))}`,
];

/** Returns the schema of a list of values in the order in which they were drawn. */
function inOrder(value: Schema): Schema {
  return described(listOf(value), 'The values.');
}

const ITEM_LIST = described(listOf(text), 'The items that were drawn, in order.');
const HOW_MANY = described(count, 'The number of items.');

/** Returns the schema of a list with a whole number for each sequence. */
function perSequence(number: Schema<number>) {
  return { schema: listFrom(number, 1, LIMITS.sequencesMax), required: true } as const;
}

const BOUNDS = { ...BOUND, ...perSequence(BOUND.schema) } as const;

export const KINDS: Readonly<Record<Exclude<DataEndpoint, 'batch'>, Kind>> = {
  integers: kind({
    summary: 'Random integers from a range. Each integer is equally likely.',
    count: countUpTo(LIMITS.integersCountMax, 'The number of integers.'),
    own: [
      { ...BOUND, name: 'min', default: 0, description: 'The lower bound, inclusive.' },
      {
        ...BOUND,
        name: 'max',
        default: 100,
        description: 'The upper bound, inclusive. It must be greater than `min`, by at most 2^53 - 1.',
        check: requireRange,
      },
      { ...UNIQUE, check: (values) => requirePossible(values, values['count'] as number) },
      SORT,
    ],
    errors: ['unique_impossible'],
    value: inOrder(integer),
    streamed: ['min', 'max'],
    prices: [
      ['integers', 'count × log2(max - min + 1)', 'count=100&min=1&max=6'],
      [
        'integers without repeats',
        'log2(n! / (n - count)!), n = max - min + 1',
        'count=6&min=1&max=49&unique=true',
      ],
    ],
    ask: ({ min, max, unique, sort }, count) => ({ kind: 'integers', count, min, max, unique, sort }),
  }),
  bytes: kind({
    summary:
      'Random bytes, in hex or base64. The endpoint also accepts `format=hex` and `format=base64` instead of `encoding`.',
    count: { ...countUpTo(LIMITS.bytesCountMax, 'The number of bytes.'), default: 16 },
    own: [ENCODING],
    valueKey: 'bytes',
    value: described(text, 'The bytes in the requested encoding.'),
    echoed: [
      'encoding',
      ['bits', described(count, 'The number of bits: eight times `count`.'), (_, length) => 8 * length],
    ],
    prices: [['bytes', '8 × count', 'count=32']],
    ask: ({ encoding }, length) => ({ kind: 'bytes', count: 1, length, encoding, single: true }),
  }),
  floats: kind({
    summary: 'Random floating-point numbers (IEEE 754 doubles) from 0 up to but not including 1.',
    count: countUpTo(LIMITS.floatsCountMax, 'The number of floats.'),
    own: [
      parameter(
        'precision',
        wholeFrom(1, LIMITS.floatPrecisionMax),
        'The number of decimal places p. The values are then uniformly distributed over k / 10^p, where 0 <= k < 10^p. Without `precision` they are uniformly distributed multiples of 2^-53.',
        { default: null },
      ),
    ],
    value: inOrder({ type: 'number', minimum: 0, exclusiveMaximum: 1 }),
    streamed: ['precision'],
    prices: [
      ['floats', '53 × count', 'count=10'],
      ['floats with a precision', 'count × precision × log2(10)', 'count=10&precision=3'],
    ],
    ask: ({ precision }, count) => ({ kind: 'floats', count, precision }),
  }),
  uuid: kind({
    summary: 'Random UUIDs, version 4 (RFC 9562 §5.4).',
    count: countUpTo(LIMITS.uuidCountMax, 'The number of UUIDs.'),
    own: [],
    valueKey: 'uuids',
    value: described(
      listOf(textLike(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)),
      'The UUIDs.',
    ),
    echoed: [['version', described(constant(4), 'The version of the UUIDs.'), () => 4]],
    streamed: [],
    prices: [['uuid', '122 × count', 'count=1']],
    ask: (_, count) => ({ kind: 'uuid', count }),
  }),
  bitstring: kind({
    summary: 'A random string of the digits 0 and 1.',
    own: [
      parameter('length', wholeFrom(1, LIMITS.bitstringLengthMax), 'The number of bits.', { default: 128 }),
    ],
    valueKey: 'bitstring',
    value: {
      type: 'string',
      pattern: '^[01]+$',
      description: 'The bits, as a string of the digits 0 and 1.',
    },
    prices: [['bitstring', 'length', 'length=128']],
    ask: ({ length }) => ({ kind: 'bitstring', length }),
  }),
  shuffle: kind({
    summary: 'The given items in random order. Each order is equally likely.',
    own: [ITEMS],
    valueKey: 'items',
    value: ITEM_LIST,
    echoed: [['count', HOW_MANY, ({ items }) => items.length]],
    prices: [['shuffle', 'log2(n!), n items', 'items=ada,grace,barbara,shafi']],
    ask: ({ items }) => ({ kind: 'shuffle', items }),
  }),
  sample: kind({
    summary:
      'A random sample of the given items without repetition, in the order of drawing. Each sequence is equally likely.',
    count: countUpTo(
      LIMITS.integersCountMax,
      'The number of items to draw. It must not exceed the number of given items.',
    ),
    own: [ITEMS],
    errors: ['unique_impossible'],
    valueKey: 'items',
    value: ITEM_LIST,
    echoed: [
      LIST_SHA256,
      ['of', described(count, 'The number of given items.'), ({ items }) => items.length],
    ],
    prices: [['sample', 'log2(n! / (n - count)!), n items', 'count=2&items=ada,grace,barbara,shafi']],
    ask: ({ items }, count) => sampleRequest(items, count),
  }),
  weighted: kind({
    summary: 'Independent random picks from weighted items. An item may be picked more than once.',
    count: countUpTo(LIMITS.integersCountMax, 'The number of picks.'),
    own: [ITEMS, WEIGHTS],
    valueKey: 'items',
    value: ITEM_LIST,
    echoed: [LIST_SHA256, 'weights'],
    prices: [
      [
        'weighted',
        'count × log2(sum of the weights / their greatest common divisor)',
        'count=10&items=gold,silver,bronze&weights=1,10,100',
      ],
    ],
    ask: ({ items, weights }, count) => weightedRequest(items, weights, count),
  }),
  strings: kind({
    summary: 'Random strings over an alphabet. Each character of the alphabet is equally likely.',
    count: countUpTo(LIMITS.integersCountMax, 'The number of strings.'),
    own: [
      parameter('length', wholeFrom(1, LIMITS.stringLengthMax), 'The number of characters in each string.', {
        default: 16,
      }),
      parameter(
        'alphabet',
        textLike(/^[\s\S]{2,1000}$/u),
        'The characters to choose from: 2 to 1,000 different Unicode characters.',
        { form: ALPHABET_FORM, default: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789' },
      ),
    ],
    value: inOrder(text),
    prices: [['strings', 'count × length × log2(characters of the alphabet)', 'count=1&length=16']],
    ask: ({ length, alphabet }, count) => {
      return { kind: 'strings', count, length, alphabet: charactersOf('alphabet', alphabet) };
    },
  }),
  sequences: kind({
    summary:
      'Several sequences of random integers in one answer. Each sequence has its own length and range.',
    count: countUpTo(LIMITS.integersCountMax, 'The number of times that all sequences are drawn.'),
    own: [
      {
        ...perSequence(wholeFrom(1, LIMITS.integersCountMax)),
        name: 'length',
        error: 'invalid_length',
        description: 'The length of each sequence.',
      },
      { ...BOUNDS, name: 'min', description: 'The lower bound of each sequence, inclusive.' },
      {
        ...BOUNDS,
        name: 'max',
        description:
          'The upper bound of each sequence, inclusive. It must be greater than the lower bound of the same sequence, by at most 2^53 - 1.',
      },
      {
        ...UNIQUE,
        description:
          'If true, no number occurs twice in a sequence. Each range must then contain at least as many values as the sequence is long.',
      },
      {
        ...SORT,
        description:
          'The order of the numbers in each sequence. `none` keeps the order in which they were drawn.',
      },
    ],
    errors: ['invalid_sequences', 'unique_impossible'],
    value: described(
      listOf(listOf(listOf(integer))),
      'One entry per draw. Each entry contains one list of integers per sequence.',
    ),
    prices: [
      [
        'sequences',
        'count × the sum over the sequences, each priced as integers',
        'length=5,1&min=1,1&max=69,26&unique=true',
      ],
    ],
    ask: ({ length: lengths, min: mins, max: maxs, unique, sort }, count, numbersMax) => {
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
      requireNumbers(count * lengths.reduce((sum, length) => sum + length, 0), numbersMax);
      return { kind: 'sequences', count, ranges, sort };
    },
  }),
  permutations: kind({
    summary: 'Random permutations of the numbers from 0 to length - 1. Each permutation is equally likely.',
    count: countUpTo(LIMITS.integersCountMax, 'The number of permutations.'),
    own: [
      parameter(
        'length',
        wholeFrom(2, LIMITS.shuffleItemsMax),
        'The length of each permutation, which contains the numbers from 0 to length - 1.',
        { required: true },
      ),
    ],
    value: inOrder(listOf(count)),
    prices: [['permutations', 'count × log2(length!)', 'length=52']],
    ask: ({ length }, count, numbersMax) => {
      requireNumbers(count * length, numbersMax);
      return { kind: 'permutations', count, length };
    },
  }),
  gaussians: kind({
    summary: 'Random numbers from a normal distribution, sampled exactly and rounded exactly.',
    count: countUpTo(LIMITS.integersCountMax, 'The number of values.'),
    own: [
      parameter(
        'mean',
        numberFrom(-LIMITS.gaussianMagnitudeMax, LIMITS.gaussianMagnitudeMax),
        'The mean of the normal distribution. The service uses exactly the decimal number that the answer repeats.',
        { default: 0 },
      ),
      parameter(
        'stddev',
        numberFrom(LIMITS.gaussianStddevMin, LIMITS.gaussianMagnitudeMax),
        'The standard deviation of the normal distribution. The service uses exactly the decimal number that the answer repeats.',
        { default: 1 },
      ),
      parameter(
        'digits',
        wholeFrom(LIMITS.gaussianDigitsMin, LIMITS.gaussianDigitsMax),
        'The number of significant decimal digits to which each value is rounded.',
        { default: LIMITS.gaussianDigitsMax },
      ),
    ],
    value: inOrder({ type: 'number' }),
    prices: [
      [
        'gaussians',
        'count × log2(√(2πe) × stddev / spacing), spacing of decimals of so many digits at |mean| + stddev',
        'count=10&mean=100&stddev=15&digits=5',
      ],
    ],
    ask: ({ mean, stddev, digits }, count) => ({ kind: 'gaussians', count, mean, stddev, digits }),
  }),
};

/** The kinds that a batch can draw, by their `type`: those with a `count`. In a batch each value of bytes has a length. */
export const BATCH_KINDS = {
  integers: KINDS.integers,
  floats: KINDS.floats,
  bytes: kind({
    ...KINDS.bytes,
    own: [
      ENCODING,
      parameter('length', wholeFrom(1, LIMITS.batchBytesLengthMax), 'The number of bytes in each value.', {
        default: 16,
      }),
    ],
    echoed: ['encoding', 'length'],
    streamed: ['encoding', 'length'],
    ask: ({ encoding, length }, count) => ({ kind: 'bytes', count, length, encoding, single: false }),
  }),
  uuid: { ...KINDS.uuid, echoed: [] },
  sample: KINDS.sample,
  weighted: KINDS.weighted,
  strings: KINDS.strings,
  sequences: KINDS.sequences,
  permutations: KINDS.permutations,
  gaussians: KINDS.gaussians,
} satisfies Readonly<Record<string, Kind>>;
export type BatchType = keyof typeof BATCH_KINDS;
