/**
 * Refuses JSON objects that have two members of the same name. JSON.parse keeps the last of them, but other readers and
 * people may take the first (RFC 8259 §4 leaves it open). A verifier could then accept values that its reader does not
 * see.
 */

/** A string, or the beginning or end of an object. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g;
const COLON = /[\t\n\r ]*:/y;

/** Returns the first member name that an object in the valid JSON `text` has twice, with its escapes resolved. */
export function repeatedMember(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else {
      COLON.lastIndex = index + token.length;
      if (!COLON.test(text)) continue; // a colon follows a name, never a value
      const name = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
      const names = open[open.length - 1];
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  return undefined;
}

/**
 * Parses JSON. `from` names the file or URL in errors. Throws unless it is JSON, and when an object has a member twice.
 */
export function parseStrictJson(bytes: Uint8Array, from: string, hint = ''): unknown {
  const text = new TextDecoder().decode(bytes); // drops a byte order mark, which editors on Windows write
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${from} is not JSON${hint}`, { cause: error });
  }
  const repeated = repeatedMember(text);
  if (repeated === undefined) return value;
  throw new Error(
    `${from} has two members ${JSON.stringify(repeated)} in one object: readers differ in which counts`,
  );
}
