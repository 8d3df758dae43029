import { isObject, listIn } from '../core/json.ts';
import type { Schema } from '../core/schema.ts';
import { show, timeOf } from './members.ts';
import { refuse } from './verdict.ts';

/**
 * Checks JSON that somebody else wrote against a schema. It knows only those keywords of JSON Schema that
 * core/schema.ts uses. Runs in browsers.
 */

/** Refuses the value for the first mistake found. The message begins with the place of the mistake. */
export function checkForm(schema: Schema, value: unknown, place: string): void {
  const types = [schema['type']].flat();
  if (schema['type'] !== undefined && !types.some((type) => isOfType(type, value)))
    refuse(`${place} is ${show(value)}, not ${types.map((type) => TYPE_NAMES[String(type)]).join(' or ')}.`);
  if (value === null) return;
  const { const: only, enum: words, pattern, format, minimum, maximum } = schema;
  if (only !== undefined && value !== only) refuse(`${place} is ${show(value)}, not ${show(only)}.`);
  if (Array.isArray(words) && !words.includes(value))
    refuse(`${place} is ${show(value)}, not one of ${words.map(show).join(', ')}.`);
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(String(value)))
    refuse(`${place} is ${show(value)}, which does not have the required form.`);
  if (format === 'date-time' && Number.isNaN(timeOf(value)))
    refuse(`${place} is ${show(value)}, not a time.`);
  if (typeof minimum === 'number' && !(Number(value) >= minimum))
    refuse(`${place} is ${show(value)}, below ${minimum}.`);
  if (typeof maximum === 'number' && !(Number(value) <= maximum))
    refuse(`${place} is ${show(value)}, above ${maximum}.`);
  if (Array.isArray(value)) checkItems(schema, value, place);
  else if (isObject(value)) checkMembers(schema, value, place);
}

function checkItems(schema: Schema, items: readonly unknown[], place: string): void {
  const { items: each, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (items.length > Number(maxItems)) refuse(`${place} has more than ${maxItems} entries.`);
  if (items.length < Number(minItems)) refuse(`${place} is an empty list.`);
  for (const [i, item] of items.entries()) if (isObject(each)) checkForm(each, item, `${place}[${i}]`);
}

function checkMembers(schema: Schema, value: object, place: string): void {
  const { properties, required, additionalProperties: others } = schema;
  const known = isObject(properties) ? properties : {};
  const path = (name: string) => (place === '' ? name : `${place}.${name}`);
  const missing = listIn(required).find((name) => !Object.hasOwn(value, String(name)));
  if (missing !== undefined) refuse(`${path(String(missing))} is missing.`);
  for (const [name, inner] of Object.entries(value)) {
    const own = Object.hasOwn(known, name) ? known[name] : others;
    if (own === false) refuse(`${path(name)} is an unknown member.`);
    if (isObject(own)) checkForm(own, inner, path(name));
  }
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
