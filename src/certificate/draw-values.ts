import { chacha20 } from '@noble/ciphers/chacha.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { gaussians } from './draw-gaussians.ts';
import {
  ByteStream,
  floats,
  type Integers,
  integers,
  type Order,
  permutation,
  sample,
  strings,
  uuid,
  weighted,
} from './draw-samplers.ts';
import { member, show, text } from './members.ts';

/**
 * The values of a committed draw, from what was committed to and what was known later (docs/draws.md). It is the verifier's
 * own way to them: nothing here is shared with the service that drew. Runs in browsers.
 */
export interface DrawKeyParts {
  /** The 32 bytes that the service committed to. */
  readonly secret: Uint8Array;
  /** What the caller gave; empty without. */
  readonly nonce: Uint8Array;
  /** Of the beacon's round, 32 bytes; empty without. */
  readonly randomness: Uint8Array;
  /** SHA-256 of the statement. */
  readonly statementDigest: Uint8Array;
}

const INFO = new TextEncoder().encode('qrn draw v1');
const KEY_BYTES = 32;
const CHUNK_BYTES = 4_096;
const BLOCK_BYTES = 64;

/** HKDF-SHA-256 without salt over the parts, each behind its length in four bytes, big-endian. */
export function drawKey({ secret, nonce, randomness, statementDigest }: DrawKeyParts): Uint8Array {
  const parts = [secret, nonce, randomness, statementDigest];
  const joined = new Uint8Array(parts.reduce((size, part) => size + 4 + part.length, 0));
  let at = 0;
  for (const part of parts) {
    new DataView(joined.buffer).setUint32(at, part.length);
    joined.set(part, at + 4);
    at += 4 + part.length;
  }
  return hkdf(sha256, joined, new Uint8Array(0), INFO, KEY_BYTES);
}

/** The bytes that values are made of: ChaCha20 (RFC 8439) of zeros, with a nonce of zeros and the counter from 0. */
export function drawStream(key: Uint8Array): ByteStream {
  let counter = 0;
  return new ByteStream(() => {
    const bytes = chacha20(key, new Uint8Array(12), new Uint8Array(CHUNK_BYTES), undefined, counter);
    counter += CHUNK_BYTES / BLOCK_BYTES;
    return bytes;
  });
}

/** What the request of a statement asks for; a text says what is wrong with it. */
export function drawnValues(request: unknown, bytes: ByteStream): readonly unknown[] | string {
  const kind = text(member(request, 'kind'));
  const draw = kind !== undefined && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (draw === undefined) return `there is no kind ${show(kind)} of values`;
  return draw(new Members(request), bytes) ?? `its members are not those of ${kind}`;
}

/** A draw has at most so many values, and they are made of at most so many numbers: more would hold up whoever checks. */
const NUMBERS_MAX = 100_000;
/** A weighted pick looks at one item after the other. */
const STEPS_MAX = 2 ** 28;
const GAUSSIANS_MAX = 10_000;

/** Gives undefined for a request that nothing can be drawn with. */
type Kind = (request: Members, bytes: ByteStream) => readonly unknown[] | undefined;

