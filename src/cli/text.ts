import { printable } from '../certificate/members.ts';

/** What a person reads of a result: text as it is, a record with a line for each member, or records as the rows of a table. */
export type Part = string | object | readonly object[];

/** The parts with an empty line between them; those without text are left out. */
export function textOf(parts: readonly Part[]): string {
  return parts
    .map(partText)
    .filter((text) => text !== '')
    .join('\n');
}

/** In lines of a terminal, which obeys control characters: what a service says may hold some. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The rows with the named members alone, in this order. */
export function columns<T extends object>(rows: readonly T[], ...names: (keyof T)[]): object[] {
  return rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
}

export function json(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function partText(part: Part): string {
  if (typeof part === 'string')
    return printableLines(part === '' || part.endsWith('\n') ? part : `${part}\n`);
  if (!Array.isArray(part)) return aligned(factsOf(part));
  if (part.length === 0) return '';
  const head = Object.keys(part[0]).map((name) => name.toUpperCase());
  return aligned([head, ...part.map((row: object) => Object.values(row).map(cellOf))]);
}

/** Names and values; nested ones as `outer.inner`. */
function factsOf(record: object, prefix = ''): string[][] {
  return Object.entries(record).flatMap(([name, value]) =>
    isNested(value) ? factsOf(value, `${prefix}${name}.`) : [[`${prefix}${name}`, cellOf(value)]],
  );
}

function isNested(value: unknown): value is object {
  if (Array.isArray(value)) return value.some(isNested);
  return typeof value === 'object' && value !== null;
}

/** A dash stands for nothing, and 2^53 - 1 is the figure of a limit that does not limit. */
function cellOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(cellOf).join(' ') || '-';
  return value === Number.MAX_SAFE_INTEGER ? 'unlimited' : String(value ?? '') || '-';
}

/** Lines of cells, each column as wide as its widest cell. */
function aligned(told: readonly (readonly string[])[]): string {
  const lines = told.map((line) => line.map(printable));
  const widths: number[] = [];
  for (const line of lines) {
    for (const [i, cell] of line.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  const texts = lines.map((line) => line.map((cell, i) => cell.padEnd(widths[i])).join('  '));
  return texts.map((text) => `${text.trimEnd()}\n`).join('');
}
