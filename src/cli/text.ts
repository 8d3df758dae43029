import { printable } from '../certificate/members.ts';

/** A part of a result for a person: a text, a record with a line for each member, or records as the rows of a table. */
export type Part = string | object | readonly object[];

/** Returns the parts with an empty line between them, without the empty ones. */
export function textOf(parts: readonly Part[]): string {
  return parts
    .map(partText)
    .filter((text) => text !== '')
    .join('\n');
}

/**
 * Returns the text without control characters, line breaks apart: text of a service may hold some, and a terminal obeys
 * them.
 */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Returns the rows with only the named members, in this order. */
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

/** Returns pairs of name and value; a nested member is named `outer.inner`. */
function factsOf(record: object, prefix = ''): string[][] {
  return Object.entries(record).flatMap(([name, value]) =>
    isNested(value) ? factsOf(value, `${prefix}${name}.`) : [[`${prefix}${name}`, cellOf(value)]],
  );
}

function isNested(value: unknown): value is object {
  if (Array.isArray(value)) return value.some(isNested);
  return typeof value === 'object' && value !== null;
}

/** Returns the text of a value: a dash for nothing, and `unlimited` for 2^53 - 1, which stands for no limit. */
function cellOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(cellOf).join(' ') || '-';
  return value === Number.MAX_SAFE_INTEGER ? 'unlimited' : String(value ?? '') || '-';
}

/** Returns lines of cells, in which each column is as wide as its widest cell. */
function aligned(told: readonly (readonly string[])[]): string {
  const lines = told.map((line) => line.map(printable));
  const widths: number[] = [];
  for (const line of lines) {
    for (const [i, cell] of line.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  const texts = lines.map((line) => line.map((cell, i) => cell.padEnd(widths[i])).join('  '));
  return texts.map((text) => `${text.trimEnd()}\n`).join('');
}