const KINDS: Readonly<Record<string, Kind>> = {
  integers(request, bytes) {
    const range = rangeOf(request, request.whole('count'));
    return range === undefined ? undefined : integers({ ...range, sort: request.order() }, bytes);
  },
  floats(request, bytes) {
    const [count, precision] = [request.whole('count'), request.get('precision')];
    if (count === 0 || (precision !== null && !isWhole(precision, 1, 15))) return undefined;
    return floats(count, precision, bytes);
  },
  bytes(request, bytes) {
    const [count, length] = [request.whole('count'), request.whole('length', 1_024)];
    const encoding = request.get('encoding');
    if (count === 0 || length === 0 || count * length > NUMBERS_MAX) return undefined;
    if (encoding !== 'hex' && encoding !== 'base64') return undefined;
    return times(count, () => {
      const value = bytes.take(length);
      return encoding === 'hex' ? bytesToHex(value) : btoa(String.fromCharCode(...value));
    });
  },
  uuid(request, bytes) {
    const count = request.whole('count');
    return count === 0 ? undefined : times(count, () => uuid(bytes.take(16)));
  },
  sample(request, bytes) {
    const [count, items] = [request.whole('count'), request.texts('items')];
    if (count === 0 || items === undefined || count > items.length) return undefined;
    return sample(items, count, bytes);
  },
  weighted(request, bytes) {
    const [count, items, weights] = [request.whole('count'), request.texts('items'), request.get('weights')];
    if (count === 0 || items === undefined || !Array.isArray(weights)) return undefined;
    if (count * items.length > STEPS_MAX) return undefined;
    const isFit = weights.length === items.length && weights.every((each) => isWhole(each, 1, 2 ** 53));
    if (!isFit || weights.reduce((sum, weight) => sum + BigInt(weight), 0n) > 2n ** 53n) return undefined;
    return weighted(items, weights, count, bytes);
  },
  strings(request, bytes) {
    const [count, length] = [request.whole('count'), request.whole('length', 128)];
    const alphabet = request.texts('alphabet');
    if (count === 0 || length === 0 || count * length > NUMBERS_MAX || alphabet === undefined)
      return undefined;
    return new Set(alphabet).size < alphabet.length ? undefined : strings(count, length, alphabet, bytes);
  },
  sequences(request, bytes) {
    const [count, given, sort] = [request.whole('count'), request.get('ranges'), request.order()];
    if (count === 0 || !Array.isArray(given) || given.length === 0) return undefined;
    const ranges: Omit<Integers, 'sort'>[] = [];
    for (const each of given) {
      const members = new Members(each);
      const range = rangeOf(members, members.whole('length'));
      if (range === undefined) return undefined;
      ranges.push(range);
    }
    const numbers = ranges.reduce((sum, range) => sum + range.count, 0);
    if (count * numbers > NUMBERS_MAX) return undefined;
    return times(count, () => ranges.map((range) => integers({ ...range, sort }, bytes)));
  },
  permutations(request, bytes) {
    const [count, length] = [request.whole('count'), request.whole('length', 10_000)];
    if (count === 0 || length === 0 || count * length > NUMBERS_MAX) return undefined;
    return times(count, () => permutation(length, bytes));
  },
  gaussians(request, bytes) {
    const [count, digits] = [request.whole('count', GAUSSIANS_MAX), request.whole('digits', 14)];
    const [mean, stddev] = [request.get('mean'), request.get('stddev')];
    if (count === 0 || digits < 2 || typeof mean !== 'number' || typeof stddev !== 'number') return undefined;
    if (!(Math.abs(mean) <= 1e6 && stddev >= 1e-9 && stddev <= 1e6)) return undefined;
    return gaussians(count, { mean, stddev, digits }, bytes);
  },
};

/** At most 2^53 numbers to draw from and, where none comes twice, at least as many as are drawn. */
function rangeOf(request: Members, count: number): Omit<Integers, 'sort'> | undefined {
  const [min, max, unique] = [request.get('min'), request.get('max'), request.get('unique')];
  if (typeof unique !== 'boolean') return undefined;
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || count === 0) return undefined;
  const range = { count, min: Number(min), max: Number(max), unique };
  // compared without the 1: 2^53 + 1 is not a double, and a span beyond 2^53 is one that no word is accepted for
  const reach = range.max - range.min;
  return reach >= 0 && reach < 2 ** 53 && (!unique || reach + 1 >= count) ? range : undefined;
}

/** The members of a request that somebody else wrote. */
class Members {
  readonly #given: unknown;

  constructor(given: unknown) {
    this.#given = given;
  }

  get(name: string): unknown {
    return member(this.#given, name);
  }

  /** A whole number from 1 on; 0 for anything else. */
  whole(name: string, max = NUMBERS_MAX): number {
    const value = this.get(name);
    return isWhole(value, 1, max) ? value : 0;
  }

  order(): Order {
    const value = this.get('sort');
    return value === 'ascending' || value === 'descending' ? value : 'none';
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.get(name);
    const isList = Array.isArray(value) && value.length >= 1 && value.length <= NUMBERS_MAX;
    return isList && value.every((each) => typeof each === 'string') ? value : undefined;
  }
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
