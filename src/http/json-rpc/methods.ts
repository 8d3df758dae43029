import type { DataRequest } from '../../answer/request.ts';
import { LIMITS } from '../../core/limits.ts';
import type { DataEndpoint } from '../../core/vocabulary.ts';
import { BLOCK_BYTES } from '../../values/kernels.ts';
import type { SequenceRange, ValueRequest } from '../../values/value-request.ts';
import { RpcError } from './errors.ts';

/**
 * The methods of random.org that draw values: each becomes a request of the service, so that it costs, counts and is
 * certified as one. Bounds are random.org's where they are stricter than ours.
 */

export type Params = Readonly<Record<string, unknown>>;

/** A call that draws. */
export interface Draw {
  readonly request: DataRequest;
  /** The parameters as a signed answer repeats them, defaults filled in. */
  readonly echo: Readonly<Record<string, unknown>>;
  /** From the values of the service's answer to `data` as random.org gives it. */
  readonly dataOf: (values: unknown) => unknown;
}

export type DrawMethod = keyof typeof DRAWS;

export function isDrawMethod(name: string): name is DrawMethod {
  return Object.hasOwn(DRAWS, name);
}

/** Throws an RpcError for parameters that are wrong; nothing is drawn. */
export function drawOf(method: DrawMethod, params: Params): Draw {
  return DRAWS[method](params);
}

const COUNT_MAX = 10_000;
const MAGNITUDE_MAX = 1_000_000_000;
const BASES = [2, 8, 10, 16];
const BLOB_BITS_MAX = 1_048_576;
/** Of one blob: it is made as one value, in one block. random.org allows as much as for all together. */
const BLOB_BITS_EACH_MAX = 8 * BLOCK_BYTES;
const SEQUENCES_MAX = 1_000;
const CHARACTERS_MAX = 128;
const LENGTH_MAX = 32;

const asTheyAre = (values: unknown) => values;

