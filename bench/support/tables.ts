import { type Summary, scaled } from '../../test/support/statistics.ts';
import { comparison } from './revisions.ts';
import { alternate, type Contender, type Rounds } from './rounds.ts';
import type { BenchRun, Column, Row, Table } from './suite.ts';
import { task } from './timing.ts';

/** A column of a table, and what it shows for a contender. */
export interface Measure extends Column {
  readonly cell: (rounds: Rounds, name: string) => Summary | undefined;
}

interface MeasureOptions {
  readonly spread?: boolean;
  /** The contender that the column shows in every row instead of the row's own. */
  readonly name?: string;
  /** The factor that converts the quantity to the unit of the column. */
  readonly factor?: number;
}

/** Returns a column with a quantity of the row's contender. */
export function of(
  title: string,
  quantity: string,
  { spread = false, name: fixed, factor = 1 }: MeasureOptions = {},
): Measure {
  return { title, spread, cell: (rounds, name) => scaled(rounds.of(fixed ?? name, quantity), factor) };
}

/** Returns a column with a quantity of the row's contender divided by the baseline's, round by round. */
export function ratio(title: string, quantity: string, baseline: string): Measure {
  return { title, spread: true, cell: (rounds, name) => rounds.ratio(name, baseline, quantity) };
}

export function rowOf(measures: readonly Measure[], rounds: Rounds, name: string, label = name): Row {
  return { label, cells: measures.map(({ cell }) => cell(rounds, name)) };
}

/** Returns a row for each contender. */
export function rowsOf(measures: readonly Measure[], rounds: Rounds): Row[] {
  return rounds.names.map((name) => rowOf(measures, rounds, name));
}

const NS_IN = { ns: 1, µs: 1e-3, ms: 1e-6 } as const;
const CALL_TIME_MS = 100;

/** Work in this process. `per` is how many items one call makes: the table then shows the time of one item. */
export type Call = (() => unknown) | { readonly make: () => unknown; readonly per: number };

/** Times calls in this process in turn with each other and returns the table. */
export async function callTable(
  run: BenchRun,
  heading: Pick<Table, 'title' | 'note'>,
  unit: keyof typeof NS_IN,
  calls: Readonly<Record<string, Call>>,
): Promise<Table> {
  const contenders = Object.entries(calls).map(([name, call]): Contender => {
    const { make, per } = typeof call === 'function' ? { make: call, per: 1 } : call;
    const { measure } = task(make);
    return { name, measure: async () => ({ ns: (await measure(CALL_TIME_MS * run.seconds)) / per }) };
  });
  const columns = [of(unit, 'ns', { spread: true, factor: NS_IN[unit] }), ...comparison(run, 'time', 'ns')];
  return { ...heading, columns, rows: rowsOf(columns, await alternate(contenders, run.rounds)) };
}
