import { isObject } from '../core/json.ts';
import { drawnValues, NUMBERS_MAX } from './draw-kinds.ts';
import { ByteStream } from './draw-samplers.ts';
import { drawStream } from './draw-stream.ts';
import { canonical, listAt, member, show, text } from './members.ts';
import { Refusal, refuse } from './verdict.ts';

/**
 * Draws the values of a pure answer again from the bytes in its opening, with the samplers of committed draws. So the
 * opening proves the values, and not only the bytes that they were made of. Runs in browsers.
 */

/** Answers draw whole pieces of this many bytes. So the opening may hold up to 15 bytes more than the values use. */
const PIECE_BYTES = 16;
/** Longest bit string that is drawn again: the limit of the endpoint. */
const BITS_MAX = 100_000;

/** The answers of one endpoint, or of one type in a batch. */
interface Kind {
  /** Names of the parameters that the values are drawn with. They are members of `data`, or in a batch of `params`. */
  readonly params: readonly string[];
  /** The member of `data` that holds the values. */
  readonly values: string;
  /** The other members of `data`. */
  readonly beside: readonly string[];
  /**
   * Returns the values drawn from the bytes; undefined if nothing can be drawn with the parameters. Left out for kinds
   * whose `data` does not hold all that the values were drawn with.
   */
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

/** The kind `bytes` in a batch, which has several values; an answer of GET /v1/bytes has one. */
const BYTE_STRINGS = counted('bytes', ['encoding', 'length'], 'values', (own) => ({ ...own, single: false }));
const BATCH_MEMBERS = ['count', 'params', 'type', 'values'];
const NOT_IN_BATCHES: readonly unknown[] = ['bitstring', 'shuffle'];

/** Returns a kind that committed draws have too. `requestOf` makes a draw's request from the answer's members. */
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
      // Without this check a false count would make it draw without end where values take no entropy.
      if (!Array.isArray(told) || told.length !== member(data, 'count')) return undefined;
      const own = Object.fromEntries(['count', ...params].map((name) => [name, member(data, name)]));
      return drawnValues({ kind, ...requestOf(own) }, bytes);
    },
  };
}

function kindOf(endpoint: unknown): Kind {
  if (typeof endpoint === 'string' && Object.hasOwn(KINDS, endpoint)) return KINDS[endpoint];
  return refuse(`The certificate names the endpoint ${show(endpoint)}, which does not exist.`);
}

function kindInBatch(type: unknown): Kind {
  if (type === 'bytes') return BYTE_STRINGS;
  if (typeof type !== 'string' || !Object.hasOwn(KINDS, type) || NOT_IN_BATCHES.includes(type))
    refuse(`The answer is a batch of the type ${show(type)}, which does not exist.`);
  return KINDS[type];
}

/**
 * Refuses `data` whose members are not exactly those of the endpoint that the certificate names: an added member could
 * show readers something that was not drawn.
 */
export function checkMembers(endpoint: unknown, data: unknown): void {
  const isBatch = endpoint === 'batch';
  const { params, beside, values } = isBatch ? { ...COUNTED, params: [] } : kindOf(endpoint);
  const names = isBatch ? BATCH_MEMBERS : [...params, ...beside, values].sort();
  if (!hasMembers(data, [...names, 'metadata']))
    refuse(
      `data must have exactly the members of an answer of ${show(endpoint)}: ${names.join(', ')}, metadata.`,
    );
  if (!isBatch) return;
  const type = member(data, 'type');
  const own = kindInBatch(type).params;
  if (!hasMembers(member(data, 'params'), own))
    refuse(`data.params must have exactly the members of a batch of ${show(type)}: ${own.join(', ')}.`);
}

function hasMembers(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && Object.keys(value).sort().join() === names.toSorted().join();
}

/** Returns the kind of an answer, and its data; a batch's in the form of the endpoint of its type. */
function drawnAs(endpoint: unknown, data: unknown): { readonly kind: Kind; readonly told: unknown } {
  if (endpoint !== 'batch') return { kind: kindOf(endpoint), told: data };
  const [type, params, values] = ['type', 'params', 'values'].map((name) => member(data, name));
  const kind = kindInBatch(type);
  const own = isObject(params) ? params : {};
  return { kind, told: { ...own, count: member(data, 'count'), [kind.values]: values } };
}

/** Returns the ranges of the sequences. `data` has their lengths and bounds in three lists. */
function rangesOf(data: unknown): unknown {
  const [mins, maxes] = [listAt(data, 'min'), listAt(data, 'max')];
  const unique = member(data, 'unique');
  return listAt(data, 'length').map((length, i) => ({ length, min: mins[i], max: maxes[i], unique }));
}

/** Bytes that an answer draws at most for each character of its values, if they cannot be drawn again. */
const BYTES_PER_CHARACTER = 16;
/** Allowance for words that the samplers reject by chance. It is exceeded with a probability below 2^-64. */
const CHANCE_BYTES = 256;

/**
 * Returns whether an honest answer with these values may have drawn more than `bytes` bytes, whatever its certificate
 * says. An honest answer draws at most twice what the same values take from a fixed stream, plus CHANCE_BYTES.
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
    return characters > NUMBERS_MAX; // refused: too many values to draw again, or members of another form
  }
}

/** The stream has no byte left. */
class Exhausted extends Error {
  override name = 'Exhausted';
}

/** Checks that the values follow from the bytes drawn. `answered` is `data`; the certificate names `endpoint`. */
export function valuesVerdict(endpoint: unknown, answered: unknown, drawn: Uint8Array): string {
  const { kind, told: data } = drawnAs(endpoint, answered);
  if (kind.drawAgain === undefined) {
    const name = endpoint === 'batch' ? member(answered, 'type') : endpoint;
    return `The answer opens the bytes that the lots committed to. Whether its values follow from them was not checked: an answer of ${show(name)} does not hold everything that its values were drawn with.`;
  }
  const stream = streamOf(drawn);
  let again: unknown;
  try {
    again = kind.drawAgain(data, stream);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    refuse('The opening holds fewer bytes than the values take.');
  }
  if (again === undefined || canonical(again) !== canonical(member(data, kind.values)))
    refuse('The values do not follow from the bytes that were drawn.');
  if (drawn.length - stream.used >= PIECE_BYTES) refuse('The opening holds more bytes than the values take.');
  return 'The values follow from bytes that the lots committed to.';
}

function streamOf(bytes: Uint8Array): ByteStream {
  let isGiven = bytes.length === 0;
  return new ByteStream(() => {
    if (isGiven) throw new Exhausted();
    isGiven = true;
    return bytes;
  });
}
