import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';

/** The one JSON object that the file holds. `variable` named the file, for the error. */
export function readJsonObject(variable: string, path: string): Readonly<Record<string, unknown>> {
  const parsed = parseFile(variable, path);
  if (!isObject(parsed)) throw new ConfigError(`${path} does not hold one JSON object`);
  return parsed;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseFile(variable: string, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${variable}: ${path} cannot be read as JSON: ${why}`);
  }
}

/** A value of a file as the text that a variable would have: strings, numbers, booleans, and lists of strings. */
export function settingText(value: unknown, where: string, [yes, no] = ['on', 'off']): string {
  if (typeof value === 'boolean') return value ? yes : no;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(',');
  throw new ConfigError(`${where} is not a string, a number, true, false or a list of strings`);
}
