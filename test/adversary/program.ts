import { parseArgs } from 'node:util';

/** Functions that the programs of these suites share. */

/** The default of an option without a value. */
export const NOT_GIVEN: string | undefined = undefined;

type Defaults = Readonly<Record<string, string | number | boolean | undefined>>;
type Widened<T> = {
  -readonly [K in keyof T]: T[K] extends number ? number : T[K] extends boolean ? boolean : T[K];
};

/**
 * Parses the options of this process by name, each of the type of its default, and its operands. Throws when they are
 * invalid.
 */
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

/** Formats rows of cells as lines, each column as wide as its longest cell. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
}