const DRAWS = {
  Integers(params: Params): Draw {
    const echo = {
      n: whole(params['n'], 'n', 1, COUNT_MAX),
      ...rangeOf(params),
      replacement: replacementOf(params['replacement']),
      base: baseOf(params['base']),
    };
    const { n, min, max, replacement, base } = echo;
    requireDomain(n, max - min + 1, replacement);
    return {
      request: integersRequest(n, min, max, !replacement),
      echo,
      dataOf: (values) => inBase(values as number[], base),
    };
  },

  IntegerSequences(params: Params): Draw {
    const n = whole(params['n'], 'n', 1, SEQUENCES_MAX);
    const lengths = each(params, 'length', n, (value) => whole(value, 'length', 1, COUNT_MAX));
    const mins = each(params, 'min', n, (value) => whole(value, 'min', -MAGNITUDE_MAX, MAGNITUDE_MAX));
    const maxs = each(params, 'max', n, (value) => whole(value, 'max', -MAGNITUDE_MAX, MAGNITUDE_MAX));
    const replacements = each(params, 'replacement', n, replacementOf, true);
    const bases = each(params, 'base', n, baseOf, 10);
    const ranges = lengths.map((length, i): SequenceRange => {
      const range = { length, min: mins[i], max: maxs[i], unique: !replacements[i] };
      requireOrder(range.min, range.max);
      requireDomain(length, range.max - range.min + 1, replacements[i]);
      return range;
    });
    const numbers = lengths.reduce((sum, length) => sum + length, 0);
    if (numbers > COUNT_MAX) throw outOfRange('length', 1, COUNT_MAX);
    const members = { count: 1, length: lengths, max: maxs, min: mins };
    return {
      request: requestOf('sequences', { kind: 'sequences', count: 1, ranges, sort: 'none' }, members),
      echo: {
        n,
        ...named(params, { length: lengths, min: mins, max: maxs, replacement: replacements, base: bases }),
      },
      dataOf: (values) => (values as number[][][])[0].map((sequence, i) => inBase(sequence, bases[i])),
    };
  },

  DecimalFractions(params: Params): Draw {
    const n = whole(params['n'], 'n', 1, COUNT_MAX);
    const decimalPlaces = whole(params['decimalPlaces'], 'decimalPlaces', 1, 14);
    const replacement = replacementOf(params['replacement']);
    requireDomain(n, 10 ** decimalPlaces, replacement);
    const echo = { n, decimalPlaces, replacement };
    if (!replacement) {
      return {
        request: integersRequest(n, 0, 10 ** decimalPlaces - 1, true),
        echo,
        dataOf: (values) => (values as number[]).map((value) => Number(`${value}e-${decimalPlaces}`)),
      };
    }
    return {
      request: requestOf(
        'floats',
        { kind: 'floats', count: n, precision: decimalPlaces },
        { count: n, precision: decimalPlaces },
      ),
      echo,
      dataOf: asTheyAre,
    };
  },

  Gaussians(params: Params): Draw {
    const magnitude = LIMITS.gaussianMagnitudeMax;
    const echo = {
      n: whole(params['n'], 'n', 1, COUNT_MAX),
      mean: decimal(params['mean'], 'mean', -magnitude, magnitude),
      standardDeviation: decimal(params['standardDeviation'], 'standardDeviation', -magnitude, magnitude),
      significantDigits: whole(
        params['significantDigits'],
        'significantDigits',
        LIMITS.gaussianDigitsMin,
        LIMITS.gaussianDigitsMax,
      ),
    };
    const { n, mean, significantDigits: digits } = echo;
    // a negative one has the same distribution
    const stddev = Math.abs(echo.standardDeviation);
    if (stddev < LIMITS.gaussianStddevMin)
      throw outOfRange('standardDeviation', LIMITS.gaussianStddevMin, magnitude);
    return {
      request: requestOf(
        'gaussians',
        { kind: 'gaussians', count: n, mean, stddev, digits },
        { count: n, digits, mean, stddev },
      ),
      echo,
      dataOf: asTheyAre,
    };
  },

  Strings(params: Params): Draw {
    const n = whole(params['n'], 'n', 1, COUNT_MAX);
    const length = whole(params['length'], 'length', 1, LENGTH_MAX);
    const { characters } = params;
    if (typeof characters !== 'string' || !characters.isWellFormed()) throw invalid('characters');
    const alphabet = [...characters];
    if (alphabet.length < 1 || alphabet.length > CHARACTERS_MAX)
      throw outOfRange('characters', 1, CHARACTERS_MAX);
    if (new Set(alphabet).size < alphabet.length)
      throw new RpcError('conflict', 'Give each of the characters once.', ['characters']);
    const replacement = replacementOf(params['replacement']);
    const domain = alphabet.length ** length;
    requireDomain(n, domain, replacement);
    const echo = { n, length, characters, replacement };
    if (!replacement && domain <= LIMITS.integerSpanMax) {
      return {
        request: integersRequest(n, 0, domain - 1, true),
        echo,
        dataOf: (values) => (values as number[]).map((value) => spelled(value, alphabet, length)),
      };
    }
    return {
      request: requestOf(
        'strings',
        { kind: 'strings', count: n, length, alphabet },
        { alphabet: characters, count: n, length },
      ),
      echo,
      dataOf: (values) => (replacement ? values : requireDistinct(values as string[])),
    };
  },

  UUIDs(params: Params): Draw {
    const n = whole(params['n'], 'n', 1, 1_000);
    return {
      request: requestOf('uuid', { kind: 'uuid', count: n }, { count: n, version: 4 }, 'uuids'),
      echo: { n },
      dataOf: asTheyAre,
    };
  },

  Blobs(params: Params): Draw {
    const n = whole(params['n'], 'n', 1, 100);
    const size = whole(params['size'], 'size', 1, BLOB_BITS_EACH_MAX);
    const format = params['format'] ?? 'base64';
    if (size % 8 !== 0) throw new RpcError('malformed', 'Give size as a multiple of 8 bits.', ['size']);
    if (n * size > BLOB_BITS_MAX) throw outOfRange('size', 8, Math.floor(BLOB_BITS_MAX / n));
    if (format !== 'base64' && format !== 'hex') throw invalid('format');
    return {
      request: requestOf(
        'batch',
        { kind: 'bytes', count: n, length: size / 8, encoding: format, single: false },
        { count: n, params: { encoding: format, length: size / 8 }, type: 'bytes' },
      ),
      echo: { n, size, format },
      dataOf: asTheyAre,
    };
  },
};

