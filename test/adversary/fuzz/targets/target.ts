/** A reader of foreign data, which is tried with any bytes. */
export interface FuzzTarget {
  readonly name: string;
  /** Words that chance would take long to find, besides those of the initial inputs. */
  readonly words: readonly string[];
  /** Initial inputs besides those of test/adversary/fuzz/corpus. */
  readonly seeds?: () => readonly Uint8Array[];
  /** Reads the input and checks what must hold for any outcome. An error is a finding; the result names the kind of outcome. */
  readonly read: (input: Uint8Array) => string | Promise<string>;
}

/**
 * Returns the kind of outcome for an error of the class that the reader may throw; rethrows anything else, which is a
 * finding.
 */
export function refusalOf(
  error: unknown,
  kind: abstract new (...parts: never) => Error,
  label: (error: never) => string,
): string {
  if (error instanceof kind) return label(error as never);
  throw error;
}

export function textOf(input: Uint8Array): string {
  return Buffer.from(input.buffer, input.byteOffset, input.length).toString('utf8');
}

/** Undefined for what is no JSON. */
export function jsonOf(input: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(textOf(input)) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns a power of two as the kind of a count: 0, 1, 2, 4, … */
export function magnitude(count: number): number {
  return count === 0 ? 0 : 2 ** Math.floor(Math.log2(count));
}

/** Words that are hard for readers of JSON. */
export const JSON_WORDS: readonly string[] = [
  ...['null', 'true', '""', '[]', '{}', '[', ']', '{', '}', ',', '-1', '1e0', '1e400', '9007199254740993'],
  ...['__proto__', '{"toString":1}', '\\u0063'],
];
