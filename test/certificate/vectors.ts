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
  /** Asks for the proof that what was drawn was fixed before: `--require-fixed`. */
  readonly require_fixed?: true;
  /** The checks that fail, by the names that docs/certificates.md gives them; none for a true answer. */
  readonly fails: readonly string[];
}

/** How a file tells a case that differs from another one in few members. */
interface ChangedCase {
  readonly what: string;
  /** The name of the other case. */
  readonly of: string;
  /** What stands at each place instead, by its JSON Pointer (RFC 6901). */
  readonly changes?: Readonly<Record<string, unknown>>;
  readonly removed?: readonly string[];
  readonly fails: readonly string[];
}

export const VECTORS = new URL('../vectors/certificate/', import.meta.url);

export function vectorNames(): string[] {
  return readdirSync(VECTORS)
    .filter((name) => name.endsWith('.json') && !name.startsWith('leaf-'))
    .map((name) => name.replace(/\.json$/, ''));
}

/** The case that a file changes; undefined for one that holds all of its case. */
export function baseOf(name: string): string | undefined {
  const stored = storedVector(name);
  return 'of' in stored ? stored.of : undefined;
}

/** The file of a case; `what` and `fails` are written by hand before the rest of it is made. */
export function storedVector(name: string): VerificationCase | ChangedCase {
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

/**
 * The content of the file for a case: what differs from the one of the earlier cases that is nearest to it, or the whole
 * case where that is shorter.
 */
export function vectorFile(
  { what, fails, ...parts }: VerificationCase,
  earlier: ReadonlyMap<string, VerificationCase>,
): object {
  let shortest: object = { what, ...parts, fails };
  for (const [of, { what: _, fails: __, ...others }] of earlier) {
    const changes: Record<string, unknown> = {};
    const removed: string[] = [];
    collectDifferences(others, parts, '', changes, removed);
    const file = {
      what,
      of,
      ...(Object.keys(changes).length === 0 ? {} : { changes }),
      ...(removed.length === 0 ? {} : { removed }),
      fails,
    };
    if (JSON.stringify(file).length < JSON.stringify(shortest).length) shortest = file;
  }
  return shortest;
}

function collectDifferences(
  from: object,
  to: object,
  at: string,
  changes: Record<string, unknown>,
  removed: string[],
): void {
  const [before, after] = [from as Record<string, unknown>, to as Record<string, unknown>];
  for (const name of Object.keys(before)) if (!(name in after)) removed.push(`${at}/${name}`);
  for (const [name, value] of Object.entries(after)) {
    const [old, place] = [before[name], `${at}/${name}`];
    if (isAlike(old, value)) collectDifferences(old, value as object, place, changes, removed);
    else if (old !== value) changes[place] = value;
  }
}

/** Two objects, or two lists as long as each other. */
function isAlike(a: unknown, b: unknown): a is object {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return Array.isArray(a) ? Array.isArray(b) && a.length === b.length : !Array.isArray(b);
}
