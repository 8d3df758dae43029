import { assert } from '../core/assert.ts';
import { ApiError, ERRORS, type ErrorCode } from '../core/errors.ts';
import { grouped } from '../core/figures.ts';
import type { Schema, TypeOf } from '../core/schema.ts';

/*
 * Parameters as data. The parser below, the OpenAPI document, the docs and the tests read the same definitions. Where
 * the specification is silent, these decisions hold: `-0` is 0 and leading zeros are allowed, because both match an
 * optional minus and digits; `+` in a query is a blank, because every form encoder writes a blank so; names and values are
 * percent-decoded, so `%63ount` is `count`; names are case-sensitive; a name without `=` has the empty value.
 */

export type ParameterValue =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly number[]
  | null
  | undefined;

/** The values that were read so far, by parameter name. */
export type ReadValues = Readonly<Record<string, ParameterValue>>;

/**
 * A parameter. A body gives its value as JSON, a query as text. In a query, a list of texts is split at its commas before the items
 * are decoded, so that %2C is a comma in an item. A list without a literal comma is split after decoding, because form
 * encoders (curl --data-urlencode, URLSearchParams, Python) encode the separators too.
 */
export interface ParameterDefinition {
  readonly name: string;
  /** The allowed values, for the parser, for error messages and for the OpenAPI document. */
  readonly schema: Schema<ParameterValue>;
  readonly required?: boolean;
  /** The value when the parameter is absent. null means that absence is a choice of its own, which the answer repeats as null. */
  readonly default?: ParameterValue;
  /** Returns the canonical spelling of a text, for words with several spellings. */
  readonly canonical?: (text: string) => string;
  /** Completes the error message `NAME must be …` for a text; without it the message is that of the error code. */
  readonly form?: string;
  /** The error for a malformed or missing value. */
  readonly error: ErrorCode;
  readonly description: string;
  /** Checks relations to earlier parameters, once this one is read. Throws an ApiError. */
  readonly check?: (values: ReadValues) => void;
}

type Named<Name, Value> = Pick<ParameterDefinition, 'description' | 'error'> & {
  readonly name: Name;
  readonly schema: Schema<Value>;
};

/** Returns a definition. Its error is `invalid_` and its name, or `invalid_boolean`, unless `more` names another one. */
export function parameter<
  const Name extends string,
  Value extends ParameterValue,
  const More extends Partial<ParameterDefinition> = object,
>(name: Name, schema: Schema<Value>, description: string, more?: More): Named<Name, Value> & More {
  const derived = schema['type'] === 'boolean' ? 'invalid_boolean' : `invalid_${name}`;
  const error = more?.error ?? (derived as ErrorCode);
  assert(Object.hasOwn(ERRORS, error), `${error} is a code of the table of errors`);
  return { name, schema, description, ...more, error } as Named<Name, Value> & More;
}

type AbsentValue<P> = P extends { default: infer Value }
  ? Value extends null
    ? null
    : never
  : P extends { required: true }
    ? never
    : undefined;

/** The values of a list of definitions, by name. */
export type ValuesOf<Definitions extends readonly ParameterDefinition[]> = {
  readonly [P in Definitions[number] as P['name']]: TypeOf<P['schema']> | AbsentValue<P>;
};

const NOT_VISIBLE_ASCII = /[^\x21-\x7e]/;

/**
 * Reads every parameter in the declared order. Throws the ApiError of the first failure. `given` holds the received values by
 * name, as JSON. `prefix` precedes names in messages, e.g. `params.`. Checks also see the values in `known`.
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

/** The keywords of a schema that parameters are read by. */
interface Form {
  readonly type: 'integer' | 'number' | 'boolean' | 'string' | 'array';
  /** Bounds of a number. */
  readonly minimum: number;
  readonly maximum: number;
  /** The allowed texts. */
  readonly enum?: readonly string[];
  /** The regular expression that a text must match. */
  readonly pattern?: string;
  /** The items of a list, and the bounds of its length. */
  readonly items: Schema;
  readonly minItems: number;
  readonly maxItems: number;
}

function formOf(schema: Schema): Form {
  return schema as unknown as Form;
}

/** Returns true when the values are lists of texts. */
export function isListOfTexts(schema: Schema): boolean {
  const { type, items } = formOf(schema);
  return type === 'array' && formOf(items).type === 'string';
}

/** Reads a parameter's value from JSON; undefined if it is not allowed. A JSON string is never taken for a number or a boolean. */
function readValue(definition: ParameterDefinition, json: unknown): ParameterValue {
  const { schema, canonical } = definition;
  if (json === null && definition.default === null) return null;
  return valueIn(schema, canonical !== undefined && typeof json === 'string' ? canonical(json) : json);
}

function valueIn(schema: Schema, json: unknown): ParameterValue {
  const { type, minimum, maximum, enum: words, pattern, items, minItems, maxItems } = formOf(schema);
  switch (type) {
    case 'integer':
    case 'number': {
      const isNumber = type === 'integer' ? Number.isSafeInteger(json) : typeof json === 'number';
      if (!isNumber || !isWithin(json as number, minimum, maximum)) return undefined;
      return json === 0 ? 0 : (json as number); // -0 is 0
    }
    case 'boolean':
      return typeof json === 'boolean' ? json : undefined;
    case 'string': {
      if (typeof json !== 'string') return undefined;
      // a JSON string may contain lone surrogates, which UTF-8 cannot represent
      const isAllowed =
        words?.includes(json) ?? (pattern === undefined ? json.isWellFormed() : matches(pattern, json));
      return isAllowed ? json : undefined;
    }
    case 'array': {
      if (!Array.isArray(json) || !isWithin(json.length, minItems, maxItems)) return undefined;
      const read = json.map((each) => valueIn(items, each));
      return read.includes(undefined) ? undefined : (read as string[] | number[]);
    }
  }
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}

