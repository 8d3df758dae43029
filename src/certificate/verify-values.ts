import { ByteStream } from './draw-samplers.ts';
import { drawnValues } from './draw-values.ts';
import { canonical, isObject, member, show, text } from './members.ts';
import { failed, holds, type Verdict } from './verdict.ts';

/**
 * Draws the values of a pure answer again from the bytes that its opening shows, by the samplers of committed draws: then
 * the opening proves the values, and not only their bytes. Runs in browsers.
 */

/** A draw ends with a whole piece of so many bytes: what the last piece has more is erased. */
const PIECE_BYTES = 16;
/** Bits of an opened answer at most. */
const BITS_MAX = 100_000;

/** No byte is left. */
class Exhausted extends Error {
  override name = 'Exhausted';
}

/** What `data` has beside `metadata`; a member of another kind of answer would show what was not drawn. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  integers: ['count', 'max', 'min', 'sort', 'unique', 'values'],
  bytes: ['bits', 'bytes', 'count', 'encoding'],
  floats: ['count', 'precision', 'values'],
  uuid: ['count', 'uuids', 'version'],
  bitstring: ['bitstring', 'length'],
  shuffle: ['count', 'items'],
  batch: ['count', 'params', 'type', 'values'],
  sample: ['count', 'items', 'list_sha256', 'of'],
  weighted: ['count', 'items', 'list_sha256', 'weights'],
  strings: ['alphabet', 'count', 'length', 'values'],
  sequences: ['count', 'length', 'max', 'min', 'sort', 'unique', 'values'],
  permutations: ['count', 'length', 'values'],
  gaussians: ['count', 'digits', 'mean', 'stddev', 'values'],
};

/** What `params` of a batch has, by its type. */
const PARAMS: Readonly<Record<string, readonly string[]>> = {
  integers: ['max', 'min', 'sort', 'unique'],
  floats: ['precision'],
  bytes: ['encoding', 'length'],
  uuid: [],
  sample: ['list_sha256', 'of'],
  weighted: ['list_sha256', 'weights'],
  strings: ['alphabet', 'length'],
  sequences: ['length', 'max', 'min', 'sort', 'unique'],
  permutations: ['length'],
  gaussians: ['digits', 'mean', 'stddev'],
};

/** Why `data` is not that of an answer of the endpoint that the certificate names. */
export function flawOfData(endpoint: unknown, data: unknown): string | undefined {
  const names = rowOf(MEMBERS, endpoint);
  if (names === undefined) return `There is no endpoint ${show(endpoint)}.`;
  if (!hasMembers(data, [...names, 'metadata']))
    return `The members of data are not those of an answer of ${show(endpoint)}: ${names.join(', ')}.`;
  if (endpoint !== 'batch') return undefined;
  const type = member(data, 'type');
  const params = rowOf(PARAMS, type);
  if (params === undefined) return `A batch has no type ${show(type)}.`;
  return hasMembers(member(data, 'params'), params)
    ? undefined
    : `The members of params are not those of a batch of ${show(type)}: ${params.join(', ')}.`;
}

function rowOf<T>(table: Readonly<Record<string, T>>, name: unknown): T | undefined {
  return typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined;
}

function hasMembers(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && Object.keys(value).sort().join() === names.toSorted().join();
}

/** A batch as an answer of the endpoint of its type has it: what it was drawn with stands beside its count and values. */
function drawnAs(endpoint: unknown, data: unknown): { readonly kind: unknown; readonly told: unknown } {
  if (endpoint !== 'batch') return { kind: endpoint, told: data };
  const [type, params, values] = ['type', 'params', 'values'].map((name) => member(data, name));
  const own = isObject(params) ? params : {};
  const name = type === 'uuid' ? 'uuids' : type === 'sample' || type === 'weighted' ? 'items' : 'values';
  return {
    kind: type === 'bytes' ? BYTE_STRINGS : type,
    told: { ...own, count: member(data, 'count'), [name]: values },
  };
}

/** The values of a batch of bytes; GET /v1/bytes has one. */
const BYTE_STRINGS = 'byte strings';

/** Four times the entropy of the values and some words more: no honest answer comes near it. */
const PER_BIT = 4 / 8;
const WORDS_BYTES = 256;
const GAUSSIAN_BYTES = 64;
/** Of answers that do not say what their values were drawn with. */
const BYTES_PER_CHARACTER = 16;