function requestOf(
  endpoint: DataEndpoint,
  values: ValueRequest,
  members: DataRequest['members'],
  valueKey = 'values',
): DataRequest {
  return { mode: undefined, dryRun: false, endpoint, values, members, valueKey };
}

function integersRequest(count: number, min: number, max: number, unique: boolean): DataRequest {
  const asked = { count, max, min, sort: 'none', unique } as const;
  return requestOf('integers', { kind: 'integers', ...asked }, asked);
}

function rangeOf(params: Params): { readonly min: number; readonly max: number } {
  const min = whole(params['min'], 'min', -MAGNITUDE_MAX, MAGNITUDE_MAX);
  const max = whole(params['max'], 'max', -MAGNITUDE_MAX, MAGNITUDE_MAX);
  requireOrder(min, max);
  return { min, max };
}

function requireOrder(min: number, max: number): void {
  if (min >= max) throw new RpcError('conflict', 'Give min less than max.', ['min', 'max']);
}

function requireDomain(n: number, domain: number, replacement: boolean): void {
  if (replacement || n <= domain) return;
  throw new RpcError(
    'domainTooSmall',
    `There are ${domain} different values, fewer than ${n} without replacement.`,
    [n, domain],
  );
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

/** One value for all sequences, or a list with one for each. */
function each<T>(params: Params, name: string, n: number, read: (value: unknown) => T, preset?: T): T[] {
  const value = params[name] ?? preset;
  if (!Array.isArray(value)) return Array.from({ length: n }, () => read(value));
  if (value.length !== n)
    throw new RpcError('conflict', `Give ${name} once, or once for each of the ${n} sequences.`, [name]);
  return value.map(read);
}

/** As the caller gave them: one value, or a list. */
function named(params: Params, lists: Readonly<Record<string, readonly unknown[]>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [name, Array.isArray(params[name]) ? list : list[0]]),
  );
}

function whole(value: unknown, name: string, min: number, max: number): number {
  const number = decimal(value, name, min, max);
  if (!Number.isInteger(number)) throw invalid(name);
  return number;
}

function decimal(value: unknown, name: string, min: number, max: number): number {
  if (typeof value !== 'number') throw invalid(name);
  if (value < min || value > max) throw outOfRange(name, min, max);
  return value === 0 ? 0 : value; // -0 is 0
}

/** True when it is left out. */
function replacementOf(value: unknown): boolean {
  const given = value ?? true;
  if (typeof given !== 'boolean') throw invalid('replacement');
  return given;
}

function baseOf(value: unknown): number {
  const base = value ?? 10;
  if (typeof base !== 'number') throw invalid('base');
  if (!BASES.includes(base)) throw new RpcError('outOfRange', 'Give base as 2, 8, 10 or 16.', ['base']);
  return base;
}

function outOfRange(name: string, min: number, max: number): RpcError {
  return new RpcError('outOfRange', `Give ${name} from ${min} to ${max}.`, [name, min, max]);
}

/** A parameter that is missing or of another type. */
export function invalid(name: string): RpcError {
  return new RpcError('invalidParams', `Invalid params: ${name} is missing, or of another type.`, [name]);
}