const patterns = new Map<string, RegExp>();

function matches(pattern: string, text: string): boolean {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) patterns.set(pattern, (compiled = new RegExp(pattern, 'u')));
  return compiled.test(text);
}

/** Returns the error for a missing or malformed value. Its message says what to give, unless the text of the error code says so. */
function refusal(definition: ParameterDefinition, prefix: string): ApiError {
  const parameter = prefix + definition.name;
  const [details, form] = toldOf(definition);
  return new ApiError(definition.error, {
    ...(form && { message: `${parameter} must be ${form}.` }),
    details: { parameter, ...details },
  });
}

function toldOf({ schema, form, error }: ParameterDefinition): [details: object, form?: string | undefined] {
  const { type, minimum: min, maximum: max, enum: words, items, minItems, maxItems } = formOf(schema);
  switch (type) {
    case 'integer':
      // the text of the error code explains how the two bounds of a range are related
      if (error === 'invalid_range') return [{ min, max }];
      return [{ min, max }, `an integer from ${grouped(min)} to ${grouped(max)}`];
    case 'number': {
      const [from, to] = [min, max].map((each) => each.toLocaleString('en-US', { maximumFractionDigits: 9 }));
      return [{ min, max }, `a number from ${from} to ${to}`];
    }
    case 'boolean':
      return [{}, 'true, false, 1 or 0'];
    case 'string':
      if (words === undefined) return [{}, form];
      return [{ allowed: words }, `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`];
    case 'array': {
      const counted = `${grouped(minItems)} to ${grouped(maxItems)}`;
      if (isListOfTexts(schema)) return [{}, `${counted} ${ITEMS_FORM}`];
      const { minimum, maximum } = formOf(items);
      return [
        { min: minimum, max: maximum, length_min: minItems, length_max: maxItems },
        `a list of ${counted} integers from ${grouped(minimum)} to ${grouped(maximum)}`,
      ];
    }
  }
}

const ITEMS_FORM = 'strings: a list in a JSON body, or a percent-encoded list with commas in a query';

/** Converts a percent-encoded value of a query into the JSON that a body would have; undefined when it is malformed. */
function jsonOf(schema: Schema, raw: string): unknown {
  if (isListOfTexts(schema) && raw.includes(',')) {
    const items = raw.split(',').map(percentDecoded);
    return items.includes(undefined) ? undefined : items;
  }
  const text = percentDecoded(raw);
  return text === undefined ? undefined : jsonOfText(schema, text);
}

function jsonOfText(schema: Schema, text: string): unknown {
  const { type, items } = formOf(schema);
  switch (type) {
    case 'integer':
      return /^-?[0-9]+$/.test(text) ? Number(text) : undefined;
    case 'number':
      return /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return BOOLEANS.get(text);
    case 'string':
      return text;
    case 'array':
      return text.split(',').map((each) => jsonOfText(items, each));
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/**
 * Decodes a name or value of a query. Returns undefined for a malformed escape, for escapes that are not UTF-8, and
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

/** The parameters of a query. */
export interface SplitQuery {
  /** The values by name, as JSON; undefined for a malformed value. */
  readonly given: ReadonlyMap<string, unknown>;
  /** The names of unknown parameters, encoded for X-Ignored-Parameters. */
  readonly ignored: readonly string[];
}

/** Bounds on the names in X-Ignored-Parameters and on their length, because a query may have 64 KiB. */
const IGNORED_NAMES_MAX = 16;
const IGNORED_NAME_LENGTH_MAX = 64;

/**
 * Returns the values of a raw query (without `?`). Throws the ApiError of the first failure: first for a repeated parameter,
 * then for each parameter in the declared order, then, if `isStrict`, for unknown names.
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

/** Splits a query into its parameters, in one pass. Throws duplicate_parameter. */
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
    else given.set(name, jsonOf(definition.schema, raw));
  }
  const ignored: string[] = [];
  for (const name of unknown) ignore(ignored, name);
  return { given, ignored };
}

/**
 * Adds a name to the ignored ones. The names are sent in a header field, so only token characters that do not separate
 * lists are kept (RFC 9110 §5.6.2); all others are percent-encoded.
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

/** Returns a check for two parameters that are alternatives: it refuses a request that gives both. */
export function notBoth(name: string, other: string, error: ErrorCode): (values: ReadValues) => void {
  return (values) => {
    if (values[name] !== undefined && values[other] !== undefined)
      throw new ApiError(error, { message: `${name} and ${other} must not both be given.` });
  };
}

export function duplicate(name: string): ApiError {
  return new ApiError('duplicate_parameter', {
    message: `${name} must not occur more than once.`,
    details: { parameter: name },
  });
}

/** Returns the error for unknown parameters, for a service that refuses them instead of ignoring them. */
export function unknownParameters(names: readonly string[]): ApiError {
  return new ApiError('unknown_parameter', {
    message: `This endpoint has no parameter ${names.join(', ')}. Omit it or correct its spelling.`,
    details: { parameters: names },
  });
}
