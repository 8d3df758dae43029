import { ApiError, type ErrorCode } from '../core/errors.ts';
import { grouped } from '../core/figures.ts';

/*
 * Parameters as data. One definition is read by the parser here, the OpenAPI document, the docs and the
 * tests. Decisions where the specification is silent: `-0` is 0 and leading zeros are allowed, since both are
 * an optional minus and digits; `+` in a query is a blank, since every form encoder writes one so; names and
 * values are percent-decoded, so `%63ount` is `count`; names are case-sensitive; a name without `=` has the
 * empty value.
 */

export type ParameterValue =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly number[]
  | null
  | undefined;

/** What was read so far, by parameter name. */
export type ReadValues = Readonly<Record<string, ParameterValue>>;

interface ParameterBase {
  readonly name: string;
  readonly required?: boolean;
  /** What a malformed or missing value answers. */
  readonly error: ErrorCode;
  readonly description: string;
  /** Relations to parameters before this one; runs once this one is read. Throws an ApiError. */
  readonly check?: (values: ReadValues) => void;
}

export interface IntegerParameter extends ParameterBase {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
  /** null: absence is itself a choice, and is answered as null. */
  readonly default?: number | null;
}

export interface BooleanParameter extends ParameterBase {
  readonly kind: 'boolean';
  readonly default?: boolean;
}

export interface ChoiceParameter extends ParameterBase {
  readonly kind: 'choice';
  /** As they are answered. */
  readonly values: readonly string[];
  /** The value that a text stands for, where a value has several spellings. */
  readonly canonical?: (text: string) => string;
  readonly default?: string;
}

/**
 * A comma-separated list of percent-encoded items. It is split before it is decoded, so that %2C is a comma
 * in an item. A value without a literal comma is split after it is decoded: form encoders (curl
 * --data-urlencode, URLSearchParams, Python) encode the separators too.
 */
interface ItemsParameter extends ParameterBase {
  readonly kind: 'items';
  /** Bounds of the number of items. */
  readonly min: number;
  readonly max: number;
}

interface TextParameter extends ParameterBase {
  readonly kind: 'text';
  readonly pattern: RegExp;
  /** What the text is to be, for a refusal by the parameter's name; the text of the error's code without it. */
  readonly form?: string;
  readonly default?: string;
}

/** A decimal number, as JSON writes one. */
interface NumberParameter extends ParameterBase {
  readonly kind: 'number';
  readonly min: number;
  readonly max: number;
  readonly default?: number;
}

/** Whole numbers with commas between them; in a body a list of numbers. */
interface IntegerListParameter extends ParameterBase {
  readonly kind: 'integer-list';
  /** Bounds of each number. */
  readonly min: number;
  readonly max: number;
  /** Bounds of how many there are. */
  readonly lengthMin: number;
  readonly lengthMax: number;
}

export type ParameterDefinition =
  | IntegerParameter
  | BooleanParameter
  | ChoiceParameter
  | ItemsParameter
  | IntegerListParameter
  | NumberParameter
  | TextParameter;

type GivenValue<P> = P extends { kind: 'integer' | 'number' }
  ? number
  : P extends { kind: 'boolean' }
    ? boolean
    : P extends { kind: 'choice'; values: readonly (infer Value)[] }
      ? Value
      : P extends { kind: 'items' }
        ? readonly string[]
        : P extends { kind: 'integer-list' }
          ? readonly number[]
          : string;

type AbsentValue<P> = P extends { default: infer Value }
  ? Value extends null
    ? null
    : never
  : P extends { required: true }
    ? never
    : undefined;

/** The values of a list of definitions, by name. */
export type ValuesOf<Definitions extends readonly ParameterDefinition[]> = {
  readonly [P in Definitions[number] as P['name']]: GivenValue<P> | AbsentValue<P>;
};

const NOT_VISIBLE_ASCII = /[^\x21-\x7e]/;

/**
 * Reads every parameter in the declared order; the first failure is the answer. `given` holds what came, by name, as JSON.
 * `prefix` stands before names in messages, e.g. `params.`. Checks also see the values that are `known` already.
 */
export function readParameters<const Definitions extends readonly ParameterDefinition[]>(
  definitions: Definitions,
  given: ReadonlyMap<string, unknown>,
  prefix = '',
  known: ReadValues = {},
): ValuesOf<Definitions> {
  const values: Record<string, ParameterValue> = { ...known };
  for (const definition of definitions) {
    const { name } = definition;
    if (given.has(name)) {
      const value = readValue(definition, given.get(name));
      if (value === undefined) throw refusal(definition, prefix);
      values[name] = value;
    } else if (definition.required === true) {
      throw refusal(definition, prefix);
    } else {
      values[name] = 'default' in definition ? definition.default : undefined;
    }
    definition.check?.(values);
  }
  return values as ValuesOf<Definitions>;
}

