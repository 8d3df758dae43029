import { ApiError } from '../core/errors.ts';
import { duplicate } from './query.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A request body as one JSON object. Throws invalid_json for anything else, for bytes that are not UTF-8
 * included (RFC 8259 §8.1; a byte order mark is skipped), and duplicate_parameter where an object names a
 * member twice: JSON.parse would keep the last one, and the service never does (RFC 8259 §4 leaves it open).
 */
export function parseJsonObject(body: Uint8Array): Readonly<Record<string, unknown>> {
  const text = decode(body);
  const value = parse(text);
  if (!isObject(value)) throw new ApiError('invalid_json');
  const repeated = repeatedMember(text);
  if (repeated !== undefined) throw duplicate(repeated);
  return value;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function decode(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch (error) {
    if (error instanceof TypeError) throw new ApiError('invalid_json');
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new ApiError('invalid_json');
    throw error;
  }
}

/** Of JSON text: a string, or an end of structure that matters to which names stand side by side. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g;
const COLON = /[\t\n\r ]*:/y;

/** The first member name that one object of the valid JSON `text` holds twice, escapes resolved. */
export function repeatedMember(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else {
      COLON.lastIndex = index + token.length;
      if (!COLON.test(text)) continue; // a value: only names are followed by a colon
      const name = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
      const names = open[open.length - 1];
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  return undefined;
}
