import type { DataRequest, EchoedMembers } from '../../answer/request.ts';
import type { JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { boolean, numberFrom, oneOfWords, type Schema, textLike, wholeFrom } from '../../core/schema.ts';
import type { ListRequest } from '../../values/value-request.ts';
import { batchRequest } from '../endpoints/batch.ts';
import { ALPHABET_FORM, charactersOf } from '../endpoints/kinds.ts';
import { requirePossible, requireRange, requireReplyFits } from '../endpoints/relations.ts';
import { valuesRequest } from '../endpoints/values.ts';
import {
  type ParameterDefinition,
  type ParameterValue,
  type ReadValues,
  readParameters,
  type ValuesOf,
} from '../params.ts';
import { RpcError } from './errors.ts';

/**
 * The methods of random.org that draw values: each asks an endpoint of the service, whose bounds hold for its parameters, and
 * costs, counts and is certified as that.
 */

type Asked = Pick<DataRequest, 'endpoint' | 'values' | 'valueKey' | 'members'>;

/** A call that draws. */
export interface Draw {
  /** The parameters as a signed answer repeats them, defaults filled in. */
  readonly echo: JsonObject;
  readonly asked: Asked;
  /** Makes `data` as random.org gives it of the values of the service's answer, where they are not the same. */
  readonly dataOf?: (values: never) => unknown;
}

type Method = (params: JsonObject) => Draw;

/** A method whose parameters are read as those of an endpoint are. */
function method<const D extends readonly ParameterDefinition[]>(
  definitions: D,
  plan: (given: ValuesOf<D>) => Omit<Draw, 'echo'>,
): Method {
  return (params) => {
    const echo = readParameters(definitions, givenIn(params));
    return { echo, ...plan(echo) };
  };
}

/** A member that is null counts as left out. */
function givenIn(params: JsonObject): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(params).filter(([, value]) => value !== null));
}

/** A parameter that must be given. */
export function parameter<const Name extends string, T extends ParameterValue>(
  name: Name,
  schema: Schema<T>,
) {
  return { name, schema, required: true, error: 'invalid_params', description: '' } as const;
}

const N = parameter('n', wholeFrom(1, LIMITS.integersCountMax));
const MIN = parameter('min', wholeFrom(-LIMITS.integerMagnitudeMax, LIMITS.integerMagnitudeMax));
const MAX = { ...MIN, name: 'max' } as const;
const REPLACEMENT = { ...parameter('replacement', boolean), required: false, default: true } as const;
const BASE = {
  ...parameter('base', wholeFrom(2, 16)),
  required: false,
  default: 10,
  check: ({ base }: ReadValues) => {
    if (![2, 8, 10, 16].includes(base as number)) throw refused('base', '2, 8, 10 or 16');
  },
} as const;
const MAGNITUDE = numberFrom(-LIMITS.gaussianMagnitudeMax, LIMITS.gaussianMagnitudeMax);

