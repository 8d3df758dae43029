import { createHash } from 'node:crypto';
import type { ErrorCode } from '../../../src/core/errors.ts';
import type { DataEndpoint, EntropyMode } from '../../../src/core/vocabulary.ts';
import type { ValueRequest } from '../../../src/values/value-request.ts';
import { factsOf, type Role } from './roles.ts';

/**
 * What the specification says of a data request, written down once more and as plainly as possible: which refusal, or
 * which values. It shares nothing with the service but the names of things, so where both are wrong in the same way it
 * was written wrong twice.
 */
export interface DataAsk {
  readonly endpoint: DataEndpoint;
  /** After `?`, as it is sent: each character a byte. */
  readonly query: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface Asked {
  readonly endpoint: DataEndpoint;
  readonly values: ValueRequest;
  /** Members of `data` beside values and metadata. */
  readonly echoed: Readonly<Record<string, unknown>>;
  readonly mode: EntropyMode;
  readonly dryRun: boolean;
  /** What the request itself says of its form; else Accept decides. */
  readonly format?: Format;
  /** It says what the values are for: the answer says it again. */
  readonly hasLabel: boolean;
  /** Some names in the request mean nothing. */
  readonly hasIgnored: boolean;
}

const FORMATS = ['json', 'plain', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

function formatOf(text: string | undefined): Format | undefined {
  return text === undefined ? undefined : (FORMATS.find((each) => each === text) ?? refuse('invalid_format'));
}

export type Outcome = { readonly refused: ErrorCode } | { readonly asked: Asked };

class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

function refuse(code: ErrorCode): never {
  throw new Refusal(code);
}

/** Of a request with a valid key and room in its limits. */
export function outcomeOf(ask: DataAsk, role: Role, method = 'GET'): Outcome {
  const { modes, defaultMode, scopes } = factsOf(role);
  const scope = ask.endpoint === 'batch' ? 'entropy:batch' : 'entropy:read';
  if (ask.body.length > 65_536) return { refused: 'payload_too_large' };
  try {
    if (scopes !== undefined && !scopes.includes(scope)) refuse('auth_scope');
    const isBatch = ask.endpoint === 'batch';
    // nothing here writes the items of a POST into a body
    if (method === 'POST' && !isBatch) refuse('unsupported_media_type');
    const { mode = defaultMode, ...rest } = isBatch ? batch(ask) : get(ask);
    if (!modes.includes(mode)) refuse('mode_not_allowed');
    return { asked: { endpoint: ask.endpoint, mode, ...rest } };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.code };
    throw error;
  }
}

type Read = Omit<Asked, 'endpoint' | 'mode'> & { readonly mode?: EntropyMode };

// Queries (specification, Endpoints; decisions, Requests)

const MEMBERS: Readonly<Record<DataEndpoint, readonly string[]>> = {
  integers: ['count', 'min', 'max', 'unique', 'sort'],
  bytes: ['count', 'encoding'],
  floats: ['count', 'precision'],
  uuid: ['count'],
  bitstring: ['length'],
  shuffle: ['items'],
  batch: [],
  sample: ['count', 'items'],
  weighted: ['count', 'items', 'weights'],
  strings: ['count', 'length', 'alphabet'],
  sequences: ['count', 'length', 'min', 'max', 'unique', 'sort'],
  permutations: ['count', 'length'],
  gaussians: ['count', 'mean', 'stddev', 'digits'],
};
const LABEL = ['purpose', 'user_data', 'user_data_sha256', 'public'];
const COMMON = ['entropy_mode', 'dry_run', 'format', ...LABEL];

interface Query {
  /** By name, still percent-encoded. */
  readonly given: ReadonlyMap<string, string>;
  readonly hasIgnored: boolean;
}

function queryOf(text: string, names: readonly string[]): Query {
  const given = new Map<string, string>();
  let hasIgnored = false;
  for (const part of text.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const rawName = equals < 0 ? part : part.slice(0, equals);
    const name = decoded(rawName) ?? rawName;
    if (!names.includes(name)) hasIgnored ||= rawName !== '';
    else if (given.has(name)) refuse('duplicate_parameter');
    else given.set(name, equals < 0 ? '' : part.slice(equals + 1));
  }
  return { given, hasIgnored };
}

/** Percent-decoded UTF-8; undefined for what is not, and for bytes that must be escaped (RFC 3986 §2). */
function decoded(raw: string): string | undefined {
  const bytes: number[] = [];
  for (let at = 0; at < raw.length; at++) {
    const code = raw.charCodeAt(at);
    if (code <= 0x20 || code >= 0x7f) return undefined;
    if (raw[at] === '+') bytes.push(0x20);
    else if (raw[at] !== '%') bytes.push(code);
    else if (/^[0-9a-f]{2}$/i.test(raw.slice(at + 1, at + 3))) {
      bytes.push(Number.parseInt(raw.slice(at + 1, at + 3), 16));
      at += 2;
    } else return undefined;
  }
  return utf8(new Uint8Array(bytes), true);
}

function utf8(bytes: Uint8Array, ignoreBOM: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Reads parameters wherever they stand: what was left out is undefined, and what is no value of its kind is refused. */
interface Reader {
  readonly text: (name: string, code: ErrorCode) => string | undefined;
  readonly truth: (name: string) => boolean | undefined;
  readonly whole: (name: string, min: number, max: number, code: ErrorCode) => number | undefined;
  readonly decimal: (name: string, min: number, max: number, code: ErrorCode) => number | undefined;
  /** A list must be there. */
  readonly wholes: (name: string, min: number, max: number, lengths: Lengths, code: ErrorCode) => number[];
  readonly items: () => string[];
}

function queryReader(given: Query['given']): Reader {
  const text = (name: string, code: ErrorCode): string | undefined => {
    const value = given.get(name);
    return value === undefined ? undefined : (decoded(value) ?? refuse(code));
  };
  return {
    text,
    truth: (name) => truth(text(name, 'invalid_boolean')),
    whole(name, min, max, code) {
      const value = text(name, code);
      return value === undefined ? undefined : wholeOf(value, min, max, code);
    },
    decimal: (name, min, max, code) => decimal(text(name, code), min, max, code),
    wholes(name, min, max, lengths, code) {
      const parts = (text(name, code) ?? refuse(code)).split(',');
      if (parts.length < lengths.least || parts.length > lengths.most) refuse(code);
      return parts.map((part) => wholeOf(part, min, max, code));
    },
    items() {
      const text = given.get('items') ?? '';
      const read = text.includes(',')
        ? text.split(',').map((item) => decoded(item) ?? refuse('invalid_items'))
        : (decoded(text) ?? refuse('invalid_items')).split(',');
      return read.length < 2 || read.length > 10_000 ? refuse('invalid_items') : read;
    },
  };
}

function get({ endpoint, query }: DataAsk): Read {
  const { given, hasIgnored } = queryOf(query, [...MEMBERS[endpoint], ...COMMON]);
  // of bytes, format is another name of encoding where it names no form
  const isForm = FORMATS.some((each) => each === decoded(given.get('format') ?? ''));
  const isAlias = endpoint === 'bytes' && given.has('format') && !isForm;
  const read = queryReader(given);
  const count = () => read.whole('count', 1, 10_000, 'invalid_count') ?? 1;
  const values = (): Pick<Read, 'values' | 'echoed'> => {
    switch (endpoint) {
      case 'bytes': {
        const count = read.whole('count', 1, 1_024, 'invalid_count') ?? 16;
        const encoding = encodingOf(read, given.has('encoding') || !isAlias ? 'encoding' : 'format');
        const echoed = { count, encoding, bits: 8 * count };
        return { values: { kind: 'bytes', count: 1, length: count, encoding, single: true }, echoed };
      }
      case 'bitstring': {
        const length = read.whole('length', 1, 100_000, 'invalid_length') ?? 128;
        return { values: { kind: 'bitstring', length }, echoed: { length } };
      }
      case 'shuffle':
      case 'batch': {
        const values = { kind: 'shuffle', items: read.items() } as const;
        return { values, echoed: { count: values.items.length } };
      }
      default:
        return listOf(endpoint, count(), read);
    }
  };
  const asked = {
    ...values(),
    ...commonOf(read, !isAlias),
    hasIgnored: hasIgnored || (isAlias && given.has('encoding')),
  };
  assertRelated(asked.values, 10_000);
  return asked;
}

function encodingOf({ text }: Reader, name = 'encoding'): 'hex' | 'base64' {
  return word(text(name, 'invalid_encoding'), ['hex', 'base64'], 'invalid_encoding') ?? 'hex';
}

function sortOf({ text }: Reader): Sequences['sort'] {
  return word(text('sort', 'invalid_sort'), ['none', 'ascending', 'descending'], 'invalid_sort') ?? 'none';
}

/** `count` values of a kind that queries and batches have, and what an answer to a query says of them again. */
/** Of the list that was drawn from. */
function hashed(items: readonly string[]): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(items)).digest('hex')}`;
}

function listOf(
  kind: Exclude<DataEndpoint, 'bytes' | 'bitstring' | 'shuffle' | 'batch'>,
  count: number,
  read: Reader,
): Pick<Read, 'values' | 'echoed'> {
  const few = { least: 1, most: 64 };
  switch (kind) {
    case 'integers': {
      const { min, max } = range((name) => read.whole(name, -MAX, MAX, 'invalid_range'));
      const unique = read.truth('unique') ?? false;
      if (unique && BigInt(max) - BigInt(min) + 1n < BigInt(count)) refuse('unique_impossible');
      const echoed = { count, min, max, unique, sort: sortOf(read) };
      return { values: { kind, ...echoed }, echoed };
    }
    case 'floats': {
      const echoed = { count, precision: read.whole('precision', 1, 15, 'invalid_precision') ?? null };
      return { values: { kind, ...echoed }, echoed };
    }
    case 'uuid':
      return { values: { kind, count }, echoed: { count, version: 4 } };
    case 'sample': {
      const items = read.items();
      return {
        values: { kind, count, items },
        echoed: { count, list_sha256: hashed(items), of: items.length },
      };
    }
    case 'weighted': {
      const items = read.items();
      const weights = read.wholes('weights', 1, MAX, { least: 2, most: 10_000 }, 'invalid_weights');
      return {
        values: { kind, count, items, weights },
        echoed: { count, list_sha256: hashed(items), weights },
      };
    }
    case 'strings': {
      const length = read.whole('length', 1, 128, 'invalid_length') ?? 16;
      const letters = alphabet(read.text('alphabet', 'invalid_alphabet'));
      return {
        values: { kind, count, length, alphabet: [...letters] },
        echoed: { count, length, alphabet: letters },
      };
    }
    case 'sequences': {
      const echoed = {
        count,
        length: read.wholes('length', 1, 10_000, few, 'invalid_length'),
        min: read.wholes('min', -MAX, MAX, few, 'invalid_range'),
        max: read.wholes('max', -MAX, MAX, few, 'invalid_range'),
        unique: read.truth('unique') ?? false,
        sort: sortOf(read),
      };
      return { values: sequences(echoed), echoed };
    }
    case 'permutations': {
      const length = read.whole('length', 2, 10_000, 'invalid_length') ?? refuse('invalid_length');
      return { values: { kind, count, length }, echoed: { count, length } };
    }
    case 'gaussians': {
      const echoed = {
        count,
        mean: read.decimal('mean', -1e6, 1e6, 'invalid_mean') ?? 0,
        stddev: read.decimal('stddev', 1e-9, 1e6, 'invalid_stddev') ?? 1,
        digits: read.whole('digits', 2, 14, 'invalid_digits') ?? 14,
      };
      return { values: { kind, ...echoed }, echoed };
    }
  }
}

type Common = Pick<Read, 'mode' | 'dryRun' | 'format' | 'hasLabel'>;

function commonOf(read: Pick<Reader, 'text' | 'truth'>, hasFormat: boolean): Common {
  const chosen = mode(read.text('entropy_mode', 'invalid_entropy_mode'));
  const dryRun = read.truth('dry_run') ?? false;
  const format = hasFormat ? formatOf(read.text('format', 'invalid_format')) : undefined;
  return { ...asOne('mode', chosen), dryRun, ...asOne('format', format), hasLabel: isLabelled(read) };
}

/** Refuses what is no label; whether the request has one. */
function isLabelled({ text, truth }: Pick<Reader, 'text' | 'truth'>): boolean {
  const purpose = text('purpose', 'invalid_purpose');
  if (purpose !== undefined && !isText(purpose, 100, /[\p{Cc}\p{Cs}\u2028\u2029]/u))
    refuse('invalid_purpose');
  const userData = text('user_data', 'invalid_user_data');
  if (userData !== undefined && !isText(userData, 1_000, /\p{Cs}/u)) refuse('invalid_user_data');
  const digest = text('user_data_sha256', 'invalid_user_data');
  if (digest !== undefined && !/^[0-9a-f]{64}$/.test(digest)) refuse('invalid_user_data');
  if (userData !== undefined && digest !== undefined) refuse('invalid_user_data');
  truth('public');
  return [purpose, userData, digest].some((each) => each !== undefined);
}

function isText(text: string, most: number, forbidden: RegExp): boolean {
  const length = [...text].length;
  return length >= 1 && length <= most && !forbidden.test(text);
}

/** Bounds of the length of a list. */
interface Lengths {
  readonly least: number;
  readonly most: number;
}

function alphabet(text: string | undefined): string {
  if (text === undefined) return 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const isInBounds = [...text].length >= 2 && [...text].length <= 1_000;
  return isInBounds && text.isWellFormed() ? text : refuse('invalid_alphabet');
}

type Sequences = Extract<ValueRequest, { kind: 'sequences' }>;

function sequences(
  each: Readonly<Record<'length' | 'min' | 'max', readonly number[]>> & {
    readonly count: number;
    readonly unique: boolean;
    readonly sort: Sequences['sort'];
  },
): Sequences {
  const { count, length, min, max, unique, sort } = each;
  const rows = Math.max(length.length, min.length, max.length);
  if (Math.min(length.length, min.length, max.length) < rows) {
    // told apart from the rest once everything is read
    return { kind: 'sequences', count, ranges: [], sort };
  }
  return {
    kind: 'sequences',
    count,
    ranges: length.map((each, i) => ({ length: each, min: min[i], max: max[i], unique })),
    sort,
  };
}

/** What the parameters of a list must be to each other; `numbersMax` is how many numbers a request may draw. */
function assertRelated(values: ValueRequest, numbersMax: number): void {
  switch (values.kind) {
    case 'sample':
      if (values.count > values.items.length) refuse('unique_impossible');
      return;
    case 'weighted': {
      const { count, items, weights } = values;
      if (weights.length !== items.length) refuse('invalid_weights');
      if (weights.reduce((sum, weight) => sum + BigInt(weight), 0n) > 2n ** 53n) refuse('invalid_weights');
      const longest = Math.max(...items.map(jsonBytes));
      if (2 + count * (1 + longest) + 4_096 > 16 * 1024 * 1024) refuse('invalid_count');
      return;
    }
    case 'strings':
      if (values.alphabet.some((each, i) => values.alphabet.indexOf(each) !== i)) refuse('invalid_alphabet');
      return;
    case 'sequences': {
      const { count, ranges } = values;
      if (ranges.length === 0) refuse('invalid_sequences');
      let numbers = 0;
      for (const { length, min, max, unique } of ranges) {
        if (min >= max || BigInt(max) - BigInt(min) > BigInt(MAX)) refuse('invalid_range');
        if (unique && BigInt(max) - BigInt(min) + 1n < BigInt(length)) refuse('unique_impossible');
        numbers += count * length;
      }
      if (numbers > numbersMax) refuse('invalid_count');
      return;
    }
    case 'permutations':
      if (values.count * values.length > numbersMax) refuse('invalid_count');
  }
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

// Values

const MAX = 2 ** 53 - 1;

function wholeOf(text: string, min: number, max: number, code: ErrorCode): number {
  if (!/^-?[0-9]+$/.test(text)) refuse(code);
  // no number of the service has so many digits that are not zeros in front
  const digits = text.replace(/^(-?)0+(?=[0-9])/, '$1');
  if (digits.length > 20) refuse(code);
  const exact = BigInt(digits);
  if (exact < BigInt(min) || exact > BigInt(max)) refuse(code);
  return Number(exact);
}

function decimal(text: string | undefined, min: number, max: number, code: ErrorCode): number | undefined {
  if (text === undefined) return undefined;
  const isDecimal = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);
  return isDecimal ? within(Number(text), min, max, code) : refuse(code);
}

function within(value: unknown, min: number, max: number, code: ErrorCode): number {
  if (typeof value !== 'number' || !(value >= min && value <= max)) refuse(code);
  return value === 0 ? 0 : value;
}

function range(read: (name: 'min' | 'max') => number | undefined): { min: number; max: number } {
  const min = read('min') ?? 0;
  const max = read('max') ?? 100;
  if (min >= max || BigInt(max) - BigInt(min) > BigInt(MAX)) refuse('invalid_range');
  return { min, max };
}

function truth(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  return refuse('invalid_boolean');
}

function word<const W extends string>(
  text: string | undefined,
  words: readonly W[],
  code: ErrorCode,
): W | undefined {
  if (text === undefined) return undefined;
  return words.find((each) => each === text) ?? refuse(code);
}

function mode(text: string | undefined): EntropyMode | undefined {
  if (text === undefined) return undefined;
  switch (text.toLowerCase()) {
    case 'quantum-seeded':
    case 'hybrid':
      return 'quantum-seeded';
    case 'pure':
      return 'pure';
    case 'csprng':
      return 'csprng';
    default:
      return refuse('invalid_entropy_mode');
  }
}

function asOne<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [P in K]?: V };
}

// The body of a batch

function batch({ query, contentType, body }: DataAsk): Read {
  if (!/^application\/json[\t ]*(;|$)/i.test(contentType)) refuse('unsupported_media_type');
  const members = objectOf(body);
  const { given, hasIgnored } = queryOf(query, COMMON);
  if (Object.keys(members).some((name) => !BATCH_MEMBERS.includes(name))) refuse('unknown_parameter');
  const own = jsonReader(members);
  const inQuery = queryReader(given);
  const type = TYPES.find((each) => each === members['type']) ?? refuse('invalid_type');
  const count = own.whole('count', 1, 100_000, 'invalid_count') ?? refuse('invalid_count');
  const params = Object.hasOwn(members, 'params') ? members['params'] : {};
  if (!isObject(params)) refuse('invalid_params');
  if (Object.keys(params).some((name) => !paramsOf(type).includes(name))) refuse('unknown_parameter');
  const { values, echoed } = valuesOf(type, count, jsonReader(params));
  assertRelated(values, 100_000);
  if (leastTextBytes(values) > 64 * 1024 * 1024) refuse('invalid_params');
  const has = (name: string) => Object.hasOwn(members, name);
  const common = commonOf(
    {
      text: (name, code) => (has(name) ? own : inQuery).text(name, code),
      truth: (name) => (has(name) ? own : inQuery).truth(name),
    },
    true,
  );
  const overridden = COMMON.some((name) => has(name) && given.has(name));
  return {
    values,
    echoed: { count, type, params: echoed },
    ...common,
    hasIgnored: hasIgnored || overridden,
  };
}

function valuesOf(type: BatchType, count: number, read: Reader): Pick<Read, 'values' | 'echoed'> {
  if (type !== 'bytes') {
    const { values, echoed } = listOf(type, count, read);
    const { count: _, version: __, ...params } = echoed;
    return { values, echoed: params };
  }
  const encoding = encodingOf(read);
  const length = read.whole('length', 1, 1_024, 'invalid_length') ?? 16;
  return {
    values: { kind: 'bytes', count, length, encoding, single: false },
    echoed: { encoding, length },
  };
}

const TYPES = [
  'integers',
  'floats',
  'bytes',
  'uuid',
  'sample',
  'weighted',
  'strings',
  'sequences',
  'permutations',
  'gaussians',
] as const;
type BatchType = (typeof TYPES)[number];
const BATCH_MEMBERS = ['type', 'count', 'params', ...COMMON];
/** A batch names its count beside `params`, and the length of byte strings in it. */
const paramsOf = (type: BatchType): readonly string[] =>
  type === 'bytes' ? ['encoding', 'length'] : MEMBERS[type].filter((name) => name !== 'count');

type JsonObject = Readonly<Record<string, unknown>>;

function objectOf(body: Uint8Array): JsonObject {
  const text = utf8(body, false);
  if (text === undefined) refuse('invalid_json');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) refuse('invalid_json');
    throw error;
  }
  if (!isObject(value)) refuse('invalid_json');
  if (colonsOutsideStrings(text) > membersIn(value)) refuse('duplicate_parameter');
  return value;
}

/** Every member of valid JSON has one colon, and JSON.parse drops a name's earlier ones. */
function colonsOutsideStrings(text: string): number {
  let colons = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    if (inString && text[at] === '\\') at++;
    else if (text[at] === '"') inString = !inString;
    else if (text[at] === ':' && !inString) colons++;
  }
  return colons;
}

function membersIn(value: unknown): number {
  let members = 0;
  for (const left: unknown[] = [value]; left.length > 0; ) {
    const next = left.pop();
    if (isObject(next)) members += Object.keys(next).length;
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) left.push(inner);
  }
  return members;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function jsonReader(object: JsonObject): Reader {
  /** The member as `check` has it, if there is one. */
  const given = <T>(name: string, check: (value: unknown) => T): T | undefined =>
    Object.hasOwn(object, name) ? check(object[name]) : undefined;
  const whole = (value: unknown, min: number, max: number, code: ErrorCode): number =>
    Number.isInteger(value) ? within(value, min, max, code) : refuse(code);
  return {
    text: (name, code) => given(name, (value) => (typeof value === 'string' ? value : refuse(code))),
    truth: (name) => given(name, (value) => (typeof value === 'boolean' ? value : refuse('invalid_boolean'))),
    whole(name, min, max, code) {
      const isLeftOut = name === 'precision' && object[name] === null; // which stands for all bits
      return isLeftOut ? undefined : given(name, (value) => whole(value, min, max, code));
    },
    decimal: (name, min, max, code) => given(name, (value) => within(value, min, max, code)),
    wholes(name, min, max, lengths, code) {
      const value = given(name, (each) => each);
      if (!Array.isArray(value) || value.length < lengths.least || value.length > lengths.most) refuse(code);
      return value.map((each) => whole(each, min, max, code));
    },
    items() {
      const value = given('items', (each) => each);
      if (!Array.isArray(value) || value.length < 2 || value.length > 10_000) refuse('invalid_items');
      const isText = (item: unknown) => typeof item === 'string' && item.isWellFormed();
      return value.every(isText) ? value : refuse('invalid_items');
    },
  };
}

/** What the values take in JSON at least: only bytes and strings can come near the limit of a reply. */
function leastTextBytes(values: ValueRequest): number {
  if (values.kind === 'strings') {
    const longest = Math.max(...values.alphabet.map(jsonBytes)) - 2;
    return values.count * (3 + values.length * longest) + 4_098;
  }
  if (values.kind !== 'bytes') return 0;
  const text = values.encoding === 'hex' ? 2 * values.length : 4 * Math.ceil(values.length / 3);
  return values.count * (text + 3);
}
