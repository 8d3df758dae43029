import { isObject, listIn } from '../core/json.ts';
import type { Schema } from '../core/schema.ts';
import { show, timeOf } from './members.ts';

/**
 * Checks JSON that somebody else wrote against a schema of core/schema.ts: as much of JSON Schema as those use. Runs in
 * browsers.
 */

/** The first thing that is wrong, in words that begin with the place; undefined when nothing is. */
export function flawOf(schema: Schema, value: unknown, place: string): string | undefined {
  const types = [schema['type']].flat();
  if (schema['type'] !== undefined && !types.some((type) => isOfType(type, value)))
    return `${place} is ${show(value)}, not ${types.map((type) => TYPE_NAMES[String(type)]).join(' or ')}`;
  if (value === null) return undefined;
  const { const: only, enum: words, pattern, format, minimum, maximum } = schema;
  if (only !== undefined && value !== only) return `${place} is ${show(value)}, not ${show(only)}`;
  if (Array.isArray(words) && !words.includes(value))
    return `${place} is ${show(value)}, not one of ${words.map(show).join(', ')}`;
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(String(value)))
    return `${place} is ${show(value)}, which has another form`;
  if (format === 'date-time' && Number.isNaN(timeOf(value))) return `${place} is ${show(value)}, not a time`;
  if (typeof minimum === 'number' && !(Number(value) >= minimum))
    return `${place} is ${show(value)}, below ${minimum}`;
  if (typeof maximum === 'number' && !(Number(value) <= maximum))
    return `${place} is ${show(value)}, above ${maximum}`;
  if (Array.isArray(value)) return flawOfItems(schema, value, place);
  return isObject(value) ? flawOfMembers(schema, value, place) : undefined;
}

function flawOfItems(schema: Schema, items: readonly unknown[], place: string): string | undefined {
  const { items: each, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (items.length > Number(maxItems)) return `${place} has more than ${maxItems} entries`;
  if (items.length < Number(minItems)) return `${place} is an empty list`;
  for (const [i, item] of items.entries()) {
    const flaw = isObject(each) ? flawOf(each, item, `${place}[${i}]`) : undefined;
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function flawOfMembers(schema: Schema, value: object, place: string): string | undefined {
  const { properties, required, additionalProperties: others } = schema;
  const known = isObject(properties) ? properties : {};
  const path = (name: string) => (place === '' ? name : `${place}.${name}`);
  const missing = listIn(required).find((name) => !Object.hasOwn(value, String(name)));
  if (missing !== undefined) return `${path(String(missing))} is missing`;
  for (const [name, inner] of Object.entries(value)) {
    const own = Object.hasOwn(known, name) ? known[name] : others;
    if (own === false) return `${path(name)} has no place there`;
    const flaw = isObject(own) ? flawOf(own, inner, path(name)) : undefined;
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

function isOfType(type: unknown, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  return typeof value === type;
}
