import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchFolder } from '../../../support/scratch-folder.ts';

/** A reader of what others wrote, tried with any bytes. */
export interface FuzzTarget {
  readonly name: string;
  /** Pieces that chance would take long to find, beside those of the inputs to begin with. */
  readonly words: readonly string[];
  /** Inputs to begin with, beside those of test/adversary/fuzz/corpus. */
  readonly seeds?: () => readonly Uint8Array[];
  /**
   * Reads the input and checks what must hold of the outcome, whatever it is. What it throws is a finding; what it gives
   * back names the kind of outcome, and an input with a new one is worth keeping.
   */
  readonly read: (input: Uint8Array) => string | Promise<string>;
}

/** The kind of outcome that an error is, when it is of the class that the reader may throw; anything else is a finding. */
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

/** Powers of two, for kinds of outcomes: 0, 1, 2, 4, … */
export function magnitude(count: number): number {
  return count === 0 ? 0 : 2 ** Math.floor(Math.log2(count));
}

/** What readers of JSON stumble over. */
export const JSON_WORDS: readonly string[] = [
  ...['null', 'true', '""', '[]', '{}', '[', ']', '{', '}', ',', '-1', '1e0', '1e400', '9007199254740993'],
  ...['__proto__', '{"toString":1}', '\\u0063'],
];

let folder: string | undefined;

/** A file with this content, for a reader that takes nothing else; each name stands for one file, written anew. */
export function scratchFile(name: string, content: Uint8Array): string {
  folder ??= scratchFolder();
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
