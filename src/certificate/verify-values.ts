import { isObject } from '../core/json.ts';
import { drawnValues, NUMBERS_MAX } from './draw-kinds.ts';
import { ByteStream } from './draw-samplers.ts';
import { drawStream } from './draw-stream.ts';
import { canonical, listAt, member, show, text } from './members.ts';
import { Refusal, refuse } from './verdict.ts';

/**
 * Draws the values of a pure answer again from the bytes that its opening shows, by the samplers of committed draws: then
 * the opening proves the values, and not only their bytes. Runs in browsers.
 */

/** A draw ends with a whole piece of so many bytes: what the last piece has more is erased. */
const PIECE_BYTES = 16;
/** Bits of an opened answer at most. */
const BITS_MAX = 100_000;

/** One kind of answers. */
interface Kind {
  /** What its values are drawn with: members of `data`, and of `params` in a batch. */
  readonly params: readonly string[];
  /** The member of `data` that holds the values. */
  readonly values: string;
  /** The other members of `data`. */
  readonly beside: readonly string[];
  /** Undefined for members that nothing can be drawn with; left out where `data` does not hold all that it takes. */
  readonly drawAgain?: (data: unknown, bytes: ByteStream) => unknown;
}

const COUNTED = { values: 'values', beside: ['count'] };
const LISTED = { values: 'items', beside: ['count'] };

