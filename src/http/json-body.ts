import { ApiError, ERRORS } from '../core/errors.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { jsonErrorPlace } from '../core/json-syntax.ts';
import { repeatedMember } from '../core/repeated-member.ts';
import {
  duplicate,
  ignore,
  type ParameterDefinition,
  type ReadValues,
  readParameters,
  type ValuesOf,
} from './params.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body as one JSON object. Throws invalid_json for anything else, including bytes that are not UTF-8
 * (RFC 8259 §8.1; a byte order mark is skipped). Throws duplicate_parameter when an object names a member twice: RFC 8259
 * §4 leaves that open, and JSON.parse would silently keep the last one.
 */
export function parseJsonObject(body: Uint8Array): JsonObject {
  let text: string | undefined;
  let value: unknown;
  try {
    text = utf8.decode(body);
    value = JSON.parse(text);
  } catch {
    throw notJson(text);
  }
  if (!isObject(value)) throw new ApiError('invalid_json');
  const repeated = repeatedMember(text);
  if (repeated !== undefined) throw duplicate(repeated);
  return value;
}

function notJson(text: string | undefined): ApiError {
  const place = text === undefined ? undefined : jsonErrorPlace(text);
  if (place === undefined) return new ApiError('invalid_json');
  const { line, column } = place;
  const message = `${ERRORS.invalid_json.message} The JSON is malformed at line ${line}, column ${column}.`;
  return new ApiError('invalid_json', { message, details: { line, column } });
}

/** How messages name the members of an object, and which members are allowed beside the definitions. */
export interface MembersPlace {
  /** Precedes each name in messages, e.g. `params.`. */
  readonly prefix?: string;
  /** Members that the caller reads itself. */
  readonly alsoKnown?: readonly string[];
  /** Returns where an unknown member belongs if it is only misplaced, e.g. `in params`. */
  readonly placeOf?: (name: string) => string | undefined;
}

/**
 * Returns the members of an object that the definitions name. Unlike an unknown query parameter, an unknown member is refused:
 * whoever writes a body means each of its members, and a misspelt `max` would silently draw from another range.
 */
export function membersOf(
  object: JsonObject,
  definitions: readonly ParameterDefinition[],
  { prefix = '', alsoKnown = [], placeOf }: MembersPlace = {},
): Map<string, unknown> {
  const given = new Map<string, unknown>();
  const unknown: string[] = [];
  let place: string | undefined;
  for (const [name, value] of Object.entries(object)) {
    if (definitions.some((definition) => definition.name === name)) given.set(name, value);
    else if (!alsoKnown.includes(name)) {
      if (prefix + name === '') unknown.push('""');
      else ignore(unknown, prefix + name);
      const owner = placeOf?.(name);
      if (owner !== undefined) place ??= ` ${name} belongs ${owner}.`;
    }
  }
  if (unknown.length === 0) return given;
  const allowed = [...definitions.map(({ name }) => name), ...alsoKnown];
  const others = allowed.length === 0 ? 'It must be empty.' : `The members are: ${allowed.join(', ')}.`;
  throw new ApiError('unknown_parameter', {
    message: `The object has no member ${unknown.join(', ')}.${place ?? ''} ${others}`,
    details: { parameters: unknown, allowed },
  });
}

/** Reads the members of an object in the order of their definitions. Throws the ApiError of the first failure. */
export function readMembers<const D extends readonly ParameterDefinition[]>(
  object: JsonObject,
  definitions: D,
  place: MembersPlace = {},
  known: ReadValues = {},
): ValuesOf<D> {
  return readParameters(definitions, membersOf(object, definitions, place), place.prefix, known);
}
