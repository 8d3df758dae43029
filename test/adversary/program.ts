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

/** Rows of cells as lines, each column as wide as its longest cell. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
}
