import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { machine, revisionOf } from './machine.ts';
import type { BenchRun, Cell, Column, Report, Suite, Table } from './suite.ts';

/** The only output of the bench: tables go to stdout, talk to stderr, JSON to bench/out. */
const out = new URL('../out/', import.meta.url);

export function talk(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints the report's tables and writes NAME.json. */
export function publish(suite: Suite, run: BenchRun, report: Report, seconds: number): void {
  for (const table of report.tables) say(textOf(table));
  mkdirSync(out, { recursive: true });
  const path = fileURLToPath(new URL(`${suite.name}.json`, out));
  const content = {
    suite: suite.name,
    measures: suite.summary,
    writtenAt: new Date().toISOString(),
    machine: machine(),
    subjects: run.subjects.map(({ name, root }) => ({ name, revision: revisionOf(root) })),
    rounds: run.rounds,
    secondsPerRound: run.seconds,
    seconds: Math.round(seconds),
    tables: report.tables.map(plainTable),
  };
  writeFileSync(path, `${JSON.stringify(content, null, 1)}\n`);
}

/** Returns rows as objects with the columns' titles as keys. */
function plainTable({ title, note, columns, rows }: Table) {
  const plainRows = rows.map(({ label, cells }) => ({
    row: label,
    ...Object.fromEntries(columns.map((column, i) => [column.title, cells[i] ?? null])),
  }));
  return { title, note, rows: plainRows };
}

function textOf({ title, note, columns, rows }: Table): string {
  const head = ['', ...columns.map((column) => column.title)];
  const body = rows.map(({ label, cells }) => [
    label,
    ...columns.map((column, i) => cellText(cells[i], column)),
  ]);
  const widths = head.map((_, i) => Math.max(...[head, ...body].map((row) => row[i].length)));
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ');
  const rule = '-'.repeat(widths.reduce((sum, width) => sum + width + 2, -2));
  return ['', title, ...(note === '' ? [] : [note]), '', line(head), rule, ...body.map(line)].join('\n');
}

function cellText(cell: Cell, column: Column): string {
  if (cell === undefined) return '-';
  if (typeof cell === 'string') return cell;
  const middle = figure(cell.median);
  if (column.spread !== true || cell.rounds === 1) return middle;
  return `${middle} (${figure(cell.low)}..${figure(cell.high)})`;
}

/** Formats a figure with three significant digits, whole numbers in full. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US');
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(size >= 1 ? 2 : 3);
}
