import type { DataRequest, EchoedMembers } from '../../answer/request.ts';
import type { JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { boolean, numberFrom, oneOfWords, type Schema, textLike, wholeFrom } from '../../core/schema.ts';
import type { ListRequest } from '../../values/value-request.ts';
import { ALPHABET_FORM, charactersOf } from '../endpoints/kinds.ts';
import { requirePossible, requireRange, requireReplyFits } from '../endpoints/relations.ts';
import { batchRequest, valuesRequest } from '../endpoints/values.ts';
import {
  type ParameterDefinition,
  type ParameterValue,
  parameter,
  type ReadValues,
  readParameters,
  type ValuesOf,
} from '../params.ts';
import { RpcError } from './errors.ts';

// The methods of random.org that draw values. Each maps to an endpoint of the service: the bounds of that endpoint hold for its
// parameters, and its answer is priced, counted and certified as one of that endpoint.

type Asked = Pick<DataRequest, 'endpoint' | 'values' | 'valueKey' | 'members'>;

export interface Draw {
  /** The parameters with their defaults, as a signed answer repeats them. */
  readonly echo: JsonObject;
  readonly asked: Asked;
  /** Converts the values of the service's answer into the `data` of random.org; undefined if they are the same. */
  readonly dataOf?: (values: never) => unknown;
}

type Method = (params: JsonObject) => Draw;

/** Returns a method whose parameters are read like those of an endpoint. */
function method<const D extends readonly ParameterDefinition[]>(
  definitions: D,
  plan: (given: ValuesOf<D>) => Omit<Draw, 'echo'>,
): Method {
  return (params) => {
    const echo = readParameters(definitions, givenIn(params));
    return { echo, ...plan(echo) };
  };
}

/** Returns the members of the parameters. A member that is null counts as absent. */
function givenIn(params: JsonObject): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(params).filter(([, value]) => value !== null));
}

/** Returns the definition of a member that a call must have. */
export function needed<const Name extends string, T extends ParameterValue>(
  name: Name,
  schema: Schema<T>,
  more: Pick<ParameterDefinition, 'check' | 'form'> = {},
) {
  return parameter(name, schema, '', { required: true, error: 'invalid_params', ...more });
}

const N = needed('n', wholeFrom(1, LIMITS.integersCountMax));
const BOUND = wholeFrom(-LIMITS.integerMagnitudeMax, LIMITS.integerMagnitudeMax);
const MIN = needed('min', BOUND);
const MAX = needed('max', BOUND);
const REPLACEMENT = parameter('replacement', boolean, '', { default: true, error: 'invalid_params' });
const BASE = parameter('base', wholeFrom(2, 16), '', {
  default: 10,
  error: 'invalid_params',
  check: ({ base }: ReadValues) => {
    if (![2, 8, 10, 16].includes(base as number)) throw refused('base', '2, 8, 10 or 16');
  },
});
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
    const { n } = readParameters([needed('n', wholeFrom(1, LIMITS.sequencesMax))], givenIn(params));
    const lists = {
      length: each(params, n, needed('length', wholeFrom(1, LIMITS.integersCountMax))),
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
    // repeats each parameter as the caller gave it: one value for all sequences, or a list
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
    [N, needed('decimalPlaces', wholeFrom(1, LIMITS.floatPrecisionMax)), REPLACEMENT],
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
      needed('mean', MAGNITUDE),
      needed('standardDeviation', MAGNITUDE, {
        check: ({ standardDeviation }) => {
          if (Math.abs(standardDeviation as number) < LIMITS.gaussianStddevMin)
            throw refused('standardDeviation', `at least ${LIMITS.gaussianStddevMin} from 0`);
        },
      }),
      needed('significantDigits', wholeFrom(LIMITS.gaussianDigitsMin, LIMITS.gaussianDigitsMax)),
    ],
    // a negative deviation has the same distribution
    ({ n, mean, standardDeviation, significantDigits: digits }) => ({
      asked: valuesRequest('gaussians', { mean, stddev: Math.abs(standardDeviation), digits }, n),
    }),
  ),

  Strings: method(
    [
      N,
      needed('length', wholeFrom(1, LIMITS.stringLengthMax)),
      needed('characters', textLike(/^[\s\S]{2,1000}$/u), { form: ALPHABET_FORM }),
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

  UUIDs: method([needed('n', wholeFrom(1, LIMITS.uuidCountMax))], ({ n }) => ({
    asked: valuesRequest('uuid', {}, n),
  })),

  Blobs: method(
    [
      needed('n', wholeFrom(1, LIMITS.batchCountMax)),
      needed('size', wholeFrom(8, 8 * LIMITS.batchBytesLengthMax), {
        check: ({ size }) => {
          if ((size as number) % 8 !== 0) throw refused('size', 'a multiple of 8 bits');
        },
      }),
      parameter('format', oneOfWords(['base64', 'hex']), '', { default: 'base64', error: 'invalid_params' }),
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

/** Returns the draw that a method asks for. Throws an RpcError or ApiError for invalid parameters. */
export function drawOf(name: string, params: JsonObject): Draw {
  return METHODS[name](params);
}

function integers(count: number, min: number, max: number, unique: boolean): Asked {
  requirePossible({ min, max, unique }, count);
  return valuesRequest('integers', { min, max, unique, sort: 'none' }, count);
}

/** Reads a parameter that is one value for all sequences or a list with one for each. Returns the value of each sequence. */
function each<const D extends ParameterDefinition>(params: JsonObject, n: number, definition: D) {
  const { name } = definition;
  const value = params[name] ?? undefined;
  const list: unknown[] = Array.isArray(value) ? value : Array.from({ length: n }, () => value);
  if (list.length !== n)
    throw new RpcError(
      'conflict',
      `${name} must be one value, or a list with one value for each of the ${n} sequences.`,
      [name],
    );
  return list.map((given) => {
    const read = readParameters([definition], new Map(given === undefined ? [] : [[name, given]]));
    return read[name as keyof typeof read] as ValuesOf<[D]>[D['name']];
  });
}

function refused(name: string, form: string): RpcError {
  return new RpcError('outOfRange', `${name} must be ${form}.`, [name]);
}

/**
 * Refuses strings with a repeat. If there are more than 2^53 possible strings, a double cannot number them, so strings without
 * replacement are drawn independently. A repeat has a probability below 10^8 / 2^53, and the remaining lists are equally likely.
 */
function requireDistinct(values: readonly string[]): readonly string[] {
  if (new Set(values).size === values.length) return values;
  throw new RpcError('later', 'Two of the strings were equal. Send the request again.', [0]);
}

/** Writes the values in a base: as numbers in base 10, as strings in other bases. */
function inBase(values: readonly number[], base: number): readonly (number | string)[] {
  return base === 10 ? values : values.map((value) => value.toString(base));
}

/** Writes a whole number with `length` digits of an alphabet, the most significant first. */
function spelled(value: number, alphabet: readonly string[], length: number): string {
  let text = '';
  for (let rest = value, i = 0; i < length; i++) {
    text = alphabet[rest % alphabet.length] + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}
