import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A case of test/vectors/certificate: what a verifier is held against, and what it must say. */
export interface VerificationCase {
  readonly what: string;
  readonly response: unknown;
  /** The body of an answer in octets, in hex. */
  readonly octets?: string;
  readonly certificate: unknown;
  readonly keys: unknown;
  /** Requires the proof that the entropy was fixed before: `--require-fixed`. */
  readonly require_fixed?: true;
  /** The checks that fail, by the names that docs/certificates.md gives them; none for a true answer. */
  readonly fails: readonly string[];
}

/** The form in a file of a case that differs from another one in few members. */
interface ChangedCase {
  readonly what: string;
  /** The name of the other case. */
  readonly of: string;
  /** The replacing values by JSON Pointer (RFC 6901). */
  readonly changes?: Readonly<Record<string, unknown>>;
  readonly removed?: readonly string[];
  readonly fails: readonly string[];
}

const VECTORS = new URL('../vectors/certificate/', import.meta.url);

export function vectorNames(): string[] {
  return readdirSync(VECTORS)
    .filter((name) => name.endsWith('.json') && !name.startsWith('leaf-'))
    .map((name) => name.replace(/\.json$/, ''));
}

/** The file of a case. */
function storedVector(name: string): VerificationCase | ChangedCase {
  return JSON.parse(readFileSync(new URL(`${name}.json`, VECTORS), 'utf8'));
}

export function readVector(name: string): VerificationCase {
  const stored = storedVector(name);
  if (!('of' in stored)) return stored;
  const { of, changes = {}, removed = [], ...own } = stored;
  const whole = readVector(of) as unknown as Record<string, unknown>;
  for (const [pointer, to] of Object.entries(changes)) {
    const [place, last] = placeOf(whole, pointer);
    place[last] = to;
  }
  for (const pointer of removed) {
    const [place, last] = placeOf(whole, pointer);
    delete place[last];
  }
  return { ...(whole as unknown as VerificationCase), ...own };
}

/** The object or list that a pointer leads into, and the name of the member. No name here has a character to escape. */
function placeOf(value: Record<string, unknown>, pointer: string): [Record<string, unknown>, string] {
  const [, ...names] = pointer.split('/');
  const last = names.pop();
  assert.ok(last !== undefined, `${pointer} is a JSON Pointer`);
  return [names.reduce((at, name) => at[name] as Record<string, unknown>, value), last];
}

/** Writes each case as a file of its own that holds all of it, and gives the paths in the order of `vectorNames`. */
export function writeWholeVectors(folder: string): string[] {
  return vectorNames().map((name) => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, `${JSON.stringify(readVector(name), null, 2)}\n`);
    return path;
  });
}