const KINDS: Readonly<Record<string, Kind>> = {
  integers: counted('integers', ['max', 'min', 'sort', 'unique']),
  floats: counted('floats', ['precision']),
  uuid: { ...counted('uuid', [], 'uuids'), beside: ['count', 'version'] },
  strings: counted('strings', ['alphabet', 'length'], 'values', ({ alphabet, ...own }) => ({
    ...own,
    alphabet: [...(text(alphabet) ?? '')],
  })),
  sequences: counted('sequences', ['length', 'max', 'min', 'sort', 'unique'], 'values', (own) => ({
    count: own['count'],
    sort: own['sort'],
    ranges: rangesOf(own),
  })),
  permutations: counted('permutations', ['length']),
  gaussians: counted('gaussians', ['digits', 'mean', 'stddev']),
  shuffle: { ...LISTED, params: [] },
  sample: { ...LISTED, params: ['list_sha256', 'of'] },
  weighted: { ...LISTED, params: ['list_sha256', 'weights'] },
  bytes: {
    params: ['encoding'],
    values: 'bytes',
    beside: ['bits', 'count'],
    drawAgain: (data, bytes) => {
      const [length, encoding] = [member(data, 'count'), member(data, 'encoding')];
      return drawnValues({ kind: 'bytes', count: 1, length, encoding, single: true }, bytes)[0];
    },
  },
  bitstring: {
    params: ['length'],
    values: 'bitstring',
    beside: [],
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

/** The values of a batch of bytes; GET /v1/bytes has one. */
const BYTE_STRINGS = counted('bytes', ['encoding', 'length'], 'values', (own) => ({ ...own, single: false }));
const BATCH_MEMBERS = ['count', 'params', 'type', 'values'];
const NOT_IN_BATCHES: readonly unknown[] = ['bitstring', 'shuffle'];

/** Values that a committed draw knows too, whose request has the same members, or others that follow from them. */
function counted(
  kind: string,
  params: readonly string[],
  values = 'values',
  requestOf: (own: Readonly<Record<string, unknown>>) => object = (own) => own,
): Kind {
  return {
    ...COUNTED,
    params,
    values,
    drawAgain: (data, bytes) => {
      const told = member(data, values);
      // values that take no entropy would be counted to any number
      if (!Array.isArray(told) || told.length !== member(data, 'count')) return undefined;
      const own = Object.fromEntries(['count', ...params].map((name) => [name, member(data, name)]));
      return drawnValues({ kind, ...requestOf(own) }, bytes);
    },
  };
}

function kindOf(endpoint: unknown): Kind {
  if (typeof endpoint === 'string' && Object.hasOwn(KINDS, endpoint)) return KINDS[endpoint];
  return refuse(`There is no endpoint ${show(endpoint)}.`);
}

function kindInBatch(type: unknown): Kind {
  if (type === 'bytes') return BYTE_STRINGS;
  if (typeof type !== 'string' || !Object.hasOwn(KINDS, type) || NOT_IN_BATCHES.includes(type))
    refuse(`A batch has no type ${show(type)}.`);
  return KINDS[type];
}

/** A member of another kind of answer would show what was not drawn: `data` is of the endpoint that the certificate names. */
export function checkMembers(endpoint: unknown, data: unknown): void {
  const isBatch = endpoint === 'batch';
  const { params, beside, values } = isBatch ? { ...COUNTED, params: [] } : kindOf(endpoint);
  const names = isBatch ? BATCH_MEMBERS : [...params, ...beside, values].sort();
  if (!hasMembers(data, [...names, 'metadata']))
    refuse(`The members of data are not those of an answer of ${show(endpoint)}: ${names.join(', ')}.`);
  if (!isBatch) return;
  const type = member(data, 'type');
  const own = kindInBatch(type).params;
  if (!hasMembers(member(data, 'params'), own))
    refuse(`The members of params are not those of a batch of ${show(type)}: ${own.join(', ')}.`);
}

function hasMembers(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && Object.keys(value).sort().join() === names.toSorted().join();
}

/** A batch as an answer of the endpoint of its type has it: what it was drawn with stands beside its count and values. */
function drawnAs(endpoint: unknown, data: unknown): { readonly kind: Kind; readonly told: unknown } {
  if (endpoint !== 'batch') return { kind: kindOf(endpoint), told: data };
  const [type, params, values] = ['type', 'params', 'values'].map((name) => member(data, name));
  const kind = kindInBatch(type);
  const own = isObject(params) ? params : {};
  return { kind, told: { ...own, count: member(data, 'count'), [kind.values]: values } };
}

/** Of the sequences, whose lengths and bounds `data` has in lists. */
function rangesOf(data: unknown): unknown {
  const [mins, maxes] = [listAt(data, 'min'), listAt(data, 'max')];
  const unique = member(data, 'unique');
  return listAt(data, 'length').map((length, i) => ({ length, min: mins[i], max: maxes[i], unique }));
}

/** An answer whose values cannot be drawn again takes at most so many for each character of them. */
const BYTES_PER_CHARACTER = 16;
/** Words that are drawn again by chance: more than these have a probability below 2^-64. */
const CHANCE_BYTES = 256;

/**
 * Whether an honest answer may have drawn more than so many bytes, whatever its certificate says: more than twice what such
 * values take of a stream that is always the same.
 */
export function mayTakeMore(endpoint: unknown, answered: unknown, bytes: number): boolean {
  const { kind, told: data } = drawnAs(endpoint, answered);
  const characters = (canonical(member(data, kind.values)) ?? '').length;
  if (kind.drawAgain === undefined) return BYTES_PER_CHARACTER * characters > bytes;
  const sure = drawStream(new Uint8Array(32)).take(Math.floor((bytes - CHANCE_BYTES) / 2));
  try {
    kind.drawAgain(data, streamOf(sure));
    return false;
  } catch (error) {
    if (error instanceof Exhausted) return true;
    if (!(error instanceof Refusal)) throw error;
    return characters > NUMBERS_MAX; // too many to be drawn again, or members of another form
  }
}

/** No byte is left. */
class Exhausted extends Error {
  override name = 'Exhausted';
}

/** `data` is the answer's member of that name, of the endpoint that the certificate names. */
export function valuesVerdict(endpoint: unknown, answered: unknown, drawn: Uint8Array): string {
  const { kind, told: data } = drawnAs(endpoint, answered);
  if (kind.drawAgain === undefined) {
    const name = endpoint === 'batch' ? member(answered, 'type') : endpoint;
    return `The bytes drawn for it are those that the lots committed to. That its values follow from them is not checked: an answer of ${show(name)} does not hold all that they were drawn with.`;
  }
  const stream = streamOf(drawn);
  let again: unknown;
  try {
    again = kind.drawAgain(data, stream);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    refuse('The opening holds fewer bytes than its values are drawn from.');
  }
  if (again === undefined || canonical(again) !== canonical(member(data, kind.values)))
    refuse('The values are not those that follow from the bytes that were drawn.');
  if (drawn.length - stream.used >= PIECE_BYTES)
    refuse('The opening holds more than what its values are drawn from.');
  return 'Its values follow from bytes that the lots committed to.';
}

function streamOf(bytes: Uint8Array): ByteStream {
  let isGiven = bytes.length === 0;
  return new ByteStream(() => {
    if (isGiven) throw new Exhausted();
    isGiven = true;
    return bytes;
  });
}
