import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** What the programs of these suites have in common. */

/** An option that has no value unless it is given. */
export const NOT_GIVEN: string | undefined = undefined;

type Defaults = Readonly<Record<string, string | number | boolean | undefined>>;
type Widened<T> = {
  -readonly [K in keyof T]: T[K] extends number ? number : T[K] extends boolean ? boolean : T[K];
};

/** The options of this process by name, each of the kind of its default, and its operands. Throws when they make no sense. */
export function readOptions<T extends Defaults>(defaults: T): Widened<T> & { readonly operands: string[] } {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      { type: typeof value === 'boolean' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const given = Object.entries(values).map(([name, value]) => {
    if (typeof defaults[name] !== 'number') return [name, value];
    if (!(Number(value) >= 0)) throw new Error(`--${name} is a number from 0 on: ${value}`);
    return [name, Number(value)];
  });
  return { ...defaults, ...Object.fromEntries(given), operands: positionals };
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Results as lines of JSON in a file, so that a run which was interrupted counts and the next one goes on from it. Without a path
 * they are kept in memory alone.
 */
export class ResultFile<T> {
  readonly all: T[];
  readonly #path: string | undefined;

  /** Throws when the file holds something else. A last line that was not written whole is left out. */
  constructor(path: string | undefined) {
    this.#path = path;
    const lines = path !== undefined && existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    this.all = lines.slice(0, -1).map((line) => JSON.parse(line) as T);
  }

  add(result: T): void {
    this.all.push(result);
    if (this.#path !== undefined) appendFileSync(this.#path, `${JSON.stringify(result)}\n`);
  }
}