/** Bytes that an honest answer draws at most, whatever its certificate says. */
export function bytesMaxOf(endpoint: unknown, answered: unknown): number {
  const { kind: drawn, told: data } = drawnAs(endpoint, answered);
  const length = (name: string) => {
    const told = member(data, name);
    return Array.isArray(told) || typeof told === 'string' ? told.length : 0;
  };
  const number = (name: string) => Number(member(data, name));
  const span = (min: unknown, max: unknown) => Math.log2(Math.max(1, Number(max) - Number(min) + 1));
  const ofBits = (bits: number) => Math.ceil(bits * PER_BIT) + WORDS_BYTES;
  const values = length('values');
  switch (drawn) {
    case 'bytes':
      return Math.floor(length('bytes') * (member(data, 'encoding') === 'hex' ? 1 / 2 : 3 / 4));
    case 'bitstring':
      return Math.ceil(length('bitstring') / 8);
    case 'uuid':
      return 16 * length('uuids');
    case BYTE_STRINGS:
      return values * number('length');
    case 'integers':
      return ofBits(values * span(member(data, 'min'), member(data, 'max')));
    case 'floats':
      return ofBits(values * 56);
    case 'strings':
      return ofBits(
        values * number('length') * Math.log2([...(text(member(data, 'alphabet')) ?? '')].length || 1),
      );
    case 'permutations':
      return ofBits(values * number('length') * Math.log2(Math.max(2, number('length'))));
    case 'sequences': {
      const each = (name: string) => {
        const told = member(data, name);
        return Array.isArray(told) ? told : [];
      };
      const bits = each('length').map((size, i) => Number(size) * span(each('min')[i], each('max')[i]));
      return ofBits(values * bits.reduce((sum, of) => sum + of, 0));
    }
    case 'gaussians':
      return GAUSSIAN_BYTES * values + WORDS_BYTES;
    default:
      return BYTES_PER_CHARACTER * (canonical(member(data, 'values') ?? member(data, 'items')) ?? '').length;
  }
}

/** `data` is the answer's member of that name, of the endpoint that the certificate names. */
export function valuesVerdict(endpoint: unknown, answered: unknown, drawn: Uint8Array): Verdict {
  const { kind: name, told: data } = drawnAs(endpoint, answered);
  const kind = rowOf(KINDS, name);
  if (kind === undefined)
    return holds(
      `The bytes drawn for it are those that the lots committed to. That its values follow from them is not checked: an answer of ${show(name)} does not hold all that they were drawn with.`,
    );
  const told = member(data, kind.values);
  const stream = streamOf(drawn);
  let again: unknown;
  try {
    again = kind.drawAgain(data, stream);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    return failed('The opening holds fewer bytes than its values are drawn from.');
  }
  if (again === undefined || canonical(again) !== canonical(told))
    return failed('The values are not those that follow from the bytes that were drawn.');
  if (drawn.length - stream.used >= PIECE_BYTES)
    return failed('The opening holds more than what its values are drawn from.');
  return holds('Its values follow from bytes that the lots committed to.');
}

function streamOf(bytes: Uint8Array): ByteStream {
  let isGiven = bytes.length === 0;
  return new ByteStream(() => {
    if (isGiven) throw new Exhausted();
    isGiven = true;
    return bytes;
  });
}

interface Kind {
  /** The member of `data` that holds the values. */
  readonly values: string;
  /** Undefined for members that nothing can be drawn with. */
  readonly drawAgain: (data: unknown, bytes: ByteStream) => unknown;
}

const KINDS: Readonly<Record<string, Kind>> = {
  integers: listed('integers', 'values', ['count', 'min', 'max', 'unique', 'sort']),
  floats: listed('floats', 'values', ['count', 'precision']),
  uuid: listed('uuid', 'uuids', ['count']),
  strings: listed('strings', 'values', ['count', 'length'], (data) => ({
    alphabet: [...(text(member(data, 'alphabet')) ?? '')],
  })),
  sequences: listed('sequences', 'values', ['count', 'sort'], (data) => ({ ranges: rangesOf(data) })),
  permutations: listed('permutations', 'values', ['count', 'length']),
  gaussians: listed('gaussians', 'values', ['count', 'digits', 'mean', 'stddev']),
  [BYTE_STRINGS]: listed('bytes', 'values', ['count', 'encoding', 'length']),
  bytes: {
    values: 'bytes',
    drawAgain: (data, bytes) => {
      const request = {
        kind: 'bytes',
        count: 1,
        length: member(data, 'count'),
        encoding: member(data, 'encoding'),
      };
      const drawn = drawnValues(request, bytes);
      return typeof drawn === 'string' ? undefined : drawn[0];
    },
  },
  bitstring: {
    values: 'bitstring',
    drawAgain: (data, bytes) => {
      const length = member(data, 'length');
      if (typeof length !== 'number' || !Number.isInteger(length) || length < 1 || length > BITS_MAX)
        return undefined;
      const octets = [...bytes.take(Math.ceil(length / 8))];
      return octets
        .map((octet) => octet.toString(2).padStart(8, '0'))
        .join('')
        .slice(0, length);
    },
  },
};

/** Values that a committed draw knows too, whose request has these members of `data` and more. */
function listed(
  kind: string,
  values: string,
  names: readonly string[],
  more: (data: unknown) => object = () => ({}),
): Kind {
  return {
    values,
    drawAgain: (data, bytes) => {
      const told = member(data, values);
      // values that take no entropy would be counted to any number
      if (!Array.isArray(told) || told.length !== member(data, 'count')) return undefined;
      const own = Object.fromEntries(names.map((name) => [name, member(data, name)]));
      const drawn = drawnValues({ kind, ...own, ...more(data) }, bytes);
      return typeof drawn === 'string' ? undefined : drawn;
    },
  };
}

/** Of the sequences, whose lengths and bounds `data` has in lists. */
function rangesOf(data: unknown): unknown {
  const [lengths, mins, maxes] = ['length', 'min', 'max'].map((name) => member(data, name));
  if (!Array.isArray(lengths) || !Array.isArray(mins) || !Array.isArray(maxes)) return undefined;
  const unique = member(data, 'unique');
  return lengths.map((length: unknown, i) => ({ length, min: mins[i], max: maxes[i], unique }));
}
