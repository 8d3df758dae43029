/**
 * Finds the place where a text stops being JSON (RFC 8259). The messages of JSON.parse name a place for some mistakes
 * only, and quote the text, which may hold a secret.
 */

const STRING = String.raw`"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"`;
const SPACE = /[\t\n\r ]*/y;
const SCALAR = new RegExp(
  String.raw`${STRING}|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null`,
  'y',
);
const NAME = new RegExp(String.raw`${STRING}[\t\n\r ]*:`, 'y');

export interface TextPlace {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

/**
 * Returns the place of the first token that JSON does not allow there, or the end of an incomplete text; undefined for
 * JSON.
 */
export function jsonErrorPlace(text: string): TextPlace | undefined {
  let at = 0;
  const skip = (token: RegExp): boolean => {
    token.lastIndex = at;
    const found = token.test(text);
    if (found) at = token.lastIndex;
    return found;
  };
  const take = (character: string): boolean => {
    if (text[at] !== character) return false;
    at++;
    return true;
  };
  /** The closing characters of the arrays and objects that are open. */
  const open: ('}' | ']')[] = [];
  for (;;) {
    skip(SPACE);
    const opened = take('{') ? '}' : take('[') ? ']' : undefined;
    if (opened !== undefined) {
      open.push(opened);
      skip(SPACE);
      if (!take(opened)) {
        if (opened === '}' && !skip(NAME)) return placeOf(text, at);
        continue;
      }
      open.pop();
    } else if (!skip(SCALAR)) return placeOf(text, at);
    for (skip(SPACE); open.length > 0 && take(open[open.length - 1]); skip(SPACE)) open.pop();
    if (open.length === 0) return at === text.length ? undefined : placeOf(text, at);
    if (!take(',')) return placeOf(text, at);
    skip(SPACE);
    if (open[open.length - 1] === '}' && !skip(NAME)) return placeOf(text, at);
  }
}

function placeOf(text: string, at: number): TextPlace {
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: before.length, column: before[before.length - 1].length + 1 };
}
