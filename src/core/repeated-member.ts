/**
 * JSON.parse keeps the last of two members with one name, other readers and people the first (RFC 8259 §4 leaves it open). A
 * request is refused for it, and what is verified too: else a check could pass for values that its reader does not see.
 */

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

/** `from` is where the text stands. Throws for what is not JSON, and for two members of one name in an object. */
export function parseStrictJson(bytes: Uint8Array, from: string, hint = ''): unknown {
  const text = new TextDecoder().decode(bytes); // without the mark that editors on Windows begin a file with
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
