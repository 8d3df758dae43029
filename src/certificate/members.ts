import canonicalize from 'canonicalize';
import { assert } from '../core/assert.ts';
import { isObject, listIn } from '../core/json.ts';

/** Reads JSON that somebody else wrote: whatever it holds, nothing here throws. Runs in browsers. */

export function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

/** The list that stands there; an empty one where none does. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  return listIn(member(value, ...path));
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The object that a text holds as JSON; undefined for anything else. */
export function parsedObject(json: unknown): Record<string, unknown> | undefined {
  try {
    const value: unknown = typeof json === 'string' ? JSON.parse(json) : undefined;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Lists and objects are not written out: one nested without end would overflow the stack. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** In one line of a terminal, which obeys control characters: those and the ones that turn the direction are escaped. */
export function printable(words: string): string {
  return words.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => {
    const code = each.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** Canonical JSON (RFC 8785); undefined for what is not JSON in Unicode and so has none. */
export function canonical(value: unknown): string | undefined {
  return isJson(value) ? canonicalize(value) : undefined;
}

/** RFC 8785, of what this service made itself. */
export function canonicalText(value: object): string {
  const text = canonicalize(value);
  assert(text !== undefined, 'an object has a canonical form');
  return text;
}

/** Walks without recursion: a response nested without end is a failed check, not a stack overflow. */
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

/** Milliseconds since 1970 of a time as the service prints it: ISO 8601 in UTC; NaN for anything else. */
export function timeOf(value: unknown): number {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
  const atMs = isTime ? Date.parse(value) : Number.NaN;
  // Date.parse takes 31 November for 1 December, and 24:00 for the next day
  return !Number.isNaN(atMs) && new Date(atMs).toISOString() === value ? atMs : Number.NaN;
}

export function timeText(atS: number): string {
  const at = new Date(atS * 1000);
  return Number.isNaN(at.getTime()) ? `${atS} s after 1970` : at.toISOString();
}
