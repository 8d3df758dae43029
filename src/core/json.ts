/** Reads parsed JSON that somebody else wrote: what is absent or of another type is never an error here. */

/** A JSON object whose members have yet to be looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value when it is a JSON object; else an empty one, in which nothing is found. */
export function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, or null for anything else and for an empty one. */
export function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The finite number, or null. */
export function numberIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A date-time (RFC 3339) in Unix milliseconds, or null. */
export function instantIn(value: unknown): number | null {
  return typeof value === 'string' ? numberIn(Date.parse(value)) : null;
}
