import { unreachable } from '../core/assert.ts';
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
  /** Other spellings, in lower case when letter case does not matter, and what they mean. */
  readonly synonyms?: Readonly<Record<string, string>>;
  readonly caseInsensitive?: boolean;
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

const INTEGER = /^-?[0-9]+$/;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
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

/** The text of a query, still percent-encoded, as the JSON that a body would have; undefined when it is malformed. */
function jsonOf({ kind }: ParameterDefinition, raw: string): unknown {
  if (kind === 'items' && raw.includes(',')) {
    const items = raw.split(',').map(percentDecoded);
    return items.includes(undefined) ? undefined : items;
  }
  const text = percentDecoded(raw);
  if (text === undefined) return undefined;
  switch (kind) {
    case 'integer':
      return INTEGER.test(text) ? Number(text) : undefined;
    case 'number':
      return NUMBER.test(text) ? Number(text) : undefined;
    case 'integer-list':
      return text.split(',').map((part) => (INTEGER.test(part) ? Number(part) : undefined));
    case 'boolean':
      return BOOLEANS.get(text);
    case 'items':
      return text.split(',');
    case 'choice':
    case 'text':
      return text;
    default:
      return unreachable(kind);
  }
}

/**
 * A parameter's value from JSON: numbers, booleans and strings, none standing in for another. Undefined when it is none of its
 * values.
 */
export function readValue(definition: ParameterDefinition, value: unknown): ParameterValue {
  switch (definition.kind) {
    case 'integer':
      if (value === null && definition.default === null) return null;
      return wholeWithin(definition, value);
    case 'number':
      return typeof value === 'number' ? within(definition, value) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'choice':
      return typeof value === 'string' ? readChoice(definition, value) : undefined;
    case 'text':
      return typeof value === 'string' && definition.pattern.test(value) ? value : undefined;
    case 'items': {
      const { min, max } = definition;
      return isListOfTexts(value) && isWithin(value.length, min, max) ? value : undefined;
    }
    case 'integer-list':
      return Array.isArray(value) ? readIntegers(definition, value) : undefined;
    default:
      return unreachable(definition);
  }
}

function readIntegers(
  definition: IntegerListParameter,
  values: readonly unknown[],
): readonly number[] | undefined {
  if (!isWithin(values.length, definition.lengthMin, definition.lengthMax)) return undefined;
  const read = values.map((value) => wholeWithin(definition, value));
  return read.every((number) => number !== undefined) ? read : undefined;
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
  if (value < min || value > max) return undefined;
  return value === 0 ? 0 : value; // -0 is 0
}

function readChoice(definition: ChoiceParameter, text: string): string | undefined {
  const spelt = definition.caseInsensitive === true ? text.toLowerCase() : text;
  if (definition.values.includes(spelt)) return spelt;
  const { synonyms } = definition;
  return synonyms !== undefined && Object.hasOwn(synonyms, spelt) ? synonyms[spelt] : undefined;
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

const ITEMS_FORM =
  'texts, as a list in a JSON body, or with commas between them and percent-encoded in a query';

/** What a missing or malformed value answers. */
function refusal(definition: ParameterDefinition, prefix: string): ApiError {
  const parameter = prefix + definition.name;
  const { error } = definition;
  const refused = (details: object, form?: string) =>
    new ApiError(error, {
      ...(form && { message: `Give ${parameter} as ${form}.` }),
      details: { parameter, ...details },
    });
  switch (definition.kind) {
    case 'integer': {
      const { min, max } = definition;
      // a bound of a range is explained by the table's text, which tells how the two are related
      const isOfRange = error === 'invalid_range';
      return refused(
        { min, max },
        isOfRange ? undefined : `a whole number from ${grouped(min)} to ${grouped(max)}`,
      );
    }
    case 'boolean':
      return refused({}, 'true, false, 1 or 0');
    case 'choice': {
      const { values } = definition;
      return refused({ allowed: values }, `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`);
    }
    case 'integer-list': {
      const { min, max, lengthMin, lengthMax } = definition;
      const form = `${grouped(lengthMin)} to ${grouped(lengthMax)} whole numbers from ${grouped(min)} to ${grouped(max)}`;
      return refused({ min, max, length_min: lengthMin, length_max: lengthMax }, form);
    }
    case 'number': {
      const { min, max } = definition;
      const [from, to] = [min, max].map((each) => each.toLocaleString('en-US', { maximumFractionDigits: 9 }));
      return refused({ min, max }, `a number from ${from} to ${to}`);
    }
    case 'items': {
      const { min, max } = definition;
      return refused({}, `${grouped(min)} to ${grouped(max)} ${ITEMS_FORM}`);
    }
    case 'text':
      return refused({}, definition.form);
    default:
      return unreachable(definition);
  }
}

/** What a raw query says about the parameters of an endpoint. */
export interface ParsedQuery<Values> {
  readonly values: Values;
  /** Names that mean nothing here, for X-Ignored-Parameters. */
  readonly ignored: readonly string[];
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
 * Parses a raw query (without `?`). Throws the ApiError of the first failure: a repeated parameter before
 * all, then each parameter in the declared order. Depends on nothing but its arguments, so answers may be
 * kept by raw query.
 */
export function parseQuery<const Definitions extends readonly ParameterDefinition[]>(
  definitions: Definitions,
  rawQuery: string,
): ParsedQuery<ValuesOf<Definitions>> {
  const { given, ignored } = splitQuery(definitions, rawQuery);
  return { values: readParameters(definitions, given), ignored };
}

/** The first half of parseQuery: finds what was given, in one pass. Throws duplicate_parameter. */
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