/** A kind of parameters: what all of that kind have in common. */
interface ParameterKind<P> {
  /** Turns the text of a query into the JSON that a body would have; undefined for a text that is no such value. */
  readonly jsonOf: (text: string) => unknown;
  /** Reads the value from JSON; a string never stands for a number or a boolean. Undefined for what the parameter does not allow. */
  readonly read: (definition: P, json: unknown) => ParameterValue;
  /** What is told of a value that is missing or malformed: its details, and what to give, where the error's own text does not say it. */
  readonly told: (definition: P) => readonly [details: object, form?: string | undefined];
}

const KINDS: {
  readonly [K in ParameterDefinition['kind']]: ParameterKind<Extract<ParameterDefinition, { kind: K }>>;
} = {
  integer: {
    jsonOf: integerOf,
    read: (definition, json) =>
      json === null && definition.default === null ? null : wholeWithin(definition, json),
    // a bound of a range is explained by the table's text, which tells how the two are related
    told: ({ min, max, error }) => [
      { min, max },
      error === 'invalid_range' ? undefined : `a whole number from ${grouped(min)} to ${grouped(max)}`,
    ],
  },
  number: {
    jsonOf: (text) => (/^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text) ? Number(text) : undefined),
    read: (definition, json) => (typeof json === 'number' ? within(definition, json) : undefined),
    told: ({ min, max }) => {
      const [from, to] = [min, max].map((each) => each.toLocaleString('en-US', { maximumFractionDigits: 9 }));
      return [{ min, max }, `a number from ${from} to ${to}`];
    },
  },
  boolean: {
    jsonOf: (text) => BOOLEANS.get(text),
    read: (_, json) => (typeof json === 'boolean' ? json : undefined),
    told: () => [{}, 'true, false, 1 or 0'],
  },
  choice: {
    jsonOf: (text) => text,
    read: ({ values, canonical }, json) => {
      if (typeof json !== 'string') return undefined;
      const value = canonical?.(json) ?? json;
      return values.includes(value) ? value : undefined;
    },
    told: ({ values }) => [{ allowed: values }, `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`],
  },
  text: {
    jsonOf: (text) => text,
    read: ({ pattern }, json) => (typeof json === 'string' && pattern.test(json) ? json : undefined),
    told: ({ form }) => [{}, form],
  },
  items: {
    jsonOf: (text) => text.split(','),
    read: ({ min, max }, json) => (isListOfTexts(json) && isWithin(json.length, min, max) ? json : undefined),
    told: ({ min, max }) => [{}, `${grouped(min)} to ${grouped(max)} ${ITEMS_FORM}`],
  },
  'integer-list': {
    jsonOf: (text) => text.split(',').map(integerOf),
    read: (definition, json) => {
      if (!Array.isArray(json) || !isWithin(json.length, definition.lengthMin, definition.lengthMax))
        return undefined;
      const read = json.map((each) => wholeWithin(definition, each));
      return read.every((number) => number !== undefined) ? read : undefined;
    },
    told: ({ min, max, lengthMin, lengthMax }) => [
      { min, max, length_min: lengthMin, length_max: lengthMax },
      `${grouped(lengthMin)} to ${grouped(lengthMax)} whole numbers from ${grouped(min)} to ${grouped(max)}`,
    ],
  },
};

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
const ITEMS_FORM =
  'texts, as a list in a JSON body, or with commas between them and percent-encoded in a query';

function kindOf({ kind }: ParameterDefinition): ParameterKind<ParameterDefinition> {
  return KINDS[kind] as ParameterKind<ParameterDefinition>;
}

/** A parameter's value from JSON; undefined for what the parameter does not allow. */
export function readValue(definition: ParameterDefinition, json: unknown): ParameterValue {
  return kindOf(definition).read(definition, json);
}

/** The error that answers a missing or malformed value. */
function refusal(definition: ParameterDefinition, prefix: string): ApiError {
  const parameter = prefix + definition.name;
  const [details, form] = kindOf(definition).told(definition);
  return new ApiError(definition.error, {
    ...(form && { message: `Give ${parameter} as ${form}.` }),
    details: { parameter, ...details },
  });
}

/** The text of a query, still percent-encoded, as the JSON that a body would have; undefined when it is malformed. */
function jsonOf(definition: ParameterDefinition, raw: string): unknown {
  if (definition.kind === 'items' && raw.includes(',')) {
    const items = raw.split(',').map(percentDecoded);
    return items.includes(undefined) ? undefined : items;
  }
  const text = percentDecoded(raw);
  return text === undefined ? undefined : kindOf(definition).jsonOf(text);
}

