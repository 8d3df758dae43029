import canonicalize from 'canonicalize';
import { assert } from '../core/assert.ts';
import { isObject, listIn } from '../core/json.ts';

/** Reads JSON that somebody else wrote. Functions that take `unknown` never throw. Runs in browsers. */

export function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

/** Returns the list at the path; an empty one if there is no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  return listIn(member(value, ...path));
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the object that a text holds as JSON; undefined for anything else. */
export function parsedObject(json: unknown): Record<string, unknown> | undefined {
  try {
    const value: unknown = typeof json === 'string' ? JSON.parse(json) : undefined;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a value for a message. Writes out no list and no object: deep nesting would overflow the stack. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** Returns the words for one line of a terminal, with control characters and marks of direction escaped. */
export function printable(words: string): string {
  return words.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => {
    const code = each.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** Returns the canonical JSON (RFC 8785) of a value; undefined if the value is not JSON in well-formed Unicode. */
export function canonical(value: unknown): string | undefined {
  return isJson(value) ? canonicalize(value) : undefined;
}

/** Returns the canonical JSON (RFC 8785) of an object that this service made. */
export function canonicalText(value: object): string {
  const text = canonicalize(value);
  assert(text !== undefined, 'an object has a canonical form');
  return text;
}

/** Returns whether a value is JSON. It does not recurse: deep nesting would overflow the stack. */
function isJson(value: unknown): boolean {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') {
      if (!next.isWellFormed()) return false;
    } else if (typeof next === 'number') {
      if (!Number.isFinite(next)) return false;
    } else if (Array.isArray(next)) {
      for (const inner of next) left.push(inner);
    } else if (isObject(next)) {
      for (const [name, inner] of Object.entries(next)) left.push(name, inner);
    } else if (next !== null && typeof next !== 'boolean') return false;
  }
  return true;
}

/** Returns the Unix ms of a time as the service prints it, ISO 8601 in UTC with milliseconds; NaN for anything else. */
export function timeOf(value: unknown): number {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
  const atMs = isTime ? Date.parse(value) : Number.NaN;
  // Date.parse accepts 31 November as 1 December, and 24:00 as the next day.
  return !Number.isNaN(atMs) && new Date(atMs).toISOString() === value ? atMs : Number.NaN;
}

export function timeText(atS: number): string {
  const at = new Date(atS * 1000);
  return Number.isNaN(at.getTime()) ? `${atS} s after 1970` : at.toISOString();
}