const METHODS: Readonly<Record<string, Method>> = {
  Integers: method(
    [N, MIN, { ...MAX, check: requireRange }, REPLACEMENT, BASE],
    ({ n, min, max, replacement, base }) => ({
      asked: integers(n, min, max, !replacement),
      dataOf: (values: number[]) => inBase(values, base),
    }),
  ),

  IntegerSequences: (params) => {
    const { n } = readParameters([parameter('n', wholeFrom(1, LIMITS.sequencesMax))], givenIn(params));
    const lists = {
      length: each(params, n, parameter('length', wholeFrom(1, LIMITS.integersCountMax))),
      min: each(params, n, MIN),
      max: each(params, n, MAX),
      replacement: each(params, n, REPLACEMENT),
      base: each(params, n, BASE),
    };
    const { replacement: replacements, base: bases, ...own } = lists;
    const isMixed = new Set(replacements).size > 1;
    const unique = !isMixed && !replacements[0];
    const { values, members, ...asked } = valuesRequest('sequences', { ...own, unique, sort: 'none' }, 1);
    const { unique: _, ...mixed } = members as EchoedMembers;
    const sequences = values as Extract<ListRequest, { kind: 'sequences' }>;
    const ranges = sequences.ranges.map((range, i) => ({ ...range, unique: !replacements[i] }));
    for (const range of ranges) requirePossible(range, range.length);
    // as the caller gave them: one value for all, or one for each
    const echo = Object.entries(lists).map(([name, list]) => [
      name,
      Array.isArray(params[name]) ? list : list[0],
    ]);
    return {
      echo: { n, ...Object.fromEntries(echo) },
      asked: { ...asked, values: { ...sequences, ranges }, members: isMixed ? mixed : members },
      dataOf: ([drawn]: number[][][]) => drawn.map((sequence, i) => inBase(sequence, bases[i])),
    };
  },

  DecimalFractions: method(
    [N, parameter('decimalPlaces', wholeFrom(1, LIMITS.floatPrecisionMax)), REPLACEMENT],
    ({ n, decimalPlaces: precision, replacement }) =>
      replacement
        ? { asked: valuesRequest('floats', { precision }, n) }
        : {
            asked: integers(n, 0, 10 ** precision - 1, true),
            dataOf: (values: number[]) => values.map((value) => Number(`${value}e-${precision}`)),
          },
  ),

  Gaussians: method(
    [
      N,
      parameter('mean', MAGNITUDE),
      {
        ...parameter('standardDeviation', MAGNITUDE),
        check: ({ standardDeviation }) => {
          if (Math.abs(standardDeviation as number) < LIMITS.gaussianStddevMin)
            throw refused('standardDeviation', `at least ${LIMITS.gaussianStddevMin} from 0`);
        },
      },
      parameter('significantDigits', wholeFrom(LIMITS.gaussianDigitsMin, LIMITS.gaussianDigitsMax)),
    ],
    // a negative deviation has the same distribution
    ({ n, mean, standardDeviation, significantDigits: digits }) => ({
      asked: valuesRequest('gaussians', { mean, stddev: Math.abs(standardDeviation), digits }, n),
    }),
  ),

  Strings: method(
    [
      N,
      parameter('length', wholeFrom(1, LIMITS.stringLengthMax)),
      { ...parameter('characters', textLike(/^[\s\S]{2,1000}$/u)), form: ALPHABET_FORM },
      REPLACEMENT,
    ],
    ({ n, length, characters, replacement }) => {
      const alphabet = charactersOf('characters', characters);
      const asked = valuesRequest('strings', { length, alphabet: characters }, n);
      if (replacement) return { asked };
      const domain = alphabet.length ** length;
      requirePossible({ min: 1, max: domain, unique: true }, n);
      if (domain > LIMITS.integerSpanMax) return { asked, dataOf: requireDistinct };
      return {
        asked: integers(n, 0, domain - 1, true),
        dataOf: (values: number[]) => values.map((value) => spelled(value, alphabet, length)),
      };
    },
  ),

  UUIDs: method([parameter('n', wholeFrom(1, LIMITS.uuidCountMax))], ({ n }) => ({
    asked: valuesRequest('uuid', {}, n),
  })),

  Blobs: method(
    [
      parameter('n', wholeFrom(1, LIMITS.batchCountMax)),
      {
        ...parameter('size', wholeFrom(8, 8 * LIMITS.batchBytesLengthMax)),
        check: ({ size }) => {
          if ((size as number) % 8 !== 0) throw refused('size', 'a multiple of 8 bits');
        },
      },
      { ...parameter('format', oneOfWords(['base64', 'hex'])), required: false, default: 'base64' },
    ],
    ({ n, size, format: encoding }) => {
      const asked = batchRequest('bytes', { encoding, length: size / 8 }, n);
      requireReplyFits(asked.values);
      return { asked };
    },
  ),
};

export function isDrawMethod(name: string): boolean {
  return Object.hasOwn(METHODS, name);
}

/** Throws an RpcError or ApiError for parameters that are wrong; nothing is drawn. */
export function drawOf(name: string, params: JsonObject): Draw {
  return METHODS[name](params);
}

function integers(count: number, min: number, max: number, unique: boolean): Asked {
  requirePossible({ min, max, unique }, count);
  return valuesRequest('integers', { min, max, unique, sort: 'none' }, count);
}

/** One value for all sequences, or a list with one for each. */
function each<const D extends ParameterDefinition>(params: JsonObject, n: number, definition: D) {
  const { name } = definition;
  const value = params[name] ?? undefined;
  const list: unknown[] = Array.isArray(value) ? value : Array.from({ length: n }, () => value);
  if (list.length !== n)
    throw new RpcError('conflict', `Give ${name} once, or once for each of the ${n} sequences.`, [name]);
  return list.map((given) => {
    const read = readParameters([definition], new Map(given === undefined ? [] : [[name, given]]));
    return read[name as keyof typeof read] as ValuesOf<[D]>[D['name']];
  });
}

function refused(name: string, form: string): RpcError {
  return new RpcError('outOfRange', `Give ${name} as ${form}.`, [name]);
}

/**
 * Strings without replacement that are too many to be numbered with a double: they are drawn independently, and a draw
 * with two alike, of probability below 10^8 / 2^53, is refused. The lists that are left are equally likely.
 */
function requireDistinct(values: readonly string[]): readonly string[] {
  if (new Set(values).size === values.length) return values;
  throw new RpcError('later', 'Two of the strings were alike; send the request again.', [0]);
}

/** Base 10 gives numbers, the other bases strings. */
function inBase(values: readonly number[], base: number): readonly (number | string)[] {
  return base === 10 ? values : values.map((value) => value.toString(base));
}

/** A whole number as so many digits of an alphabet, the highest first. */
function spelled(value: number, alphabet: readonly string[], length: number): string {
  let text = '';
  for (let rest = value, i = 0; i < length; i++) {
    text = alphabet[rest % alphabet.length] + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}