function integerOf(text: string): number | undefined {
  return /^-?[0-9]+$/.test(text) ? Number(text) : undefined;
}

/** Text that has come through JSON may hold lone surrogates, which no UTF-8 can carry. */
function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item.isWellFormed());
}

function isWithin(length: number, min: number, max: number): boolean {
  return length >= min && length <= max;
}

type Bounds = Pick<NumberParameter, 'min' | 'max'>;

function wholeWithin(bounds: Bounds, value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? within(bounds, value as number) : undefined;
}

function within({ min, max }: Bounds, value: number): number | undefined {
  if (!isWithin(value, min, max)) return undefined;
  return value === 0 ? 0 : value; // -0 is 0
}

/**
 * A name or value of a query as text. Undefined for a malformed escape, for escapes that are not UTF-8, and
 * for bytes that must be escaped (RFC 3986 §2).
 */
function percentDecoded(raw: string): string | undefined {
  if (NOT_VISIBLE_ASCII.test(raw)) return undefined;
  const spaced = raw.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** The parameters that came, by name and as JSON, undefined for what is malformed; and the names that mean nothing. */
export interface SplitQuery {
  readonly given: ReadonlyMap<string, unknown>;
  readonly ignored: readonly string[];
}

/** X-Ignored-Parameters names at most so many, each at most so long: a query may be 64 KiB. */
const IGNORED_NAMES_MAX = 16;
const IGNORED_NAME_LENGTH_MAX = 64;

/**
 * The values of a raw query (without `?`). Throws the ApiError of the first failure: a repeated parameter before all, then each
 * parameter in the declared order, then, in a service that `isStrict`, the names that mean nothing.
 */
export function parseQuery<const Definitions extends readonly ParameterDefinition[]>(
  definitions: Definitions,
  rawQuery: string,
  isStrict = false,
): ValuesOf<Definitions> {
  const { given, ignored } = splitQuery(definitions, rawQuery);
  const values = readParameters(definitions, given);
  if (isStrict && ignored.length > 0) throw unknownParameters(ignored);
  return values;
}

/** Finds what was given, in one pass. Throws duplicate_parameter. */
export function splitQuery(definitions: readonly ParameterDefinition[], rawQuery: string): SplitQuery {
  const given = new Map<string, unknown>();
  const unknown = new Set<string>();
  for (let start = 0; start < rawQuery.length; ) {
    let end = rawQuery.indexOf('&', start);
    if (end < 0) end = rawQuery.length;
    const part = rawQuery.slice(start, end);
    start = end + 1;
    if (part === '') continue; // `&&`
    const equals = part.indexOf('=');
    const rawName = equals < 0 ? part : part.slice(0, equals);
    const raw = equals < 0 ? '' : part.slice(equals + 1);
    const name = percentDecoded(rawName) ?? rawName;
    const definition = definitions.find((each) => each.name === name);
    if (definition === undefined) unknown.add(rawName);
    else if (given.has(name)) throw duplicate(name);
    else given.set(name, jsonOf(definition, raw));
  }
  const ignored: string[] = [];
  for (const name of unknown) ignore(ignored, name);
  return { given, ignored };
}

/**
 * Adds a name to those that are reported as ignored. What is reported stands in a header, so only characters
 * of a token that are not list separators stay (RFC 9110 §5.6.2); others are percent-encoded.
 */
export function ignore(ignored: string[], name: string): void {
  if (ignored.length >= IGNORED_NAMES_MAX) return;
  const safe = name
    .slice(0, IGNORED_NAME_LENGTH_MAX)
    .toWellFormed()
    .replace(/[^0-9A-Za-z._~%-]/gu, (character) =>
      encodeURIComponent(character).replace(/[!'()*]/, hexEscape),
    )
    .slice(0, IGNORED_NAME_LENGTH_MAX);
  if (safe !== '' && !ignored.includes(safe)) ignored.push(safe);
}

function hexEscape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The check of a parameter that says in another way what the one before it says: a request gives one of them. */
export function notBoth(name: string, other: string, error: ErrorCode): (values: ReadValues) => void {
  return (values) => {
    if (values[name] !== undefined && values[other] !== undefined)
      throw new ApiError(error, { message: `Give ${name} or ${other}, not both.` });
  };
}

export function duplicate(name: string): ApiError {
  return new ApiError('duplicate_parameter', { message: `Give ${name} once.`, details: { parameter: name } });
}

/** What a service that checks parameters strictly answers in the place of X-Ignored-Parameters. */
export function unknownParameters(names: readonly string[]): ApiError {
  return new ApiError('unknown_parameter', {
    message: `This endpoint has no parameter ${names.join(', ')}. Leave it out, or check its spelling.`,
    details: { parameters: names },
  });
}
