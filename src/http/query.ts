import { ApiError } from '../core/errors.ts';
import {
  type ParameterDefinition,
  percentDecoded,
  readParameters,
  readText,
  type ValuesOf,
} from './params.ts';

/** What a raw query says about the parameters of an endpoint. */
export interface ParsedQuery<Values> {
  readonly values: Values;
  /** Names that mean nothing here, for X-Ignored-Parameters. */
  readonly ignored: readonly string[];
}

/** The parameters that came, by proper name and still percent-encoded, and the names that mean nothing. */
export interface SplitQuery {
  readonly given: ReadonlyMap<string, string>;
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
  return { values: readParameters(definitions, given, readText), ignored };
}

/** The first half of parseQuery: finds what was given, in one pass. Throws duplicate_parameter. */
export function splitQuery(definitions: readonly ParameterDefinition[], rawQuery: string): SplitQuery {
  const given = new Map<string, string>();
  const aliased = new Map<string, { alias: string; raw: string }>();
  const ignored: string[] = [];
  for (let start = 0; start < rawQuery.length; ) {
    let end = rawQuery.indexOf('&', start);
    if (end < 0) end = rawQuery.length;
    const equals = rawQuery.indexOf('=', start);
    const nameEnd = equals < 0 || equals > end ? end : equals;
    const rawName = rawQuery.slice(start, nameEnd);
    const raw = nameEnd === end ? '' : rawQuery.slice(nameEnd + 1, end);
    start = end + 1;
    if (nameEnd === end && rawName === '') continue; // `&&`
    const name = percentDecoded(rawName) ?? rawName;
    const definition = definitions.find((each) => each.name === name || each.aliases?.includes(name));
    if (definition === undefined) ignore(ignored, rawName);
    else if (definition.name === name) {
      if (given.has(name)) throw duplicate(name);
      given.set(name, raw);
    } else {
      if (aliased.get(definition.name)?.alias === name) throw duplicate(name);
      if (!aliased.has(definition.name)) aliased.set(definition.name, { alias: name, raw });
    }
  }
  for (const [name, { alias, raw }] of aliased) {
    if (given.has(name)) ignore(ignored, alias);
    else given.set(name, raw);
  }
  return { given, ignored };
}

/**
 * Adds a name to those that are reported as ignored. What is reported stands in a header, so only characters
 * of a token that are no list separator stay (RFC 9110 §5.6.2); others are percent-encoded.
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
